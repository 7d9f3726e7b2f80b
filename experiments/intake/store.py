"""Storage of a checked material set in one transaction."""

import re
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from itertools import repeat
from typing import Any

import pandas as pd
from django.contrib.auth.models import User
from django.db import IntegrityError, models, transaction
from django.utils.text import slugify

from analysis.errors import BadInput
from experiments.intake.bulk_insert import insert_rows
from experiments.materials.checks import check
from experiments.materials.collection import Materials
from experiments.materials.findings import Report, list_rows
from experiments.models import Item, MaterialSet, MinimalPair, Paradigm, Phenomenon, Sentence

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class StoreResult:
    """A stored material set, and whether this call created it."""

    material_set: MaterialSet
    created: bool
    counts: dict[str, int]


@dataclass(frozen=True)
class MaterialSetInfo:
    """Name, language and origin of a material set."""

    name: str
    language: str = "en"
    source: str = ""
    licence: str = ""

    def __post_init__(self) -> None:
        for field, max_length in (("name", 200), ("language", 35), ("source", 500), ("licence", 200)):
            if len(getattr(self, field)) > max_length:
                raise BadInput(f"the {field} has more than {max_length} characters.", remedy="Shorten it.")
        if not self.name.strip():
            raise BadInput("the material set needs a name.")
        if not re.fullmatch(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*", self.language):
            raise BadInput(
                f"{self.language!r} is not a language tag.", remedy="Write for example en, pt-BR or zh-Hans."
            )


def store_materials(
    materials: Materials,
    info: MaterialSetInfo,
    *,
    owner: User | None = None,
    report: Report | None = None,
    progress: Progress | None = None,
) -> StoreResult:
    """Store a material set once; other content under the same name is refused."""
    report = check(materials) if report is None else report
    refuse_errors(report)
    checksum = materials.checksum
    try:
        with transaction.atomic():
            material_set = _existing_set(info, checksum, owner)
            if material_set is None:
                material_set = _create(materials, info, checksum=checksum, owner=owner, report=report)
                _fill(material_set, materials, progress=progress or (lambda n_stored, total: None))
                return StoreResult(material_set, True, materials.counts)
    except IntegrityError:  # race: another import created the same name since the query
        material_set = _existing_set(info, checksum, owner)
        if material_set is None:
            raise
    return StoreResult(material_set, False, materials.counts)


def refuse_errors(report: Report) -> None:
    """Raise :class:`BadInput` for the first finding that prevents storing the set."""
    if report.errors:
        first, n_more = report.errors[0], len(report.errors) - 1
        rows = {finding.row for finding in report.errors if finding.row}
        listed = f" in {list_rows(rows)}" if len(rows) > 1 else ""
        remedy = f"({n_more} more such findings{listed}.)" if n_more else ""
        raise BadInput(first.message, file=first.file, row=first.row, remedy=remedy)


def _existing_set(info: MaterialSetInfo, checksum: str, owner: User | None) -> MaterialSet | None:
    existing = MaterialSet.objects.filter(name=info.name.strip()).first()
    if existing is None:
        return None
    is_visible = owner is None or MaterialSet.objects.visible_to(owner).filter(pk=existing.pk).exists()
    if existing.checksum != checksum or not is_visible:
        raise BadInput(
            f"a material set named {existing.name!r} exists with other content.",
            remedy="Choose another name: judgments refer to stored materials, so these never change.",
        )
    return existing


def _create(
    materials: Materials,
    info: MaterialSetInfo,
    *,
    checksum: str,
    owner: User | None,
    report: Report,
) -> MaterialSet:
    return MaterialSet.objects.create(
        name=info.name.strip(),
        slug=_free_slug(info.name),
        language=info.language,
        source=info.source,
        licence=info.licence,
        file_format=materials.format,
        checksum=checksum,
        report=import_report(materials, report),
        factors=[{"name": name, "levels": list(levels)} for name, levels in materials.factors.items()],
        owner=owner,
    )


def import_report(materials: Materials, report: Report) -> dict[str, Any]:
    """Return counts, files, the mapping of columns and the findings, for JSON."""
    return {
        "format": materials.format,
        "counts": materials.counts,
        "sources": [asdict(source) for source in materials.sources],
        "mapping": dict(materials.mapping or {}),
        "factors": {name: list(levels) for name, levels in materials.factors.items()},
        "finding_counts": dict(report.counts),
        "findings": report.as_dict()["findings"],
    }


def _free_slug(name: str) -> str:
    base = slugify(name)[:190] or "materials"
    taken = {"upload", *MaterialSet.objects.filter(slug__startswith=base).values_list("slug", flat=True)}
    candidates = (f"{base}-{number}" for number in range(2, len(taken) + 3))
    return base if base not in taken else next(slug for slug in candidates if slug not in taken)


def _fill(material_set: MaterialSet, materials: Materials, *, progress: Progress) -> None:
    """Insert phenomena, paradigms, items, sentences and pairs, in this order."""
    sentences, pairs = materials.sentences, materials.pairs
    paradigms = _paradigms(material_set, materials)
    first_rows = sentences.drop_duplicates("item")
    total = len(first_rows) + len(sentences) + len(pairs)
    items = _insert(
        Item, material_set, key=first_rows["item"].tolist(), paradigm=_ids(first_rows["paradigm"], paradigms)
    )
    progress(len(first_rows), total)
    names = (
        *("condition", "text", "language", "expected", "mark", "critical_region"),
        *("attributes", "factors", "is_filler"),
    )
    sentence_ids = _insert(
        Sentence,
        material_set,
        key=sentences["sentence_id"].tolist(),
        item=_ids(sentences["item"], items),
        **{name: sentences[name].tolist() for name in names},
    )
    progress(len(first_rows) + len(sentences), total)
    _insert(
        MinimalPair,
        material_set,
        key=pairs["pair_id"].tolist(),
        paradigm=_ids(pairs["paradigm"], paradigms),
        good=_ids(pairs["good_id"], sentence_ids),
        bad=_ids(pairs["bad_id"], sentence_ids),
        **{name: pairs[name].tolist() for name in ("fields", "discard", "discard_reason")},
    )
    progress(total, total)


def _ids(keys: Iterable[str], ids: dict[str, int]) -> list[int | None]:
    return [ids.get(key) for key in keys]


def _insert(model: type[models.Model], material_set: MaterialSet, **columns: list[Any]) -> dict[str, int]:
    """Insert one row per value of the columns; return the new ids by key."""
    keys = columns["key"]
    rows = zip(repeat(material_set.pk, len(keys)), *columns.values(), strict=True)
    return dict(zip(keys, insert_rows(model, ["material_set", *columns], rows), strict=True))


def _paradigms(material_set: MaterialSet, materials: Materials) -> dict[str, int]:
    groups = pd.concat(
        [frame[["paradigm", "phenomenon"]] for frame in (materials.sentences, materials.pairs)]
    )
    phenomenon_of = {
        str(paradigm): str(phenomenon)
        for paradigm, phenomenon in groups.drop_duplicates().sort_values("phenomenon").to_numpy().tolist()
        if paradigm
    }
    names = sorted(set(groups["phenomenon"]) - {""})
    phenomena = Phenomenon.objects.bulk_create(
        [Phenomenon(material_set=material_set, name=name) for name in names]
    )
    by_name = {phenomenon.name: phenomenon for phenomenon in phenomena}
    paradigms = Paradigm.objects.bulk_create(
        [
            Paradigm(material_set=material_set, name=name, phenomenon=by_name.get(phenomenon_of[name]))
            for name in sorted(phenomenon_of)
        ]
    )
    return {paradigm.name: paradigm.pk for paradigm in paradigms}
