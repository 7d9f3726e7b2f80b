"""Members of a study; it always keeps an owner."""

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import QuerySet

from analysis.errors import BadInput
from experiments.models import AuditEntry, Experiment, Membership

OWNER = Membership.Role.OWNER


class OnlyOwners(PermissionDenied):
    """The action is reserved to owners."""


@transaction.atomic
def add_member(study: Experiment, username: str, *, role: str, by: User) -> Membership:
    """Give a user a role in the study, or another role; only owners may."""
    members = _locked(study)
    _only_owners(study, by)
    user = User.objects.filter(username=username, is_active=True).first()
    if user is None:
        raise BadInput(f"there is no user {username!r}.", remedy="Ask an administrator to create an account.")
    member = members.filter(user=user).first()
    if member and member.role == OWNER and role != OWNER:
        _keep_an_owner(members)
    member, _ = Membership.objects.update_or_create(experiment=study, user=user, defaults={"role": role})
    _note(study, by, "member added", user=user.get_username(), role=role)
    return member


@transaction.atomic
def remove_member(study: Experiment, member: Membership, *, by: User) -> None:
    """Remove a member: owners remove any member, others only themselves."""
    members = _locked(study)
    if member.user_id != by.pk:
        _only_owners(study, by)
    if member.role == OWNER:
        _keep_an_owner(members)
    members.filter(pk=member.pk).delete()
    _note(study, by, "member removed", user=member.user.get_username())


def is_last_owner(member: Membership) -> bool:
    """Whether the member is the only owner."""
    owners = Membership.objects.filter(experiment=member.experiment_id, role=OWNER)
    return member.role == OWNER and owners.count() <= 1


def _locked(study: Experiment) -> QuerySet[Membership]:
    """Return the members under a lock."""
    # Race: without the lock two owners could leave at once, each seeing the other.
    Experiment.objects.select_for_update().get(pk=study.pk)
    return Membership.objects.filter(experiment=study)


def _only_owners(study: Experiment, by: User) -> None:
    if not by.is_staff and not study.memberships.filter(user=by, role=OWNER).exists():
        raise OnlyOwners("Only an owner changes the team.")


def _keep_an_owner(members: QuerySet[Membership]) -> None:
    if members.filter(role=OWNER).count() <= 1:
        raise BadInput("a study keeps at least one owner.", remedy="Make another member an owner first.")


def _note(study: Experiment, by: User, action: str, **details: str) -> None:
    AuditEntry.objects.create(experiment=study, user=by, action=action, details=details)
