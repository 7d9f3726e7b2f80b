"""Members of a study; it always keeps an owner."""

from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import QuerySet

from analysis.errors import BadInput
from experiments.models import AuditEntry, Experiment, Lab, LabMembership, Membership
from experiments.teams.roles import lab_role, owns

OWNER = Membership.Role.OWNER


class OnlyOwners(PermissionDenied):
    """The action is reserved to owners."""


@transaction.atomic
def add_member(study: Experiment, username: str, *, role: str, by: User) -> Membership:
    """Give a user a role in the study, or another role; only owners may."""
    only_owners(study, by)
    return set_role(study, active_user(username), role=role, by=by)


@transaction.atomic
def set_role(study: Experiment, user: User, *, role: str, by: User) -> Membership:
    """Store the role of a user; the last owner keeps theirs."""
    members = _locked(study)
    member = members.filter(user=user).first()
    earlier = member.role if member else ""
    if earlier == OWNER and role != OWNER:
        _keep_an_owner(members)
    member, _ = Membership.objects.update_or_create(experiment=study, user=user, defaults={"role": role})
    name = user.get_username()
    _note(study, by, "member added", user=name, role=role, values=role_change(name, earlier, role))
    return member


@transaction.atomic
def remove_member(study: Experiment, member: Membership, *, by: User) -> None:
    """Remove a member: owners remove any member, others only themselves."""
    members = _locked(study)
    if member.user_id != by.pk:
        only_owners(study, by)
    if member.role == OWNER:
        _keep_an_owner(members)
    members.filter(pk=member.pk).delete()
    name = member.user.get_username()
    _note(study, by, "member removed", user=name, values=role_change(name, member.role, ""))


@transaction.atomic
def move_to_lab(study: Experiment, lab: Lab | None, *, by: User) -> bool:
    """Move a study into a lab, or out of its lab; False where it is there already.

    Only owners of the study may, into labs where they are manager or editor. A study keeps its own members,
    an owner among them, so that leaving a lab leaves nothing without one.
    """
    # Race: two moves at once would note the wrong lab as the earlier one.
    locked = Experiment.objects.select_for_update(of=("self",)).select_related("lab").get(pk=study.pk)
    only_owners(locked, by)
    earlier = locked.lab
    if earlier == lab:
        return False
    if lab is not None and lab_role(by, lab) not in LabMembership.Role.editing():
        raise PermissionDenied("Only a manager or an editor of a lab adds studies to it.")
    locked.lab = study.lab = lab
    locked.save(update_fields=["lab"])
    change = {"lab": {"old": str(earlier or ""), "new": str(lab or "")}}
    _note(locked, by, "moved to a lab" if lab else "moved out of its lab", values=change)
    for row, action in ((earlier, "study moved out"), (lab, "study moved in")):
        if row is not None:
            AuditEntry.objects.create(lab=row, user=by, action=action, details={"study": locked.slug})
    return True


def is_last_owner(member: Membership) -> bool:
    """Whether the member is the only owner."""
    owners = Membership.objects.filter(experiment=member.experiment_id, role=OWNER)
    return member.role == OWNER and owners.count() <= 1


def active_user(username: str) -> User:
    """Return the user of a name; raises :class:`BadInput`."""
    user = User.objects.filter(username=username, is_active=True).first()
    if user is None:
        raise BadInput(
            f"there is no user {username!r}.", remedy="Invite them by mail, or ask for their user name."
        )
    return user


def role_change(name: str, earlier: str, role: str) -> dict[str, dict[str, str]]:
    """Return old and new role of a member, as histories show them; empty for none."""
    return {f"role of {name}": {"old": earlier, "new": role}}


def only_owners(study: Experiment, by: User) -> None:
    """Raise :class:`OnlyOwners` for everybody else."""
    if not owns(by, study):
        raise OnlyOwners("Only an owner changes the team.")


def _locked(study: Experiment) -> QuerySet[Membership]:
    """Return the members under a lock."""
    # Race: without the lock two owners could leave at once, each seeing the other.
    Experiment.objects.select_for_update().get(pk=study.pk)
    return Membership.objects.filter(experiment=study)


def _keep_an_owner(members: QuerySet[Membership]) -> None:
    if members.filter(role=OWNER).count() <= 1:
        raise BadInput("a study keeps at least one owner.", remedy="Make another member an owner first.")


def _note(study: Experiment, by: User, action: str, **details: Any) -> None:
    AuditEntry.objects.create(experiment=study, user=by, action=action, details=details)
