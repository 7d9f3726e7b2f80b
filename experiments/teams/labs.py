"""Labs and their members; a lab always keeps a manager."""

from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import QuerySet
from django.utils.text import slugify

from analysis.errors import BadInput
from experiments.models import AuditEntry, Lab, LabMembership
from experiments.teams.roles import manages
from experiments.teams.study_team import active_user, role_change

MANAGER = LabMembership.Role.MANAGER
MOST_LABS = 20  # that one user may create
LONGEST_SLUG = 80


@transaction.atomic
def create_lab(user: User, name: str) -> Lab:
    """Create a lab with the user as its manager."""
    if AuditEntry.objects.filter(user=user, action="lab created").count() >= MOST_LABS:
        raise BadInput(f"you have created {MOST_LABS} labs.", remedy="Ask an administrator for more.")
    lab = Lab.objects.create(name=name, slug=_free_slug(name))
    LabMembership.objects.create(lab=lab, user=user, role=MANAGER)
    _note(lab, user, "lab created", name=name)
    return lab


def _free_slug(name: str) -> str:
    base = slugify(name)[:LONGEST_SLUG].strip("-") or "lab"
    taken = set(Lab.objects.filter(slug__startswith=base).values_list("slug", flat=True))
    if base not in taken:
        return base
    return next(slug for n in range(2, len(taken) + 3) if (slug := f"{base}-{n}") not in taken)


@transaction.atomic
def rename_lab(lab: Lab, name: str, *, by: User) -> bool:
    """Rename a lab; its address stays. False where it has that name."""
    _only_managers(lab, by)
    locked = Lab.objects.select_for_update().get(pk=lab.pk)
    if locked.name == name:
        return False
    _note(locked, by, "lab renamed", values={"name": {"old": locked.name, "new": name}})
    locked.name = lab.name = name
    locked.save(update_fields=["name"])
    return True


@transaction.atomic
def delete_lab(lab: Lab, *, by: User) -> None:
    """Delete a lab without studies; its history stays for administrators."""
    _only_managers(lab, by)
    locked = Lab.objects.select_for_update().get(pk=lab.pk)
    if locked.studies.exists():
        raise BadInput("the lab has studies.", remedy="Move them out of it first.")
    _note(locked, by, "lab deleted", name=locked.name)
    locked.delete()


@transaction.atomic
def add_lab_member(lab: Lab, username: str, *, role: str, by: User) -> LabMembership:
    """Give a user a role in the lab, or another role; only managers may."""
    _only_managers(lab, by)
    return set_lab_role(lab, active_user(username), role=role, by=by)


@transaction.atomic
def set_lab_role(lab: Lab, user: User, *, role: str, by: User) -> LabMembership:
    """Store the role of a user; the last manager keeps theirs."""
    members = _locked(lab)
    member = members.filter(user=user).first()
    earlier = member.role if member else ""
    if earlier == MANAGER and role != MANAGER:
        _keep_a_manager(members)
    member, _ = LabMembership.objects.update_or_create(lab=lab, user=user, defaults={"role": role})
    name = user.get_username()
    _note(lab, by, "member added", user=name, role=role, values=role_change(name, earlier, role))
    return member


@transaction.atomic
def remove_lab_member(lab: Lab, member: LabMembership, *, by: User) -> None:
    """Remove a member: managers remove any member, others only themselves."""
    members = _locked(lab)
    if member.user_id != by.pk:
        _only_managers(lab, by)
    if member.role == MANAGER:
        _keep_a_manager(members)
    members.filter(pk=member.pk).delete()
    name = member.user.get_username()
    _note(lab, by, "member removed", user=name, values=role_change(name, member.role, ""))


def is_last_manager(member: LabMembership) -> bool:
    """Whether the member is the only manager."""
    managers = LabMembership.objects.filter(lab=member.lab_id, role=MANAGER)
    return member.role == MANAGER and managers.count() <= 1


def _locked(lab: Lab) -> QuerySet[LabMembership]:
    """Return the members under a lock."""
    # Race: without the lock two managers could leave at once, each seeing the other.
    Lab.objects.select_for_update().get(pk=lab.pk)
    return LabMembership.objects.filter(lab=lab)


def _only_managers(lab: Lab, by: User) -> None:
    if not manages(by, lab):
        raise PermissionDenied("Only a manager changes a lab.")


def _keep_a_manager(members: QuerySet[LabMembership]) -> None:
    if members.filter(role=MANAGER).count() <= 1:
        raise BadInput("a lab keeps at least one manager.", remedy="Make another member a manager first.")


def _note(lab: Lab, by: User, action: str, **details: Any) -> None:
    AuditEntry.objects.create(lab=lab, user=by, action=action, details=details)
