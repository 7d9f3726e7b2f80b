"""Presets over tables: which columns of another tool's export are ours, and how the export is recognized."""

import gzip
import json
import tempfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from analysis.errors import BadInput, MissingColumns
from experiments.materials.encoding import read_text
from experiments.materials.readers.json_text import parse_json
from experiments.materials.readers.sheets import json_lines, json_records, object_frame
from experiments.materials.readers.spreadsheets import SUFFIXES as SPREADSHEETS
from experiments.materials.readers.tool_files import has_columns, matching_columns
from judgments.imports.readers import shapes
from judgments.imports.readers.base import JudgmentFile, Rows, SourceOptions, refuse_empty
from judgments.imports.readers.table import judgments_from_rows, table_rows

HEAD_BYTES = 256 * 1024  # by which a file is recognized; a request reads no more of a text file
WHOLE = {".zip", ".parquet", *SPREADSHEETS}  # the columns of these are not at their beginning


@dataclass(frozen=True)
class Preset:
    """Rules for reading exports of one tool.

    Attributes
    ----------
    label : str
        Name on pages.
    signature : tuple of str
        Columns by which an export is recognized, with ``*``; of alternatives joined by ``|`` one is enough.
    shape : callable
        Makes one row of each judgment.
    columns : mapping of str to tuple of str
        Our column → columns of the export; the first that the file has is taken.
    background : mapping of str to str
        Question → column kept with the participant.
    not_kept : tuple of str
        Columns that identify participants or are irrelevant to a trial, with ``*``.
    """

    label: str
    signature: tuple[str, ...]
    shape: Callable[[Rows, SourceOptions], shapes.Shaped]
    columns: Mapping[str, tuple[str, ...]]
    background: Mapping[str, str] = field(default_factory=dict)
    not_kept: tuple[str, ...] = ()


PRESETS: Mapping[str, Preset] = {
    "qualtrics": Preset(
        "Qualtrics: CSV or TSV with its three header rows",
        ("StartDate", "ResponseId", "Status"),
        shapes.qualtrics_rows,
        {"value": ("value",), "item": ("item",), "sentence": ("sentence",)},
        not_kept=(
            "IPAddress",
            "Recipient*",
            "Location*",
            "ExternalReference",
            "Q_RelevantID*",
            "StartDate",
            "EndDate",
            "RecordedDate",
        ),
    ),
    "gorilla": Preset(
        "Gorilla: events of a task",
        ("Event Index", "Participant Private ID"),
        shapes.gorilla_rows,
        {
            "participant": ("Participant Private ID",),
            "value": ("Response",),
            "position": ("Trial Number",),
            "rt_ms": ("Reaction Time",),
            "correct": ("Correct",),
        },
        not_kept=(
            "Participant Public ID",
            "Participant External*",
            "Participant Completion*",
            "UTC*",
            "Local*",
        ),
    ),
    "otree": Preset(
        "oTree: all apps, wide",
        ("participant.code", "*.1.player.*"),
        shapes.otree_rows,
        {"position": ("position",)},
        not_kept=("participant.mturk*", "participant.ip*", "participant.time*", "participant._*"),
    ),
    "label-studio": Preset(
        "Label Studio: JSON, JSON-MIN, CSV or TSV",
        ("annotations|annotator", "data|annotation_id"),
        shapes.label_studio_rows,
        {
            "participant": ("annotator",),
            "item": ("item", "item_id", "task_id", "id"),
            "sentence": ("text", "sentence"),
            "rt_ms": ("rt_ms",),
        },
        not_kept=("created_at", "updated_at", "meta"),
    ),
    "potato": Preset(
        "Potato: exports as CSV, TSV or JSONL, or user_state.json",
        ("user|user_id", "instance_id|id", "*:::*|*.*|label_annotations|labels"),
        shapes.potato_rows,
        {
            "participant": ("user", "user_id"),
            "item": ("instance_id", "id"),
            "sentence": ("displayed_text",),
            "position": ("position",),
        },
        not_kept=("span_annotations", "behavioral_data", "spans", "links", "*._*"),
    ),
}


def read_preset(
    path: Path, options: SourceOptions, *, format: str, table: tuple[Rows, dict[str, str]] | None = None
) -> JudgmentFile:
    """Read an export by the preset of its tool; ``table`` is the result of :func:`preset_rows`, if known."""
    rows, mapping = table or preset_rows(path, options, format=format)
    missing = options.missing
    if format == "qualtrics" and "value" in rows.frame.columns and rows.frame["value"].eq("-99").any():
        missing = (*missing, "-99")  # Qualtrics' code for questions that were seen but not answered
    return judgments_from_rows(rows, replace(options, mapping=mapping, missing=missing), format=format)


def preset_rows(path: Path, options: SourceOptions, *, format: str) -> tuple[Rows, dict[str, str]]:
    """Return one row for each judgment, and the mapping of the preset with that of the options."""
    preset = PRESETS[format]
    rows = raw_rows(path, options)
    names = [str(name) for name in rows.frame.columns]
    absent = [pattern for pattern in preset.signature if not matching_columns(names, pattern)]
    if absent:
        raise MissingColumns(absent, existing=names, file=rows.file)
    refuse_empty(rows.frame, file=rows.file, remedy=f"Give a file with answers ({preset.label}).")
    rows, mapping = preset.shape(rows, options)
    refuse_empty(rows.frame, file=rows.file, remedy="; ".join(rows.notes) or "Give a file with answers.")
    left_out = [name for name in rows.frame.columns if any(fnmatchcase(name, p) for p in preset.not_kept)]
    kept = {*mapping.values(), *options.mapping.values()}
    rows = replace(rows, frame=rows.frame.drop(columns=[name for name in left_out if name not in kept]))
    existing = [str(name) for name in rows.frame.columns]
    for ours, candidates in preset.columns.items():
        column = next((name for name in candidates if name in existing), "")
        if column and ours not in mapping:
            mapping[ours] = column
    chosen = {
        ours: column for ours, column in options.mapping.items() if ours != "value" or column in existing
    }
    return rows, mapping | chosen


def raw_rows(path: Path, options: SourceOptions) -> Rows:
    """Read a table or JSON with the values as they are; the index is the line or the number of the object."""
    name = path.name.removesuffix(".gz")
    if not name.endswith((".json", ".jsonl", ".ndjson")):
        return table_rows(path, encoding=options.encoding, sheet=options.sheet)
    decoded = read_text(path, encoding=options.encoding)
    if name.endswith(".json"):
        document = parse_json(decoded.text, file=path.name)
        if isinstance(document, dict) and STATE_LABELS in document:
            document = state_records(document, file=path.name)
        records, _ = json_records(document)
        wrong = [number for number, record in enumerate(records, start=1) if not isinstance(record, dict)]
        if wrong or not records:
            raise BadInput(
                "is no list of objects.",
                file=path.name,
                row=wrong[0] if wrong else None,
                remedy="Give the JSON as it was exported.",
            )
        lines = list(enumerate(records, start=1))
    else:
        lines = list(json_lines(decoded))
    frame = object_frame(
        [record for _, record in lines],
        [line for line, _ in lines],
        n_bytes=len(decoded.text),
        file=path.name,
    )
    return Rows(frame, path.name, f"{decoded.description}, JSON", inferred=decoded.check)


def recognized_format(path: Path, options: SourceOptions) -> tuple[str, str]:
    """Return the format of a file, and by what it was recognized; empty where it is none."""
    if found := _program_format(path):
        return found
    try:
        names = _first_columns(path, options)
    except (BadInput, OSError, EOFError, zlib.error):
        return "", ""
    for format, preset in PRESETS.items():
        if has_columns(names, preset.signature):
            columns = [matching_columns(names, pattern)[0] for pattern in preset.signature]
            return format, f"it has the columns {', '.join(columns)}"
    return "", ""


def _program_format(path: Path) -> tuple[str, str] | None:
    """Return the format of a file that a program for experiments wrote, by the first bytes of its text."""
    if path.is_dir() or path.suffix.lower() in WHOLE:
        return None
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            text = file.read(HEAD_BYTES).decode("utf-8-sig", "ignore")
    except (OSError, EOFError, zlib.error):
        return None
    header = text.lstrip().split("\n", 1)[0]
    if header.startswith("#") and "PennElementName" in text:
        return "pcibex", "its comments name PennElementName"
    if header.startswith("#") and ("Controller name" in text or "...First 7..." in text):
        return "ibex", "its comments name the columns of controllers"
    is_json = header[:1] in ("[", "{")
    if all(name in (text if is_json else header) for name in ("trial_type", "trial_index")):
        return "jspsych", "it has the fields trial_type and trial_index"
    if not is_json and all(name in header for name in ("HITId", "AssignmentId", "Input.")):
        return "mturk-batch", "it has the columns HITId, AssignmentId and Input."
    return None


def _first_columns(path: Path, options: SourceOptions) -> list[str]:
    """Return the columns of a file from its first bytes; spreadsheets and Parquet are read whole."""
    name = path.name.removesuffix(".gz")
    if path.suffix.lower() in WHOLE or path.stat().st_size < HEAD_BYTES and path.suffix != ".gz":
        return [str(column) for column in raw_rows(path, options).frame.columns]
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        head = file.read(HEAD_BYTES)  # a packed file may be cut off behind these bytes
    if name.endswith(".json") and len(head) == HEAD_BYTES:
        text = head.decode("utf-8-sig", "ignore")
        if text.lstrip().startswith("{"):
            return ["user", "instance_id", "label_annotations"] if f'"{STATE_LABELS}"' in text else []
        try:
            first, _ = json.JSONDecoder().raw_decode(text, text.index("{"))
        except (ValueError, RecursionError):
            return []
        return list(map(str, first))
    with tempfile.TemporaryDirectory() as folder:
        part = Path(folder) / name
        part.write_bytes(_whole_lines(head) if len(head) == HEAD_BYTES else head)
        return [str(column) for column in raw_rows(part, options).frame.columns]


def _whole_lines(head: bytes) -> bytes:
    """Cut the beginning of a text at the last line end that is outside quotation marks."""
    is_wide = head.startswith(b"\xff\xfe")  # UTF-16, little-endian: a line end is followed by a zero byte
    ending = b"\n\0" if is_wide else b"\n"
    end = len(head)
    while (end := head.rfind(ending, 0, end)) > 0:
        if head.count(b'"', 0, end) % 2 == 0:
            return head[: end + len(ending)]
    return head


STATE_LABELS = "instance_id_to_label_to_value"


def state_records(state: Mapping[str, Any], *, file: str) -> list[dict[str, Any]]:
    """Return one record for each instance that the annotator of Potato's ``user_state.json`` has labelled.

    Potato writes the labels of an instance as ``{schema: {label: value}}`` or, from version 2, as pairs
    ``[{"schema": …, "name": …}, value]``. The order is that in which the instances were assigned.
    """
    user, labelled = state.get("user_id"), state[STATE_LABELS]
    if not isinstance(user, str) or not user or not isinstance(labelled, dict):
        raise BadInput(
            "is no state of an annotator.",
            file=file,
            column="user_id" if isinstance(labelled, dict) else STATE_LABELS,
            remedy="Give user_state.json as Potato wrote it.",
        )
    assigned = state.get("instance_id_ordering")
    order = [str(name) for name in assigned] if isinstance(assigned, list) else []
    names = [name for name in order if name in labelled]
    names += [name for name in labelled if name not in set(order)]
    return [
        {
            "user": user,
            "instance_id": name,
            "position": position,
            "label_annotations": _state_labels(labelled[name], row=position, file=file),
        }
        for position, name in enumerate(names, start=1)
    ]


def _state_labels(labels: Any, *, row: int, file: str) -> dict[str, dict[str, Any]]:
    """Return the labels of one instance as schema → label → value."""
    if isinstance(labels, dict):
        if all(isinstance(values, dict) for values in labels.values()):
            return labels
    elif isinstance(labels, list):
        schemas: dict[str, dict[str, Any]] = {}
        pairs = [pair for pair in labels if isinstance(pair, list) and len(pair) == 2]
        names = [label for label, _ in pairs if isinstance(label, dict) and {"schema", "name"} <= set(label)]
        if len(names) == len(labels):
            for label, value in pairs:
                schemas.setdefault(str(label["schema"]), {})[str(label["name"])] = value
            return schemas
    raise BadInput(
        "the labels of an instance are no pairs of label and value.",
        file=file,
        row=row,
        column=STATE_LABELS,
        remedy="Give user_state.json as Potato wrote it.",
    )
