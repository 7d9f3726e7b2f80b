"""The archive: studies that are done with leave the list, accept no participants, and lose nothing."""

from collections.abc import Iterator

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.utils import timezone

from analysis.errors import BadInput
from analysis.text import plural
from experiments.models import AuditEntry, Campaign, Experiment
from experiments.teams.roles import may_edit
from judgments.models import Session
from judgments.monitoring.overview import is_live
from judgments.recruitment.campaigns import open_matters
from judgments.recruitment.payments import undecided_sessions


class Unconfirmed(BadInput):
    """The study can be archived, but something in it may have been forgotten."""


def obstacles(study: Experiment) -> Iterator[str]:
    """Reasons that keep a study out of the archive, as sentences."""
    if study.is_taking_participants:
        yield f"It is {study.get_status_display()}: pause or close it first."
    live = Session.objects.filter(is_live(timezone.now()), experiment=study, version__is_preview=False)
    if n := live.count():
        yield (
            f"{plural(n, 'participant')} in session: wait until they finish, or until their places are "
            f"released after {plural(study.lease_minutes, 'minute')} without an answer."
        )
    # Channels without an account of a platform end with the study.
    campaigns = Campaign.objects.filter(experiment=study, account__isnull=False)
    for campaign in campaigns.exclude(state__in=[Campaign.State.DRAFT, Campaign.State.CLOSED]):
        if matters := open_matters(campaign):
            yield f"Campaign {campaign.name}: {' '.join(matters)}"


def cautions(study: Experiment) -> Iterator[str]:
    """Return reminders before archiving, as sentences; they do not prevent it."""
    if study.reward_minor and (n := undecided_sessions(study).count()):
        yield f"{plural(n, 'complete session')} without a decision on pay."


@transaction.atomic
def archive(study: Experiment, *, by: User, is_confirmed: bool = False) -> Experiment:
    """Move a study into the archive; no effect when repeated."""
    _require_editor(study, by)
    # Race: a study that is opened at the same time is either open here, or archived there.
    locked = Experiment.objects.select_for_update().get(pk=study.pk)
    if locked.archived_at is None:
        if reasons := list(obstacles(locked)):
            raise BadInput("the study cannot be archived yet.", remedy=" ".join(reasons))
        if not is_confirmed and (reasons := list(cautions(locked))):
            raise Unconfirmed(" ".join(reasons), remedy="Decide first, or confirm that it goes all the same.")
        _set(locked, is_archived=True, by=by)
    return locked


@transaction.atomic
def unarchive(study: Experiment, *, by: User) -> Experiment:
    """Take a study back from the archive, in the state that it had; no effect when repeated."""
    _require_editor(study, by)
    locked = Experiment.objects.select_for_update().get(pk=study.pk)
    if locked.archived_at is not None:
        _set(locked, is_archived=False, by=by)
    return locked


def _set(locked: Experiment, *, is_archived: bool, by: User) -> None:
    locked.archived_at = timezone.now() if is_archived else None
    locked.save(update_fields=["archived_at"])
    action = "archived" if is_archived else "taken back from the archive"
    AuditEntry.objects.create(experiment=locked, user=by, action=action, details={"state": locked.status})


def _require_editor(study: Experiment, by: User) -> None:
    if not may_edit(by, study):
        raise PermissionDenied("Viewers of a study cannot change it.")
