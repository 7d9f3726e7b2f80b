"""Write a study as a template: its plan and, where they are small enough, its materials."""

from typing import Any

from experiments.models import Design, Experiment, MaterialSet, MinimalPair, Sentence
from releases.gold.plans import current_plan_row
from releases.study_templates.document import write_document

#: Settings of a study that its template carries. Everything else stays: participants, pay, codes, dates.
STUDY_FIELDS = (
    "title", "description", "task", "parameters", "language", "public_title", "consent", "consent_statements",
    "instructions", "quiz", "quiz_failure", "practice", "practice_expected", "practice_other", "anchors",
    "catch_trials", "questionnaire", "debrief", "closing_questions", "closing_comment", "context_display",
    "context_ms", "context_label", "deadline_ms", "deadline_bar",
    "participant_texts", "target_judgments", "max_participants", "quotas", "lease_minutes",
    "resume_gap_minutes", "resume_limit_days", "lab_mode",
)  # fmt: skip
#: What a template never carries, although the study has it.
LEFT_OUT_FIELDS = (
    "id", "slug", "public_slug", "owner", "lab", "origin", "status", "materials", "contact", "completion",
    "completion_code", "completion_url", "screen_out_code", "partial_code", "reward_minor", "currency",
    "target_unit", "seed", "current_round", "created_at", "updated_at", "opened_at", "closed_at",
    "archived_at", "folder",
)  # fmt: skip
DESIGN_FIELDS = (
    "kind", "n_lists", "items_per_paradigm", "rounds", "filler_ratio", "anchor_order", "catch_per_list",
    "trials_per_block", "order", "constraints", "seed",
)  # fmt: skip
MOST_SENTENCES = 3_000  # of materials in a template: about half of the largest file
SENTENCE_FIELDS = (
    "condition", "expected", "mark", "critical_region", "language", "attributes", "factors", "is_filler",
)  # fmt: skip


def build_template(study: Experiment, *, with_materials: bool = True) -> str:
    """Return the study's template; materials of more than 3,000 sentences are named by checksum only."""
    design = Design.objects.filter(experiment=study).first() or Design(seed=study.seed)
    plan = current_plan_row(study)
    sections = {
        "study": _without_defaults(
            study, STUDY_FIELDS, keep=("title", "task", "language", "closing_comment", "context_display")
        ),
        "design": {name: getattr(design, name) for name in DESIGN_FIELDS},
        "exclusion_plan": {"name": plan.name, "steps": plan.steps} if plan else None,
        "materials": _materials(study.materials, with_rows=with_materials),
        "fillers": _materials(design.filler_materials, with_rows=with_materials),
    }
    return write_document({name: values for name, values in sections.items() if values})


def _without_defaults(study: Experiment, names: tuple[str, ...], *, keep: tuple[str, ...]) -> dict[str, Any]:
    """Return the fields whose value is not that of a new row, so that files stay short."""
    empty = Experiment()
    values = {name: getattr(study, name) for name in names}
    return {name: value for name, value in values.items() if name in keep or value != getattr(empty, name)}


def _materials(materials: MaterialSet | None, *, with_rows: bool) -> dict[str, Any] | None:
    if materials is None:
        return None
    sentences = Sentence.objects.filter(material_set=materials).order_by("pk")
    facts = {
        "name": materials.name,
        "language": materials.language,
        "source": materials.source,
        "licence": materials.licence,
        "checksum": materials.checksum,
        "factors": materials.factors,
    }
    facts = {name: value for name, value in facts.items() if value}
    if not with_rows or sentences.count() > MOST_SENTENCES:
        return facts
    pairs = MinimalPair.objects.filter(material_set=materials).order_by("pk")
    groups = ("paradigm", "paradigm__phenomenon")
    return {
        **facts,
        "sentences": [
            _row(
                {"sentence_id": row.key, "item": row.item.key, "text": row.text},
                _groups(row.item.paradigm),
                {name: getattr(row, name) for name in SENTENCE_FIELDS},
            )
            for row in sentences.select_related("item", *(f"item__{name}" for name in groups))
        ],
        "pairs": [
            _row(
                {
                    "pair_id": row.key,
                    "item": row.good.item.key,
                    "good_id": row.good.key,
                    "bad_id": row.bad.key,
                },
                _groups(row.paradigm),
                {name: getattr(row, name) for name in ("fields", "discard", "discard_reason")},
            )
            for row in pairs.select_related("good__item", "bad", *groups)
        ],
    }


def _groups(paradigm: Any) -> dict[str, str]:
    phenomenon = paradigm.phenomenon if paradigm else None
    return {
        "paradigm": paradigm.name if paradigm else "",
        "phenomenon": phenomenon.name if phenomenon else "",
    }


def _row(ids: dict[str, Any], *others: dict[str, Any]) -> dict[str, Any]:
    """Return ids and every other cell that is not empty."""
    return ids | {name: value for values in others for name, value in values.items() if value}
