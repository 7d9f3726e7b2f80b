"""A study begins: its address, its owner, its design; as new, or as a copy of another."""

import secrets
from typing import Any

from django.db import transaction
from django.utils.text import slugify

from experiments.models import AuditEntry, Design, Experiment, Membership
from judgments.tasks.registry import get_task

LONGEST_SLUG = 80
LONGEST_TITLE, COPY = 200, " (copy)"
OWN = {  # what belongs to one study, one recruitment or one moment, and is not copied
    "id",
    "slug",
    "title",
    "owner",
    "origin",
    "status",
    "current_round",
    "completion",
    "completion_code",
    "completion_url",
    "screen_out_code",
    "created_at",
    "updated_at",
    "opened_at",
    "closed_at",
}


@transaction.atomic
def create_study(user, *, title: str, task: str, **fields: Any) -> Experiment:
    """Make a draft with the user as owner and a design that fits the task."""
    get_task(task)
    seed = secrets.randbelow(2**31)
    study = Experiment.objects.create(
        slug=free_slug(title), title=title, task=task, owner=user, seed=seed, **fields
    )
    Membership.objects.create(experiment=study, user=user, role=Membership.Role.OWNER)
    Design.objects.create(experiment=study, seed=seed)
    AuditEntry.objects.create(experiment=study, user=user, action="created")
    return study


def free_slug(title: str) -> str:
    """An address made of the title that no study has yet."""
    base = slugify(title)[:LONGEST_SLUG].strip("-") or "study"
    taken = set(Experiment.objects.filter(slug__startswith=base).values_list("slug", flat=True)) | {"new"}
    if base not in taken:
        return base
    return next(slug for n in range(2, len(taken) + 3) if (slug := f"{base}-{n}") not in taken)


@transaction.atomic
def copy_study(study: Experiment, user) -> Experiment:
    """A draft with the same texts, task, design, seed and materials: without people, versions and codes.

    The user becomes its owner; both studies note the copy.
    """
    title = f"{study.title[: LONGEST_TITLE - len(COPY)]}{COPY}"
    made = Experiment.objects.create(
        slug=free_slug(study.slug), title=title, owner=user, **_fields_of(study, without=OWN)
    )
    Membership.objects.create(experiment=made, user=user, role=Membership.Role.OWNER)
    design = Design.objects.filter(experiment=study).first()
    copied = _fields_of(design, without={"id", "experiment"}) if design else {"seed": study.seed}
    Design.objects.create(experiment=made, **copied)
    AuditEntry.objects.create(experiment=made, user=user, action="copied", details={"from": study.slug})
    AuditEntry.objects.create(experiment=study, user=user, action="copied", details={"to": made.slug})
    return made


def _fields_of(row: Any, *, without: set[str]) -> dict[str, Any]:
    """Every stored field of a row but these; fields that come later are copied as well."""
    return {field.name: getattr(row, field.name) for field in row._meta.fields if field.name not in without}
