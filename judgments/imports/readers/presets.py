"""Presets over tables: which columns of another tool's export are ours, and how the export is recognized."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path

import pandas as pd

from analysis.errors import BadInput, MissingColumns
from experiments.materials.encoding import read_text
from experiments.materials.readers.json_text import parse_json
from experiments.materials.readers.sheets import json_lines
from judgments.imports.readers import shapes
from judgments.imports.readers.base import JudgmentFile, Rows, SourceOptions, refuse_empty
from judgments.imports.readers.table import judgments_from_rows, table_rows


@dataclass(frozen=True)
class Preset:
    """How exports of one tool are read.

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
        Columns that identify people or say nothing of a trial, with ``*``.
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
        "Label Studio: JSON or JSON-MIN",
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
        "Potato: annotated_instances as CSV, TSV or JSONL",
        ("user|user_id", "instance_id|id", "*:::*|label_annotations"),
        shapes.potato_rows,
        {
            "participant": ("user", "user_id"),
            "item": ("instance_id", "id"),
            "sentence": ("displayed_text",),
        },
        not_kept=("span_annotations", "behavioral_data"),
    ),
}


def read_preset(path: Path, options: SourceOptions, *, format: str) -> JudgmentFile:
    """Read an export by the preset of its tool."""
    rows, mapping = preset_rows(path, options, format=format)
    return judgments_from_rows(rows, replace(options, mapping=mapping), format=format)


def preset_rows(path: Path, options: SourceOptions, *, format: str) -> tuple[Rows, dict[str, str]]:
    """Return one row for each judgment, and the mapping of the preset with that of the options."""
    preset = PRESETS[format]
    rows = raw_rows(path, options)
    names = [str(name) for name in rows.frame.columns]
    absent = [pattern for pattern in preset.signature if not _has(names, pattern)]
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
        records = document if isinstance(document, list) else []
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
    frame = pd.DataFrame([record for _, record in lines], index=[line for line, _ in lines], dtype=object)
    return Rows(frame, path.name, f"{decoded.description}, JSON", inferred=decoded.check)


def recognized_format(path: Path, options: SourceOptions) -> tuple[str, str]:
    """Return the preset whose columns a file has, and by which; empty where it is none or cannot be read."""
    try:
        names = [str(name) for name in raw_rows(path, options).frame.columns]
    except BadInput:
        return "", ""
    for format, preset in PRESETS.items():
        if all(_has(names, pattern) for pattern in preset.signature):
            columns = [next(name for name in names if _has([name], pattern)) for pattern in preset.signature]
            return format, f"it has the columns {', '.join(columns)}"
    return "", ""


def _has(names: list[str], pattern: str) -> bool:
    return any(fnmatchcase(name, part) for part in pattern.split("|") for name in names)
