"""People join and leave a study; it always keeps an owner."""

from django.contrib.auth import get_user_model
from django.core.exceptions import PermissionDenied
from django.db import transaction

from analysis.errors import BadInput
from experiments.models import AuditEntry, Experiment, Membership

OWNER = Membership.Role.OWNER


class OnlyOwners(PermissionDenied):
    """An editor asked for what owners alone may do."""


@transaction.atomic
def add_member(study: Experiment, username: str, *, role: str, by) -> Membership:
    """Give somebody a role in the study, or another role; only owners may."""
    members = _locked(study)
    _only_owners(study, by)
    user = get_user_model().objects.filter(username=username, is_active=True).first()
    if user is None:
        raise BadInput(
            f"nobody here is called {username!r}.", remedy="Ask an administrator to make an account for them."
        )
    member = members.filter(user=user).first()
    if member and member.role == OWNER and role != OWNER:
        _keep_an_owner(members)
    member, _ = Membership.objects.update_or_create(experiment=study, user=user, defaults={"role": role})
    _note(study, by, "member added", user=user.get_username(), role=role)
    return member


@transaction.atomic
def remove_member(study: Experiment, member: Membership, *, by) -> None:
    """Take somebody out: owners anybody, everybody themselves."""
    members = _locked(study)
    if member.user_id != by.pk:
        _only_owners(study, by)
    if member.role == OWNER:
        _keep_an_owner(members)
    members.filter(pk=member.pk).delete()
    _note(study, by, "member removed", user=member.user.get_username())


def is_last_owner(member: Membership) -> bool:
    """Whether the study would have no owner without this one."""
    owners = Membership.objects.filter(experiment=member.experiment_id, role=OWNER)
    return member.role == OWNER and owners.count() <= 1


def _locked(study: Experiment):
    """The members, while nobody else changes them: two owners cannot leave at once."""
    Experiment.objects.select_for_update().get(pk=study.pk)
    return Membership.objects.filter(experiment=study)


def _only_owners(study: Experiment, by) -> None:
    if not by.is_staff and not study.memberships.filter(user=by, role=OWNER).exists():
        raise OnlyOwners("Only an owner changes the team.")


def _keep_an_owner(members) -> None:
    if members.filter(role=OWNER).count() <= 1:
        raise BadInput("a study keeps at least one owner.", remedy="Make somebody else an owner first.")


def _note(study: Experiment, by, action: str, **details: str) -> None:
    AuditEntry.objects.create(experiment=study, user=by, action=action, details=details)
