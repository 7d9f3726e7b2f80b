"""Models of what researchers plan: materials, studies, designs, lists, teams and jobs."""

from experiments.models.access import ApiToken, Invitation, LoginSession, ReviewLink
from experiments.models.cache_entry import CacheEntry
from experiments.models.campaign import Campaign, Mode, PlatformAccount
from experiments.models.design import Design, PlannedTrial, PresentationList, TrialKind
from experiments.models.experiment import Experiment, ExperimentVersion
from experiments.models.generation import (
    GeneratedPair,
    OwnParadigm,
    PairEdit,
    PairSet,
    ParadigmVersion,
    WordList,
    WordListVersion,
)
from experiments.models.job import Heartbeat, Job
from experiments.models.lab import Lab, LabMembership
from experiments.models.material import Item, MaterialSet, MinimalPair, Paradigm, Phenomenon, Sentence
from experiments.models.request_key import RequestKey
from experiments.models.team import AuditEntry, Membership, Preferences
from experiments.models.upload import Upload
from experiments.models.webhook import Webhook, WebhookDelivery

__all__ = [
    "ApiToken",
    "AuditEntry",
    "CacheEntry",
    "Campaign",
    "Design",
    "Experiment",
    "ExperimentVersion",
    "GeneratedPair",
    "Heartbeat",
    "Invitation",
    "Item",
    "Job",
    "Lab",
    "LabMembership",
    "LoginSession",
    "MaterialSet",
    "Membership",
    "MinimalPair",
    "Mode",
    "OwnParadigm",
    "PairEdit",
    "PairSet",
    "Paradigm",
    "ParadigmVersion",
    "Phenomenon",
    "PlannedTrial",
    "PlatformAccount",
    "Preferences",
    "PresentationList",
    "RequestKey",
    "ReviewLink",
    "Sentence",
    "TrialKind",
    "Upload",
    "WordList",
    "WordListVersion",
    "Webhook",
    "WebhookDelivery",
]
