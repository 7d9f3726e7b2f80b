"""Labs: create, rename, delete, and move studies into and out of them."""

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.utils.text import slugify

from analysis.errors import BadInput
from experiments.models import AuditEntry, Experiment, Lab, LabMembership
from experiments.teams.members import MANAGER, note, only_owners
from experiments.teams.roles import lab_role

MOST_LABS = 20  # that one user may create
LONGEST_SLUG = 80


@transaction.atomic
def create_lab(user: User, name: str) -> Lab:
    """Create a lab with the user as its manager."""
    if AuditEntry.objects.filter(user=user, action="lab created").count() >= MOST_LABS:
        raise BadInput(f"you have created {MOST_LABS} labs.", remedy="Ask an administrator for more.")
    lab = Lab.objects.create(name=name, slug=_free_slug(name))
    LabMembership.objects.create(lab=lab, user=user, role=MANAGER)
    note(lab, user, "lab created", name=name)
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
    only_owners(lab, by)
    locked = Lab.objects.select_for_update().get(pk=lab.pk)
    if locked.name == name:
        return False
    note(locked, by, "lab renamed", values={"name": {"old": locked.name, "new": name}})
    locked.name = lab.name = name
    locked.save(update_fields=["name"])
    return True


@transaction.atomic
def delete_lab(lab: Lab, *, by: User) -> None:
    """Delete a lab without studies; its history stays for administrators."""
    only_owners(lab, by)
    locked = Lab.objects.select_for_update().get(pk=lab.pk)
    if locked.studies.exists():
        raise BadInput("the lab has studies.", remedy="Move them out of it first.")
    note(locked, by, "lab deleted", name=locked.name)
    locked.delete()


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
    note(locked, by, "moved to a lab" if lab else "moved out of its lab", values=change)
    for row, action in ((earlier, "study moved out"), (lab, "study moved in")):
        if row is not None:
            note(row, by, action, study=locked.slug)
    return True
