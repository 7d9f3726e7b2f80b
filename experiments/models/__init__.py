"""Models of what researchers plan: materials, studies, designs, lists, teams and jobs."""

from experiments.models.api_token import ApiToken
from experiments.models.cache_entry import CacheEntry
from experiments.models.campaign import Campaign, Mode, PlatformAccount
from experiments.models.design import Design, PlannedTrial, PresentationList, TrialKind
from experiments.models.experiment import Experiment, ExperimentVersion
from experiments.models.generation.lexicon import WordList, WordListVersion
from experiments.models.generation.pair_set import GeneratedPair, PairEdit, PairSet
from experiments.models.generation.paradigm import OwnParadigm, ParadigmVersion
from experiments.models.invitation import Invitation
from experiments.models.job import Heartbeat, Job
from experiments.models.lab import Lab, LabMembership
from experiments.models.login_session import LoginSession
from experiments.models.material import Item, MaterialSet, MinimalPair, Paradigm, Phenomenon, Sentence
from experiments.models.review_link import ReviewLink
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
    "ReviewLink",
    "Sentence",
    "TrialKind",
    "Upload",
    "WordList",
    "WordListVersion",
    "Webhook",
    "WebhookDelivery",
]
