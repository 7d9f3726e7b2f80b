"""A checked material set becomes rows, in one transaction: all of it, or nothing."""

import re
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd
from django.db import IntegrityError, models, transaction
from django.utils.text import slugify

from analysis.errors import BadInput
from experiments.bulk import insert_rows
from experiments.materials.checks import check
from experiments.materials.collection import Materials
from experiments.materials.report import Report
from experiments.models import Item, MaterialSet, MinimalPair, Paradigm, Phenomenon, Sentence

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Stored:
    """A material set in the database, and whether this call made it."""

    material_set: MaterialSet
    created: bool
    counts: dict[str, int]


@dataclass(frozen=True)
class About:
    """What a researcher says of a material set."""

    name: str
    language: str = "en"
    source: str = ""
    licence: str = ""

    def __post_init__(self) -> None:
        for field, longest in (("name", 200), ("language", 35), ("source", 500), ("licence", 200)):
            if len(getattr(self, field)) > longest:
                raise BadInput(f"the {field} has more than {longest} characters.", remedy="Shorten it.")
        if not self.name.strip():
            raise BadInput("the material set needs a name.")
        if not re.fullmatch(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*", self.language):
            raise BadInput(
                f"{self.language!r} is not a language tag.", remedy="Write for example en, pt-BR or zh-Hans."
            )


def store_materials(
    materials: Materials,
    about: About,
    *,
    owner=None,
    report: Report | None = None,
    progress: Progress | None = None,
) -> Stored:
    """Store a material set; the same content under its name is stored once, other content is refused."""
    report = check(materials) if report is None else report
    refuse_errors(report)
    checksum = materials.checksum
    try:
        with transaction.atomic():
            found = _already_stored(about, checksum, owner)
            if found is None:
                found = _create(materials, about, checksum=checksum, owner=owner, report=report)
                _fill(found, materials, progress=progress or (lambda done, total: None))
                return Stored(found, True, materials.counts)
    except IntegrityError:  # another import of the same name was first
        found = _already_stored(about, checksum, owner)
        if found is None:
            raise
    return Stored(found, False, materials.counts)


def refuse_errors(report: Report) -> None:
    """Stop at the first finding that keeps the set from being stored."""
    if report.errors:
        first, more = report.errors[0], len(report.errors) - 1
        rest = f"({more} more such findings.)" if more else ""
        raise BadInput(first.message, file=first.file, row=first.row, remedy=rest)


def _already_stored(about: About, checksum: str, owner) -> MaterialSet | None:
    known = MaterialSet.objects.filter(name=about.name.strip()).first()
    if known is None:
        return None
    seen = owner is None or MaterialSet.objects.visible_to(owner).filter(pk=known.pk).exists()
    if known.checksum != checksum or not seen:
        raise BadInput(
            f"a material set named {known.name!r} exists with other content.",
            remedy="Choose another name: judgments refer to stored materials, so these never change.",
        )
    return known


def _create(materials: Materials, about: About, *, checksum: str, owner, report: Report) -> MaterialSet:
    return MaterialSet.objects.create(
        name=about.name.strip(),
        slug=_free_slug(about.name),
        language=about.language,
        source=about.source,
        licence=about.licence,
        file_format=materials.format,
        checksum=checksum,
        report=described(materials, report),
        owner=owner,
    )


def described(materials: Materials, report: Report) -> dict[str, Any]:
    """What is told of materials: counts, files, the columns' mapping and the findings."""
    return {
        "format": materials.format,
        "counts": materials.counts,
        "sources": [asdict(source) for source in materials.sources],
        "mapping": dict(materials.mapping or {}),
        "finding_counts": dict(report.counts),
        "findings": report.as_dict()["findings"],
    }


def _free_slug(name: str) -> str:
    wanted = slugify(name)[:190] or "materials"
    taken = {"upload", *MaterialSet.objects.filter(slug__startswith=wanted).values_list("slug", flat=True)}
    numbered = (f"{wanted}-{number}" for number in range(2, len(taken) + 3))
    return wanted if wanted not in taken else next(slug for slug in numbered if slug not in taken)


def _fill(material_set: MaterialSet, materials: Materials, *, progress: Progress) -> None:
    """Store phenomena, paradigms, items, sentences and pairs, outer ones first."""
    sentences, pairs = materials.sentences, materials.pairs
    paradigms = _paradigms(material_set, materials)
    first = sentences.drop_duplicates("item")
    total = len(first) + len(sentences) + len(pairs)
    items = _insert(Item, material_set, key=list(first["item"]), paradigm=_ids(first["paradigm"], paradigms))
    progress(len(first), total)
    own = ("condition", "text", "language", "expected", "mark", "critical_region", "attributes")
    known = _insert(
        Sentence,
        material_set,
        key=list(sentences["sentence_id"]),
        item=_ids(sentences["item"], items),
        **{name: list(sentences[name]) for name in own},
    )
    progress(len(first) + len(sentences), total)
    _insert(
        MinimalPair,
        material_set,
        key=list(pairs["pair_id"]),
        paradigm=_ids(pairs["paradigm"], paradigms),
        good=_ids(pairs["good_id"], known),
        bad=_ids(pairs["bad_id"], known),
        **{name: list(pairs[name]) for name in ("fields", "discard", "discard_reason")},
    )
    progress(total, total)


def _ids(keys: Iterable[str], known: dict[str, int]) -> list[int | None]:
    return [known.get(key) for key in keys]


def _insert(model: type[models.Model], material_set: MaterialSet, **columns: list[Any]) -> dict[str, int]:
    """Insert one row per value of the columns; gives the new ids by key."""
    rows = [(material_set.pk, *row) for row in zip(*columns.values(), strict=True)]
    return dict(zip(columns["key"], insert_rows(model, ["material_set", *columns], rows), strict=True))


def _paradigms(material_set: MaterialSet, materials: Materials) -> dict[str, int]:
    groups = pd.concat(
        [frame[["paradigm", "phenomenon"]] for frame in (materials.sentences, materials.pairs)]
    )
    phenomenon_of = {
        row.paradigm: row.phenomenon
        for row in groups.drop_duplicates().sort_values("phenomenon").itertuples()
        if row.paradigm
    }
    names = sorted(set(groups["phenomenon"]) - {""})
    phenomena = Phenomenon.objects.bulk_create(
        [Phenomenon(material_set=material_set, name=name) for name in names]
    )
    known = {phenomenon.name: phenomenon for phenomenon in phenomena}
    paradigms = Paradigm.objects.bulk_create(
        [
            Paradigm(material_set=material_set, name=name, phenomenon=known.get(phenomenon_of[name]))
            for name in sorted(phenomenon_of)
        ]
    )
    return {paradigm.name: paradigm.pk for paradigm in paradigms}
