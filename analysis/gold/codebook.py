"""The codebook of a release: columns of each file, their meaning, and the data package."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..columns import CONTRACT, ITEM_COLUMNS, JUDGMENT_COLUMNS, Column
from .citation import Licence
from .tables import HUMAN_PAIR_COLUMNS, HUMAN_SENTENCE_COLUMNS
from .writers import BLIMP_FIELDS

JUDGMENT_FILE = (
    *CONTRACT,
    "list",
    "round",
    "kind",
    "pair_id",
    "paradigm",
    "phenomenon",
    "expected",
    "expected_first",
    "correct",
    "status",
    "scale_low",
    "scale_high",
    "modulus",
    "session_status",
    "submission_status",
    "excluded_by",
)
SENTENCE_FILE = (
    "sentence_id",
    "item",
    "condition",
    "paradigm",
    "phenomenon",
    "expected",
    "sentence",
    *HUMAN_SENTENCE_COLUMNS,
)
PAIR_FILE = ("pair_id", "good_id", "bad_id", "paradigm", "phenomenon")
PAIR_RECORD = (*BLIMP_FIELDS, *PAIR_FILE, *HUMAN_PAIR_COLUMNS, "paradigm_status")
HUMAN_FILE = ("sentence_id", "score", "n", "sd")
PARTICIPANT_FILE = ("participant", "native", "simulated", "sessions", "judgments", "kept", "excluded_by")
EXCLUSION_FILE = ("participant", "session", "trial", "step", "reason")
DEVIATION_FILE = (
    "key",
    "aspect",
    "planned",
    "done",
    "verdict",
    "stated_in",
    "since",
    "sessions_affected",
    "reason",
    "reason_at",
)
FACTOR_FILES = ("sentences.csv", "judgments.csv")

RELEASE_COLUMNS = {
    column.name: column
    for column in (
        Column("sentence", "text", "The sentence exactly as it was shown."),
        Column(
            "context",
            "text",
            "Text before the sentence, which models read and do not score; methods.md tells whether "
            "participants saw it.",
        ),
        Column(
            "context_ms",
            "integer",
            "How long the context was shown on a separate screen before the sentence.",
            "ms",
        ),
        Column("expected", "text", "The author's intended status: acceptable or unacceptable."),
        Column("good_id", "text", "sentence_id of the member intended as acceptable."),
        Column("bad_id", "text", "sentence_id of the member intended as unacceptable."),
        Column("sentence_good", "text", "BLiMP's field: the member intended as acceptable."),
        Column("sentence_bad", "text", "BLiMP's field: the member intended as unacceptable."),
        Column("field", "text", "BLiMP's field: field of linguistics."),
        Column("linguistics_term", "text", "BLiMP's field: the phenomenon."),
        Column("UID", "text", "BLiMP's field: the paradigm."),
        Column(
            "simple_LM_method", "flag", "BLiMP's field: the pair can be scored by whole-sentence probability."
        ),
        Column("one_prefix_method", "flag", "BLiMP's field: members differ in one word after one prefix."),
        Column("two_prefix_method", "flag", "BLiMP's field: the same word follows two prefixes."),
        Column("lexically_identical", "flag", "BLiMP's field: both members hold the same words."),
        Column("pairID", "text", "BLiMP's field: number of the pair in its paradigm."),
        Column("paradigm_status", "text", "included, rejected or insufficient_items by the release's rule."),
        Column("human_n", "integer", "Kept judgments."),
        Column("human_k", "integer", "Kept judgments that chose the expected member, or said yes."),
        Column("human_k_bad", "integer", "Kept judgments that chose the other member (forced choice)."),
        Column("human_n_both", "integer", "Of human_n, answers that both are good (where they count)."),
        Column("human_n_neither", "integer", "Of human_n, answers that neither is good (where they count)."),
        Column(
            "human_share",
            "number",
            "human_k / human_n; where both and neither count one half, (human_k + half of them) / human_n.",
        ),
        Column("human_ci_low", "number", "Lower end of the 95 % Wilson interval of human_share."),
        Column("human_ci_high", "number", "Upper end of the 95 % Wilson interval of human_share."),
        Column("human_mean", "number", "Mean of participants' z-scores (ddof 1); yes-no: the share of yes."),
        Column("human_sd", "number", "Standard deviation (ddof 1) over judgments."),
        Column("human_se", "number", "human_sd / sqrt(n)."),
        Column("human_mean_raw", "number", "Mean of the raw values."),
        Column("human_n_good", "integer", "Kept judgments of the expected member."),
        Column("human_n_bad", "integer", "Kept judgments of the other member."),
        Column("human_mean_good", "number", "human_mean of the expected member."),
        Column("human_mean_bad", "number", "human_mean of the other member."),
        Column("human_delta", "number", "human_mean_good - human_mean_bad."),
        Column("human_label", "text", "The gold label by the stated rule, or tie or undecided."),
        Column(
            "score", "number", "Mean z-score of ratings; or the share of yes or of choices, standardized."
        ),
        Column("n", "integer", "Judgments behind the score."),
        Column("sd", "number", "Standard deviation (ddof 1) over judgments, in units of the score."),
        Column("simulated", "flag", "Whether the participant is a simulated one."),
        Column("sessions", "integer", "Sessions of the participant."),
        Column("judgments", "integer", "Judgments given."),
        Column("kept", "integer", "Judgments left after exclusions."),
        Column("source", "text", "people, or the name of a model."),
        Column("group", "text", "Phenomenon, or paradigm where no phenomenon is named."),
        Column("unit", "text", "participant or item: what name is."),
        Column("name", "text", "The participant or the item."),
        Column(
            "difference",
            "number",
            "Difference of differences: cost of the first factor's second level at the second level of the "
            "second factor, less its cost at the first level.",
            "z",
        ),
        Column("excluded_by", "text", "First step that removed the row; empty where it was kept."),
        Column("step", "text", "Exclusion step that removed the session or trial."),
        Column("reason", "text", "Why, in words."),
        Column("key", "text", "Name of the aspect, the same in every release."),
        Column("aspect", "text", "Aspect of the study that is compared with the frozen plan."),
        Column("planned", "text", "What the plan states of it, or that it does not state it."),
        Column("done", "text", "What was done."),
        Column("verdict", "text", "deviation, not stated, as planned or in progress."),
        Column("stated_in", "text", "Where the plan is stated; empty where it is not."),
        Column("since", "text", "Date (UTC) of the deviation."),
        Column("sessions_affected", "integer", "Judged sessions that the deviation concerns."),
        Column("reason_at", "text", "Time (UTC) when the reason was written."),
    )
}
MEDIA_TYPES = {
    "csv": "text/csv",
    "jsonl": "application/jsonlines",
    "parquet": "application/vnd.apache.parquet",
}
PRIMARY_KEYS = {
    "sentences.csv": "sentence_id",
    "pairs.csv": "pair_id",
    "pairs.jsonl": "pair_id",
    "judgments.csv": "trial",
    "participants.csv": "participant",
    "human.csv": "sentence_id",
    "deviations.csv": "key",
}
FOREIGN_KEYS = {
    "pairs.csv": {"good_id": "sentences.csv", "bad_id": "sentences.csv"},
    "pairs.jsonl": {"good_id": "sentences.csv", "bad_id": "sentences.csv"},
    "judgments.csv": {"participant": "participants.csv", "sentence_id": "sentences.csv"},
    "exclusions.csv": {"participant": "participants.csv"},
    "human.csv": {"sentence_id": "sentences.csv"},
}
_COUNT, _SHARE = {"minimum": 0}, {"minimum": 0, "maximum": 1}
CONSTRAINTS: dict[str, dict[str, Any]] = {
    "position": {"minimum": 1},
    "rt_ms": _COUNT,
    "context_ms": _COUNT,
    **dict.fromkeys(("human_n", "human_k", "human_k_bad", "human_n_both", "human_n_neither"), _COUNT),
    **dict.fromkeys(("human_n_good", "human_n_bad", "n", "sd", "human_sd", "human_se"), _COUNT),
    **dict.fromkeys(("sessions", "judgments", "kept", "sessions_affected"), _COUNT),
    **dict.fromkeys(("human_share", "human_ci_low", "human_ci_high"), _SHARE),
    "good_id": {"required": True},
    "bad_id": {"required": True},
    "verdict": {"enum": ["deviation", "not stated", "as planned", "in progress"]},
    "paradigm_status": {"enum": ["included", "rejected", "insufficient_items"]},
}
_TYPES = {"text": "string", "number": "number", "integer": "integer", "flag": "boolean", "time": "datetime"}


def describe(name: str) -> Column:
    """Look up the meaning of a column of a release.

    Examples
    --------
    >>> describe("rt_ms").unit
    'ms'
    """
    columns = {**JUDGMENT_COLUMNS, **ITEM_COLUMNS, **RELEASE_COLUMNS}
    if name.startswith("background_prolific_"):
        question = name.removeprefix("background_prolific_")
        return Column(name, "text", f"Answer to Prolific's {question!r}, from its demographic export.")
    if name.startswith("background_"):
        return Column(name, "text", f"Answer to the questionnaire's {name.removeprefix('background_')!r}.")
    return columns.get(name, Column(name, "text", "Column of the source, as given."))


def data_package(
    files: Mapping[str, Sequence[str]],
    *,
    name: str,
    title: str,
    licence: Licence | None = None,
    factors: Mapping[str, Sequence[str]] | None = None,
    tables: Mapping[str, pd.DataFrame] | None = None,
) -> dict[str, Any]:
    """Describe the files of a release as a Frictionless data package.

    Notes
    -----
    Types, keys and references that the rows of ``tables`` do not keep are not stated: text of a source
    that has numbers where the codebook expects text, or judgments of pairs that their source discards.

    References
    ----------
    Data Package specification, version 1 (Frictionless Data).
    """
    rows = tables or {}
    document: dict[str, Any] = {
        "profile": "data-package",
        "name": name,
        "title": title,
        "resources": [
            _resource(path, columns, factors or {}, rows, files) for path, columns in sorted(files.items())
        ],
    }
    if licence is None:
        return document
    stated = {"name": licence.name, "title": licence.title} | ({"path": licence.path} if licence.path else {})
    return document | {"licenses": [stated]}


def field_kinds(resource: Mapping[str, Any]) -> dict[str, str]:
    """Return the kind of every field of a resource of a data package; ``any`` where values differ in type."""
    kinds = {name: kind for kind, name in _TYPES.items()} | {"any": "any"}
    return {field["name"]: kinds[field["type"]] for field in resource["schema"]["fields"]}


def _resource(
    path: str,
    columns: Sequence[str],
    factors: Mapping[str, Sequence[str]],
    tables: Mapping[str, pd.DataFrame],
    files: Collection[str],
) -> dict[str, Any]:
    stem, _, suffix = path.rpartition(".")
    # A name is unique in the package: pairs.jsonl is "pairs", its table of ids "pairs-csv".
    name = f"{stem.lower()}-csv" if path == "pairs.csv" else stem.lower()
    primary, references = PRIMARY_KEYS.get(path, ""), FOREIGN_KEYS.get(path, {})
    frame = tables.get(path, pd.DataFrame(columns=list(columns), dtype=object))
    fields = []
    for column in columns:
        field = (path in FACTOR_FILES and _factor(column, factors)) or _field(describe(column))
        if suffix == "jsonl" and not _has_type(frame, column, field["type"]):
            field["type"] = "any"
        constraints = dict(CONSTRAINTS.get(column, {}))
        if column == primary:
            constraints |= {"required": True, "unique": True}
        if constraints:
            field["constraints"] = field.get("constraints", {}) | constraints
        fields.append(field)
    schema: dict[str, Any] = {"fields": fields, "missingValues": [""]}
    if primary:
        schema["primaryKey"] = primary
    keys = [
        {
            "fields": column,
            "reference": {"resource": target.removesuffix(".csv"), "fields": PRIMARY_KEYS[target]},
        }
        for column, target in references.items()
        if target in files and _refers(frame, column, tables[target][PRIMARY_KEYS[target]])
    ]
    if keys:
        schema["foreignKeys"] = keys
    return {
        "name": name,
        "path": path,
        "format": suffix,
        "mediatype": MEDIA_TYPES[suffix],
        "encoding": "utf-8",
        "schema": schema,
    }


def _has_type(frame: pd.DataFrame, column: str, kind: str) -> bool:
    """Whether all values of a column of JSON have the stated type."""
    allowed: dict[str, tuple[type, ...]] = {
        "string": (str,),
        "boolean": (bool, np.bool_),
        "integer": (int, np.integer),
        "number": (int, float, np.integer, np.floating),
    }
    values = frame[column] if column in frame.columns else pd.Series([], dtype=object)
    types = set(map(type, values[values.notna()].astype(object)))
    return all(
        issubclass(found, allowed[kind]) and (kind == "boolean" or not issubclass(found, bool))
        for found in types
    )


def _refers(frame: pd.DataFrame, column: str, targets: pd.Series) -> bool:
    """Whether every name in a column is a key of the other table."""
    if column not in frame.columns:
        return False
    names = set(map(str, frame[column].dropna().unique()))
    return names - {""} <= set(map(str, targets.unique()))


def _factor(name: str, factors: Mapping[str, Sequence[str]]) -> dict[str, Any] | None:
    """Describe the column of a factor, its levels in their order; None for other columns."""
    if name not in factors:
        return None
    column = Column(name, "text", "Level of a factor of the design; empty for fillers.")
    return _field(column) | {"constraints": {"enum": list(factors[name])}}


def _field(column: Column) -> dict[str, Any]:
    described = {"name": column.name, "type": _TYPES[column.kind], "description": column.meaning}
    return described | ({"unit": column.unit} if column.unit else {})
