"""A study begins: its address, its owner, its design."""

import secrets
from typing import Any

from django.db import transaction
from django.utils.text import slugify

from experiments.models import AuditEntry, Design, Experiment, Membership
from judgments.tasks.registry import get_task

LONGEST_SLUG = 80


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
