"""Reading of study templates, built-in or sent, and creation of studies from them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from rest_framework.exceptions import ValidationError as APIValidationError

from analysis.errors import BadInput, UnknownName
from analysis.exclusions.plan import Plan
from experiments.api.serializers import StudySerializer
from experiments.intake.store import MaterialSetInfo, refuse_errors, store_materials
from experiments.lists.build import order_rules
from experiments.lists.rounds import checked_rounds
from experiments.materials.checks import check
from experiments.materials.collection import Materials, pair_frame, require_unique, sentence_frame
from experiments.materials.schema import PAIR_FIELDS, SENTENCE_FIELDS
from experiments.models import AuditEntry, Design, Experiment, MaterialSet, Sentence
from experiments.pages.design.forms import DesignForm
from experiments.studies.creation import create_study
from experiments.tasks.registry import get_task
from judgments.recruitment.quotas import checked_quotas
from releases.gold.plans import set_current_plan, write_plan
from releases.study_templates.document import SUFFIX, TemplateDocument, parse_document
from releases.study_templates.export import DESIGN_FIELDS, STUDY_FIELDS

TEXTS = ("paradigm", "phenomenon")
SENTENCE_TEXTS = (
    "sentence_id", "item", "text", "condition", *TEXTS, "expected", "mark", "critical_region", "language",
)  # fmt: skip
PAIR_TEXTS = ("pair_id", "item", "good_id", "bad_id", *TEXTS, "discard_reason")
ORDER = {"task": 0, "parameters": 1}  # checked first, because the other values depend on them
MATERIAL_FACTS = ("name", "language", "source", "licence", "checksum", "factors", "sentences", "pairs")
LONGEST = {field.name: field.max_length for field in (*SENTENCE_FIELDS.values(), *PAIR_FIELDS.values())} | {
    "language": 35,
    "discard_reason": 200,
}
FOLDER = Path(__file__).parent / "built_in"


@dataclass(frozen=True)
class TemplateMaterials:
    """Materials of a template: rows to store, or a set of the user that has the same content."""

    name: str
    info: MaterialSetInfo | None = None
    rows: Materials | None = None
    existing: MaterialSet | None = None


@dataclass(frozen=True)
class StudyTemplate:
    """A checked template: everything that :func:`create_from_template` stores."""

    title: str
    task: str
    study: dict[str, Any]
    quotas: list[dict[str, Any]]
    design: dict[str, Any]
    materials: TemplateMaterials | None
    fillers: TemplateMaterials | None
    plan: Plan | None
    left_out: list[str] = field(default_factory=list)

    def summary(self) -> dict[str, Any]:
        """Return what would be made and what would be left out, for pages, commands and the API."""
        return {"title": self.title, "task": self.task, "makes": self._makes(), "left_out": self.left_out}

    def _makes(self) -> list[str]:
        kinds = {"practice": "practice trials", "catch_trials": "catch trials", "anchors": "anchor sentences"}
        lengths = {
            **{words: len(self.study.get(name, ())) for name, words in kinds.items()},
            "questions about the person": len(self.study.get("questionnaire", ())),
            "questions about the instructions": len(self.study.get("quiz", ())),
            "quotas": len(self.quotas),
        }
        texts = [name for name in ("consent", "instructions", "debrief") if self.study.get(name)]
        kind, n_lists = self.design.get("kind", "latin_square"), self.design.get("n_lists", 4)
        return [
            f"Study “{self.title}”, a draft of yours: {get_task(self.task).label}.",
            *([f"Texts: {', '.join(texts)}."] if texts else []),
            *(f"{number} {words}." for words, number in lengths.items() if number),
            f"Design: {Design.Kind(kind).label}; lists: {n_lists}.",
            *self._materials_line("Materials", self.materials),
            *self._materials_line("Fillers", self.fillers),
            *([f"Exclusion plan “{self.plan.name}”, steps: {len(self.plan.steps)}."] if self.plan else []),
        ]

    def _materials_line(self, label: str, materials: TemplateMaterials | None) -> list[str]:
        if materials is None:
            return []
        if materials.existing is not None:
            return [f"{label}: your set “{materials.existing.name}” has the same content and is used."]
        assert materials.rows is not None
        counts = materials.rows.counts
        return [f"{label}: “{materials.name}”, {counts['sentences']:,} sentences, {counts['pairs']:,} pairs."]


def read_template(content: bytes | str, *, file: str, user: User) -> StudyTemplate:
    """Parse and check a template without storing anything; raises ``BadInput`` with file, line and remedy."""
    document = parse_document(content, file=file)
    left_out = [f"“{name}” is unknown." for name in document.unknown]
    study = _checked_study(document, left_out)
    design = _checked_design(document, left_out)
    materials, fillers = (
        _checked_materials(document, name, user, left_out) for name in ("materials", "fillers")
    )
    quotas = study.pop("quotas", [])
    return StudyTemplate(
        study.pop("title"),
        study.pop("task"),
        study,
        quotas,
        design,
        materials,
        fillers,
        _plan(document),
        left_out,
    )


@transaction.atomic
def create_from_template(template: StudyTemplate, user: User, *, title: str = "") -> Experiment:
    """Create materials, study, design and exclusion plan of a template, all or nothing."""
    title = title.strip() or template.title
    materials = _store(template.materials, user)
    study = create_study(user, title=title, task=template.task, materials=materials, **template.study)
    if template.quotas:
        study.quotas = template.quotas
        study.save(update_fields=["quotas"])
    design = study.design
    if template.design:
        for name, value in template.design.items():
            setattr(design, name, value)
    design.filler_materials = _store(template.fillers, user)
    design.save()
    if template.plan is not None:
        row = write_plan(
            study, template.plan.name, steps=[step.as_dict() for step in template.plan.steps], user=user
        )
        set_current_plan(study, f"{row.name}@{row.version}", user=user)
    AuditEntry.objects.create(
        experiment=study, user=user, action="created from a template", details={"template": template.title}
    )
    return study


def _store(materials: TemplateMaterials | None, user: User) -> MaterialSet | None:
    if materials is None or materials.existing is not None:
        return materials.existing if materials else None
    assert materials.rows is not None
    assert materials.info is not None
    names = set(
        MaterialSet.objects.filter(name__startswith=materials.name[:180]).values_list("name", flat=True)
    )
    candidates = (f"{materials.name[:180]} ({n})" for n in range(2, len(names) + 3))
    name = materials.name if materials.name not in names else next(n for n in candidates if n not in names)
    info = MaterialSetInfo(name, materials.info.language, materials.info.source, materials.info.licence)
    return store_materials(materials.rows, info, owner=user).material_set


def _split(
    document: TemplateDocument, section: str, names: tuple[str, ...], left_out: list[str]
) -> dict[str, Any]:
    """Return the known values of a section; others are reported as left out."""
    values = document.section(section)
    for name in values.keys() - set(names):
        if document.lines.get((section, name)):
            left_out.append(f"“{section}.{name}” is no part of a template.")
    left_out.sort()
    try:
        json.dumps(values, allow_nan=False, ensure_ascii=False).encode()
    except ValueError:
        raise document.error("has a character or number that cannot be stored.", section) from None
    if "\\u0000" in json.dumps(values):
        raise document.error("has a NUL character.", section, remedy="Remove it.")
    return {name: values[name] for name in names if name in values}


def _checked_study(document: TemplateDocument, left_out: list[str]) -> dict[str, Any]:
    values = _split(document, "study", STUDY_FIELDS, left_out)
    for name in ("title", "task"):
        if not isinstance(values.get(name), str) or not values[name].strip():
            raise document.error(f"has no {name}.", "study", remedy=f"Write “{name}: …” below “study:”.")
    if values.get("public_title") == "":
        del values["public_title"]
    quotas = values.pop("quotas", [])
    try:
        checked = _serialize_values(values)
    except (BadInput, APIValidationError):
        raise _study_error(document, values) from None
    rows: list[Any] = quotas if isinstance(quotas, list) else [None]
    for number, row in enumerate(rows):
        limit = row.get("limit") if isinstance(row, dict) else None
        is_row = isinstance(row, dict) and set(row) == {"question", "answer", "limit"}
        if not is_row or not isinstance(limit, int) or isinstance(limit, bool) or not 0 < limit <= 1_000_000:
            remedy = "Write question, answer and limit, a whole number from 1 on."
            raise document.error("is no quota.", "study", "quotas", number, remedy=remedy)
    try:
        stored = checked_quotas(Experiment(questionnaire=checked.get("questionnaire", [])), rows)
    except BadInput as error:
        raise document.error(error.message, "study", "quotas", remedy=error.remedy) from error
    return {**checked, "quotas": stored}


def _serialize_values(values: Mapping[str, Any]) -> dict[str, Any]:
    serializer = StudySerializer(data=values)
    serializer.is_valid(raise_exception=True)
    return dict(serializer.validated_data)


def _study_error(document: TemplateDocument, values: Mapping[str, Any]) -> BadInput:
    """Return the error of the first value that is refused by itself, with its line."""
    base = {"title": "x", "task": values["task"], "parameters": values.get("parameters", {})}
    for name, value in sorted(values.items(), key=lambda pair: ORDER.get(pair[0], len(ORDER))):
        subset = (
            {"title": "x", "task": values["task"], name: value} if name in base else {**base, name: value}
        )
        try:
            _serialize_values(subset)
        except BadInput as error:
            return document.error(error.message, "study", name, remedy=error.remedy)
        except APIValidationError as error:
            return document.error(_first_text(error.detail), "study", name, remedy="Correct the value.")
    return document.error("cannot be used.", "study", remedy="Export the template again.")


def _first_text(detail: Any) -> str:
    while isinstance(detail, dict | list):
        detail = next(iter(detail.values() if isinstance(detail, dict) else detail))
    return str(detail)


def _checked_design(document: TemplateDocument, left_out: list[str]) -> dict[str, Any]:
    """Check with the form of the design page, so that no file stores what the page refuses."""
    values = _split(document, "design", DESIGN_FIELDS, left_out)
    rounds, constraints = values.get("rounds", []), values.get("constraints", {})
    for name, kind in (("rounds", list), ("constraints", dict)):
        if not isinstance(values.get(name, kind()), kind):
            raise document.error("has the wrong type.", "design", name, remedy="Export the template again.")
    try:
        checked_rounds(rounds)
    except BadInput as error:
        raise document.error(error.message, "design", "rounds", remedy=error.remedy) from error
    try:
        order_rules(constraints)
    except BadInput as error:
        raise document.error(error.message, "design", "constraints", remedy=error.remedy) from error
    except (TypeError, AttributeError) as error:  # a number where names or distances belong
        remedy = "Export the template again."
        raise document.error("has the wrong type.", "design", "constraints", remedy=remedy) from error
    blank = Design(experiment=Experiment())
    form_values = {name: getattr(blank, name) for name in DESIGN_FIELDS} | values
    form = DesignForm(
        {name: value for name, value in form_values.items() if value is not None}, instance=blank
    )
    if not form.is_valid():
        name, problems = next(iter(form.errors.as_data().items()))
        message = " ".join(problems[0].messages) if isinstance(problems[0], ValidationError) else ""
        raise document.error(
            message, "design", *([name] if name in values else []), remedy="Correct the value."
        )
    return values | {name: form.cleaned_data[name] for name in values if name in form.cleaned_data}


def _plan(document: TemplateDocument) -> Plan | None:
    values = document.section("exclusion_plan")
    if not values:
        return None
    steps = values.get("steps")
    if not isinstance(steps, list) or not steps or not all(isinstance(step, dict) for step in steps):
        raise document.error("has no steps.", "exclusion_plan", remedy="Write them, or remove the plan.")
    try:
        return Plan.from_dict({"name": str(values.get("name") or "template"), "version": 1, "steps": steps})
    except BadInput as error:
        raise document.error(error.message, "exclusion_plan", remedy=error.remedy) from error
    except (KeyError, TypeError, ValueError) as error:
        remedy = "Each has name, scope, rule and parameters."
        raise document.error(
            "has a step that cannot be read.", "exclusion_plan", "steps", remedy=remedy
        ) from error


def _checked_materials(
    document: TemplateDocument, section: str, user: User, left_out: list[str]
) -> TemplateMaterials | None:
    values = _split(document, section, MATERIAL_FACTS, left_out)
    if not values:
        return None
    facts = {name: values.get(name, "") for name in ("name", "language", "source", "licence", "checksum")}
    for name, value in facts.items():
        if not isinstance(value, str):
            raise document.error("is no text.", section, name, remedy="Put it in quotation marks.")
    visible = MaterialSet.objects.visible_to(user)
    if "sentences" not in values:
        existing = visible.filter(checksum=facts["checksum"] or None).first()
        if existing is None:
            left_out.append(
                f"The {section} “{facts['name']}” are not in the file: choose a set in the settings."
            )
            return None
        return TemplateMaterials(facts["name"], existing=existing)
    rows = _rows(document, section, values)
    try:
        info = MaterialSetInfo(facts["name"], facts["language"] or "en", facts["source"], facts["licence"])
        refuse_errors(check(rows))
    except BadInput as error:
        raise BadInput(
            error.message, file=document.file, row=error.row, column=section, remedy=error.remedy
        ) from error
    existing = visible.filter(checksum=rows.checksum).first()
    return TemplateMaterials(facts["name"], info, rows, existing)


def _rows(document: TemplateDocument, section: str, values: Mapping[str, Any]) -> Materials:
    sentences = _columns(
        document, section, values, "sentences", SENTENCE_TEXTS, ("attributes", "factors"), "is_filler"
    )
    pairs = _columns(document, section, values, "pairs", PAIR_TEXTS, ("fields",), "discard")
    factors = _factors(document, section, values)
    sentence_rows, pair_rows = sentence_frame(**sentences), pair_frame(**pairs)
    ids = set(sentences["sentence_id"])
    for number, expected in enumerate(sentences["expected"]):
        if expected not in Sentence.Expected.values:
            remedy = "Write acceptable or unacceptable, or leave it out."
            raise document.error(
                f"{expected!r} is no status.", section, "sentences", number, "expected", remedy=remedy
            )
        cells = sentences["factors"][number]
        if (
            any(cells.get(name) not in levels for name, levels in factors.items())
            and not sentences["is_filler"][number]
        ):
            remedy = "Write a level of each factor below “factors”."
            raise document.error("has no level of a factor.", section, "sentences", number, remedy=remedy)
    for number, (good, bad) in enumerate(zip(pairs["good_id"], pairs["bad_id"], strict=True)):
        if good not in ids or bad not in ids or good == bad:
            remedy = "Name two different sentences by sentence_id."
            raise document.error(
                "is no pair of sentences of the file.", section, "pairs", number, remedy=remedy
            )
    require_unique(sentence_rows, "sentence_id")
    require_unique(pair_rows, "pair_id")
    return Materials("template", sentence_rows, pair_rows, factors=factors)


def _factors(
    document: TemplateDocument, section: str, values: Mapping[str, Any]
) -> dict[str, tuple[str, ...]]:
    factors: dict[str, tuple[str, ...]] = {}
    rows = values.get("factors", [])
    for number, row in enumerate(rows if isinstance(rows, list) else [None]):
        name, levels = (row.get("name"), row.get("levels")) if isinstance(row, dict) else (None, None)
        if (
            not isinstance(name, str) or name in factors or not isinstance(levels, list)
            or len(levels) < 2 or not all(isinstance(level, str) for level in levels)
        ):  # fmt: skip
            remedy = "Write its name and two or more levels, all of them texts."
            raise document.error("is no factor.", section, "factors", number, remedy=remedy)
        factors[name] = tuple(levels)
    return factors


def _columns(
    document: TemplateDocument,
    section: str,
    values: Mapping[str, Any],
    table: str,
    texts: tuple[str, ...],
    mappings: tuple[str, ...],
    flag: str,
) -> dict[str, list[Any]]:
    """Return the rows of a table as columns, each cell of its type and not too long."""
    rows = values.get(table) or []
    if not isinstance(rows, list):
        raise document.error("is no list.", section, table, remedy="Begin each row with “- ”.")
    required = texts[:3] if table == "sentences" else ("pair_id", "good_id", "bad_id")
    columns: dict[str, list[Any]] = {name: [] for name in (*texts, *mappings, flag, "file", "row")}
    for number, row in enumerate(rows):
        if not isinstance(row, dict):
            raise document.error("is no row.", section, table, number, remedy="Write “name: value”.")
        if unknown := sorted(row.keys() - columns.keys() | (row.keys() & {"file", "row"})):
            remedy = f"There are: {', '.join([*texts, *mappings, flag])}."
            raise document.error(
                f"has an unknown column {unknown[0]!r}.", section, table, number, remedy=remedy
            )
        for name in texts:
            cell = row.get(name, "")
            cell = str(cell) if type(cell) is int else cell  # item: 1
            if not isinstance(cell, str) or (name in required and not cell.strip()):
                remedy = "Write a text, in quotation marks where it looks like a number."
                raise document.error(f"has no {name}.", section, table, number, name, remedy=remedy)
            if LONGEST.get(name) and len(cell) > LONGEST[name]:
                message = f"has more than {LONGEST[name]} characters."
                raise document.error(message, section, table, number, name, remedy="Shorten it.")
            columns[name].append(cell)
        for name, kind in (*((name, dict) for name in mappings), (flag, bool)):
            cell = row.get(name, kind())
            if not isinstance(cell, kind):
                raise document.error(
                    "has the wrong type.", section, table, number, name, remedy="Correct it."
                )
            columns[name].append(cell)
        columns["file"].append(document.file)
        columns["row"].append(document.lines.get((section, table, number), 0))
    return columns


def built_in_names() -> list[str]:
    """Return the names of the built-in templates."""
    return sorted(path.name.removesuffix(SUFFIX) for path in FOLDER.glob(f"*{SUFFIX}"))


def built_in_file(name: str) -> bytes:
    """Return the file of a built-in template."""
    if name not in built_in_names():
        raise UnknownName("template", name, built_in_names())
    return (FOLDER / f"{name}{SUFFIX}").read_bytes()


@cache
def built_in_templates() -> tuple[dict[str, str], ...]:
    """Return name, title, task and description of every built-in template."""
    studies = {
        name: parse_document(built_in_file(name), file=name).section("study") for name in built_in_names()
    }
    return tuple(
        {"name": name, **{key: str(study[key]).strip() for key in ("title", "task", "description")}}
        for name, study in studies.items()
    )
