"""Create or copy a study; find studies, material sets and users by name."""

import secrets
from math import prod
from typing import Any, TypeVar

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils.text import slugify
from django.utils.translation import gettext

from analysis.errors import BadInput, UnknownName
from experiments.models import AuditEntry, Design, Experiment, MaterialSet, Membership
from experiments.models.lab import check_pay
from experiments.studies.languages import interface_translation
from experiments.tasks.registry import get_task

Row = TypeVar("Row", Experiment, MaterialSet)
LONGEST_SLUG = 80
SLUG_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"  # without characters that are easily misread
SLUG_CHARACTERS = 8  # 40 bits
MOST_CELLS = 36
"""Largest factorial design that gets a list for each condition by itself."""
LONGEST_TITLE, COPY = 200, " (copy)"
NOT_COPIED = {  # fields of one study, one recruitment or one point in time
    "id",
    "slug",
    "public_slug",
    "title",
    "owner",
    "lab",  # a viewer's copy is no study of the lab
    "origin",
    "status",
    "current_round",
    "completion",
    "completion_code",
    "completion_url",
    "screen_out_code",
    "partial_code",
    "created_at",
    "updated_at",
    "opened_at",
    "closed_at",
    "archived_at",
}


@transaction.atomic
def create_study(user: User, *, title: str, task: str, **fields: Any) -> Experiment:
    """Create a draft with the user as owner and a design that fits the task.

    Participants see a neutral title and address, because those of researchers often name the hypothesis.
    """
    from experiments.studies.proposals import (
        propose_split,  # imports numpy, which finding a study does not need
    )

    get_task(task)
    if fields.get("reward_minor"):
        check_pay(fields.get("lab"), fields["reward_minor"], fields.get("currency") or "GBP")
    fields["public_title"] = fields.get("public_title") or neutral_title(fields.get("language", "en"))
    seed = secrets.randbelow(2**31)
    fields.setdefault("closing_comment", True)
    fields.setdefault("context_display", Experiment.ContextDisplay.ABOVE)
    study = Experiment.objects.create(
        slug=free_slug(title),
        public_slug=new_public_slug(),
        title=title,
        task=task,
        owner=user,
        seed=seed,
        **fields,
    )
    Membership.objects.create(experiment=study, user=user, role=Membership.Role.OWNER)
    design = Design.objects.create(experiment=study, seed=seed, **_lists_of_factors(study.materials))
    propose_split(study, design)
    AuditEntry.objects.create(experiment=study, user=user, action="created")
    if study.lab_id:
        details = {"study": study.slug}
        AuditEntry.objects.create(lab_id=study.lab_id, user=user, action="study created", details=details)
    return study


def _lists_of_factors(materials: MaterialSet | None) -> dict[str, int]:
    """Return the number of lists of a Latin square of the materials' factors; the default without factors."""
    n_cells = prod(len(levels) for levels in materials.levels.values()) if materials else 1
    return {"n_lists": n_cells} if 1 < n_cells <= MOST_CELLS else {}


def free_slug(title: str) -> str:
    """Return a slug made of the title that no study has yet."""
    base = slugify(title.replace("×", "x"))[:LONGEST_SLUG].strip("-") or "study"  # 2×2: not 22
    alike = Experiment.objects.filter(Q(slug__startswith=base) | Q(public_slug__startswith=base))
    taken = {"new"}.union(*alike.values_list("slug", "public_slug"))
    if base not in taken:
        return base
    return next(slug for n in range(2, len(taken) + 3) if (slug := f"{base}-{n}") not in taken)


def neutral_title(language: str) -> str:
    """Return a title in the language of a study that tells participants nothing about its question."""
    with interface_translation(language):
        return gettext("A study about language")


def new_public_slug() -> str:
    """Return a random slug for the address of participants that no study has."""
    while True:
        slug = "".join(secrets.choice(SLUG_ALPHABET) for _ in range(SLUG_CHARACTERS))
        if not is_taken_address(slug):
            return slug


def is_taken_address(slug: str, *, except_study: Experiment | None = None) -> bool:
    """Whether another study answers at this address, by its slug or its public one."""
    other_studies = (
        Experiment.objects.exclude(pk=except_study.pk) if except_study else Experiment.objects.all()
    )
    return other_studies.filter(Q(slug=slug) | Q(public_slug=slug)).exists()


@transaction.atomic
def copy_study(study: Experiment, user: User, *, with_materials: bool = True) -> Experiment:
    """Copy texts, task, design, seed and materials into a draft, without participants, versions and codes.

    The user becomes its owner; the history of both studies records the copy. Without materials the copy has
    neither these nor the filler set, nor the items that were left out of them.
    """
    of_materials: set[str] = set() if with_materials else {"materials", "filler_materials", "left_out"}
    title = f"{study.title[: LONGEST_TITLE - len(COPY)]}{COPY}"
    copy = Experiment.objects.create(
        slug=free_slug(study.slug),
        public_slug=new_public_slug(),
        title=title,
        owner=user,
        **_copied_fields(study, without=NOT_COPIED | of_materials),
    )
    Membership.objects.create(experiment=copy, user=user, role=Membership.Role.OWNER)
    design = Design.objects.filter(experiment=study).first()
    copied = (
        _copied_fields(design, without={"id", "experiment"} | of_materials)
        if design
        else {"seed": study.seed}
    )
    Design.objects.create(experiment=copy, **copied)
    details = {} if with_materials else {"materials": "left out"}
    AuditEntry.objects.create(
        experiment=copy, user=user, action="copied", details=details | {"from": study.slug}
    )
    AuditEntry.objects.create(
        experiment=study, user=user, action="copied", details=details | {"to": copy.slug}
    )
    return copy


def _copied_fields(row: Any, *, without: set[str]) -> dict[str, Any]:
    """Return every stored field of a row except some; fields added later are included."""
    return {field.name: getattr(row, field.name) for field in row._meta.fields if field.name not in without}


def find_experiment(name: str, *, among: QuerySet[Experiment] | None = None) -> Experiment:
    """Return the study of a slug or title, among all or some."""
    rows = Experiment.objects.all() if among is None else among
    return _find(rows, name, kind="study", long="title")


def find_materials(name: str) -> MaterialSet:
    """Return the material set of a slug or name."""
    return _find(MaterialSet.objects.all(), name, kind="material set", long="name")


def _find(rows: QuerySet[Row], name: str, *, kind: str, long: str) -> Row:
    if (match := rows.filter(slug=name).first()) is not None:
        return match
    alike = list(rows.filter(**{long: name})[:2])
    if len(alike) > 1:
        raise BadInput(f"several are called {name!r}.", remedy="Give the short name from its address.")
    if alike:
        return alike[0]
    names = [word for pair in rows.values_list("slug", long) for word in pair]
    raise UnknownName(kind, name, list(dict.fromkeys(names)))


def find_user(username: str) -> User | None:
    """Return the user of a name, None for an empty name."""
    if not username:
        return None
    if (user := User.objects.filter(username=username).first()) is None:
        raise UnknownName("user", username, list(User.objects.values_list("username", flat=True)))
    return user
