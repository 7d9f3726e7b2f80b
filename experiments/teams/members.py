"""Members of a study or a lab: their roles; at least one member who may change them remains."""

from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import QuerySet

from analysis.errors import BadInput
from experiments.models import AuditEntry, Experiment, Lab, LabMembership, Membership
from experiments.teams.roles import manages, owns

OWNER, MANAGER = Membership.Role.OWNER, LabMembership.Role.MANAGER
Team = Experiment | Lab
Member = Membership | LabMembership


class OnlyOwners(PermissionDenied):
    """The action is reserved to owners of the study."""


@transaction.atomic
def add_member(team: Team, username: str, *, role: str, by: User) -> Member:
    """Give a user a role, or another role; only owners or managers may."""
    only_owners(team, by)
    return set_role(team, active_user(username), role=role, by=by)


@transaction.atomic
def set_role(team: Team, user: User, *, role: str, by: User) -> Member:
    """Store the role of a user; the last owner or manager keeps theirs."""
    members = _lock_members(team)
    member = members.filter(user=user).first()
    earlier = member.role if member else ""
    if earlier == highest_role(team) and role != earlier:
        _keep_one(team, members)
    stored: Member = members.update_or_create(**team_field(team), user=user, defaults={"role": role})[0]
    name = user.get_username()
    note(team, by, "member added", user=name, role=role, values=role_change(name, earlier, role))
    return stored


@transaction.atomic
def remove_member(team: Team, member: Member, *, by: User) -> None:
    """Remove a member: owners or managers remove any member, others only themselves."""
    members = _lock_members(team)
    if member.user_id != by.pk:
        only_owners(team, by)
    if member.role == highest_role(team):
        _keep_one(team, members)
    members.filter(pk=member.pk).delete()
    name = member.user.get_username()
    note(team, by, "member removed", user=name, values=role_change(name, member.role, ""))


def is_last(team: Team, member: Member) -> bool:
    """Whether the member is the only owner or manager."""
    highest = highest_role(team)
    return member.role == highest and list_members(team).filter(role=highest).count() <= 1


def highest_role(team: Team) -> str:
    """The role that changes the team, of which one member stays."""
    return MANAGER if isinstance(team, Lab) else OWNER


def list_members(team: Team) -> "QuerySet[Any]":
    """Return the memberships of a study or lab."""
    return (LabMembership if isinstance(team, Lab) else Membership).objects.filter(**team_field(team))


def team_field(team: Team) -> dict[str, Any]:
    """The field that names the team, in memberships, invitations and the history."""
    return {"lab": team} if isinstance(team, Lab) else {"experiment": team}


def only_owners(team: Team, by: User) -> None:
    """Raise PermissionDenied for all but owners of the study or managers of the lab."""
    if isinstance(team, Lab):
        if not manages(by, team):
            raise PermissionDenied("Only a manager changes a lab.")
    elif not owns(by, team):
        raise OnlyOwners("Only an owner changes the team.")


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


def note(team: Team, by: User, action: str, **details: Any) -> None:
    """Write an entry of the team's history."""
    AuditEntry.objects.create(**team_field(team), user=by, action=action, details=details)


def _lock_members(team: Team) -> "QuerySet[Any]":
    """Return the members under a lock."""
    # Race: without the lock two owners could leave at once, each seeing the other.
    type(team)._base_manager.select_for_update().get(pk=team.pk)
    return list_members(team)


def _keep_one(team: Team, members: "QuerySet[Any]") -> None:
    if members.filter(role=highest_role(team)).count() > 1:
        return
    if isinstance(team, Lab):
        raise BadInput("a lab keeps at least one manager.", remedy="Make another member a manager first.")
    raise BadInput("a study keeps at least one owner.", remedy="Make another member an owner first.")
