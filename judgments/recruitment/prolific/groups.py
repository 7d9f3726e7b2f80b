"""Prolific's participant group of a study: who saw its materials is not admitted to another campaign.

Completion codes fill the group by themselves. Who returned the place, ran out of time or submitted without a
code saw materials as well and is added here.
"""

from collections import defaultdict
from datetime import timedelta

import structlog
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from experiments.models import Campaign
from judgments.models import PlatformIdentity, Session, Submission, Trial
from judgments.recruitment.credentials import is_simulated
from judgments.recruitment.prolific.recruiter import ProlificRecruiter
from judgments.recruitment.recruiter import PlatformError

log = structlog.get_logger(__name__)

PROLIFIC = "prolific"
GROUP = "participant_group"  # key of the vault: the group to which the person was added
MOST_ADDED = 500  # participants in one request
SETTLED = timedelta(days=1)  # after which a closed campaign adds no participants
#: A person who is still taking part is added afterwards, so that nothing changes in the midst of a session.
IN_PROGRESS = [Submission.Status.ACTIVE, Submission.Status.UNKNOWN]


def add_missing_members() -> int:
    """Add everybody who saw materials and has left, and was not added yet; returns how many were added."""
    campaigns = Campaign.objects.filter(recruiter=PROLIFIC, account__isnull=False).exclude(external_id="")
    missing = _missing_people()
    n_added = 0
    for campaign in campaigns.select_related("account", "experiment").filter(pk__in=list(missing)):
        if is_simulated(campaign.account):
            continue
        people = missing[campaign.pk]
        for start in range(0, len(people), MOST_ADDED):
            batch = people[start : start + MOST_ADDED]
            try:
                group = ProlificRecruiter(campaign.account).add_to_group(
                    campaign, [identity.external_id for identity in batch]
                )
            except PlatformError as error:  # tried again at the next run
                log.warning("not added to the group", campaign=campaign.pk, code=error.code)
                break
            for identity in batch:
                identity.parameters[GROUP] = group
            PlatformIdentity.objects.bulk_update(batch, ["parameters"])
            n_added += len(batch)
    return n_added


def _missing_people() -> dict[int, list[PlatformIdentity]]:
    """Confirmed identities by campaign of participants who saw materials and are in no group."""
    shown = Trial.objects.filter(session=OuterRef("pk")).filter(
        Q(shown_at__isnull=False) | Q(judgment__isnull=False)
    )
    sessions = (
        Session.objects.filter(
            Exists(shown),
            campaign__recruiter=PROLIFIC,
            submission__isnull=False,
            participant__identity__is_verified=True,  # an id that only a link claims is of anybody
            participant__is_simulated=False,
        )
        .exclude(submission__status__in=IN_PROGRESS)
        .exclude(participant__identity__external_digest="")
        .exclude(campaign__state=Campaign.State.CLOSED, campaign__reconciled_at__lt=timezone.now() - SETTLED)
    )
    missing: dict[int, list[PlatformIdentity]] = defaultdict(list)
    for session in sessions.select_related("participant__identity").order_by("pk"):
        identity = session.participant.identity
        if session.campaign_id is not None and GROUP not in identity.parameters:  # encrypted: not in SQL
            missing[session.campaign_id].append(identity)
    return missing
