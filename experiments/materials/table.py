"""Any table of sentences or pairs: CSV, TSV, JSONL or Parquet, with or without a mapping of its columns."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.errors import BadInput, MissingColumns
from experiments.materials.collection import Materials, pair_frame, require_unique, sentence_frame
from experiments.materials.markup import COLUMN, said
from experiments.materials.pairing import pair_conditions
from experiments.materials.report import Finding
from experiments.materials.schema import (
    ACCEPTABLE,
    PAIR_FIELDS,
    SENTENCE_FIELDS,
    UNACCEPTABLE,
    WIDE_FIELDS,
    expected_status,
    understand_columns,
)
from experiments.materials.sheets import Sheet, read_sheet

_DISCARDED = {"x", "1", "true", "yes", "discard"}


def read_tables(
    paths: Sequence[Path], *, mapping: Mapping[str, str] | None = None, encoding: str = ""
) -> Materials:
    """Read tables of sentences, tables of pairs by sentence ids, and tables with both sentences of a pair.

    Parameters
    ----------
    paths : sequence of Path
        What a file holds is seen from its columns; a table of pairs needs its table of sentences beside it.
    mapping : mapping of str to str, optional
        Our column → the file's column, before every guess.
    encoding : str
        Taken instead of the detection.

    Returns
    -------
    Materials
        Without a table of pairs, every item gives all its acceptable × unacceptable pairs. Columns without a
        meaning for us are kept: with the sentence in ``attributes``, with the pair in ``fields``.

    Raises
    ------
    MissingColumns
        If a file has neither a sentence, nor two sentences, nor two sentence ids in a row.
    BadInput
        For an empty sentence, a status that is not understood, an id given twice, a pair with one member.
    """
    sheets = [read_sheet(path, encoding=encoding) for path in paths]
    _require_mapped(sheets, mapping or {})
    sentences, pairs, findings = [], [], []
    understood: dict[str, str] = {}
    for sheet in sheets:
        kind, columns = _kind(sheet, mapping)
        understood |= columns
        if kind == "pairs":
            pairs.append(_pairs(sheet, columns))
        elif kind == "wide":
            members, couples = _wide(sheet, columns)
            sentences.append(members)
            pairs.append(couples)
        else:
            rows, seen = _sentences(sheet, columns)
            sentences.append(rows)
            findings += seen
    if not sentences:
        raise BadInput(
            "a table of pairs needs its table of sentences.",
            file=sheets[0].file,
            remedy="Give both files in one import.",
        )
    return _assembled(sheets, sentences, pairs, understood, findings)


def _assembled(
    sheets: list[Sheet],
    sentences: list[pd.DataFrame],
    pairs: list[pd.DataFrame],
    understood: dict[str, str],
    findings: list[Finding],
) -> Materials:
    every = _with_item_keys(pd.concat(sentences, ignore_index=True))
    require_unique(every, "sentence_id")
    couples = pd.concat(pairs, ignore_index=True) if pairs else pair_conditions(every)
    couples = _with_groups(couples, every)
    require_unique(couples, "pair_id")
    sources = tuple(sheet.source for sheet in sheets)
    return Materials("table", every, couples, sources, understood, tuple(findings))


def _require_mapped(sheets: Sequence[Sheet], mapping: Mapping[str, str]) -> None:
    """Refuse a mapping to a column that no file has."""
    found = list(dict.fromkeys(str(name) for sheet in sheets for name in sheet.frame.columns))
    absent = [theirs for theirs in mapping.values() if theirs and theirs not in found]
    if absent:
        raise MissingColumns(absent, found=found, file=", ".join(sheet.file for sheet in sheets))


def _kind(sheet: Sheet, mapping: Mapping[str, str] | None) -> tuple[str, dict[str, str]]:
    """Say what a row of the sheet is: a sentence, a pair by ids, or a pair written out."""
    names = [str(column) for column in sheet.frame.columns]
    for kind, fields, needed in (
        ("pairs", PAIR_FIELDS, ("good_id", "bad_id")),
        ("wide", WIDE_FIELDS, ("good", "bad")),
        ("sentences", SENTENCE_FIELDS, ("sentence",)),
    ):
        here = {ours: theirs for ours, theirs in (mapping or {}).items() if not theirs or theirs in names}
        columns = understand_columns(names, fields, mapping=here, file=sheet.file)
        if all(name in columns for name in needed):
            return kind, columns
    raise MissingColumns(["sentence (or good and bad, or good_id and bad_id)"], found=names, file=sheet.file)


def _texts(sheet: Sheet, columns: Mapping[str, str], name: str) -> list[str]:
    if name not in columns:
        return [""] * len(sheet.frame)
    return [_as_text(value) for value in sheet.frame[columns[name]].tolist()]


def _as_text(value: Any) -> str:
    """Write a cell as text; a whole number read from JSON or Parquet has no decimals."""
    if value is None or (isinstance(value, float) and value != value):
        return ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _extras(sheet: Sheet, columns: Mapping[str, str]) -> list[dict[str, Any]]:
    """Columns without a meaning for us, as one dict per row; empty cells are left out."""
    others = [name for name in sheet.frame.columns if name not in columns.values()]
    lists = [sheet.frame[name].tolist() for name in others]
    rows: list[dict[str, Any]] = [{} for _ in range(len(sheet.frame))]
    for name, values in zip(others, lists, strict=True):
        for row, value in zip(rows, values, strict=True):
            if _as_text(value) != "":
                row[str(name)] = value
    return rows


def _refuse_empty(sheet: Sheet, columns: Mapping[str, str], name: str, *, message: str) -> None:
    for row, text in zip(sheet.frame.index, _texts(sheet, columns, name), strict=True):
        if not text.strip():
            raise BadInput(message, file=sheet.file, row=int(row), column=columns[name])


def _sentences(sheet: Sheet, columns: dict[str, str]) -> tuple[pd.DataFrame, list[Finding]]:
    _refuse_empty(sheet, columns, "sentence", message="the sentence is empty.")
    given = _grouped({name: _texts(sheet, columns, name) for name in SENTENCE_FIELDS})
    expected, mark = _statuses(sheet, columns, given)
    frame = sentence_frame(
        sentence_id=_sentence_ids(sheet, given),
        text=given["sentence"],
        expected=expected,
        mark=mark,
        language=given["sentence_language"],
        attributes=_extras(sheet, columns),
        file=[sheet.file] * len(sheet.frame),
        row=sheet.frame.index.tolist(),
        **{name: given[name] for name in ("item", "condition", "paradigm", "phenomenon", "critical_region")},
    )
    findings = []
    if "sentence_id" not in columns:
        message = "no column names the sentences; they are named by item and condition, or by line."
        findings.append(Finding("note", "ids_made", message, file=sheet.file))
    return frame, findings


def _statuses(
    sheet: Sheet, columns: Mapping[str, str], given: Mapping[str, list[str]]
) -> tuple[list[str], list[str]]:
    """Understand the column ``expected``; a mark in it, such as ``??``, is kept as the mark."""
    expected, marks = [], []
    for row, value, mark in zip(sheet.frame.index, given["expected"], given["mark"], strict=True):
        status = expected_status(value)
        if status is None:
            raise BadInput(
                f"{value!r} is not a status.",
                file=sheet.file,
                row=int(row),
                column=columns["expected"],
                remedy="Write acceptable or unacceptable (or 1 and 0), or map the column to another field.",
            )
        expected.append(status)
        marks.append(mark or (value.strip() if set(value.strip()) <= set("*?#%") else ""))
    return expected, marks


def _sentence_ids(sheet: Sheet, given: Mapping[str, list[str]]) -> list[str]:
    if any(given["sentence_id"]):
        for row, name in zip(sheet.frame.index, given["sentence_id"], strict=True):
            if not name.strip():
                raise BadInput("the sentence has no id.", file=sheet.file, row=int(row), column="sentence_id")
        return given["sentence_id"]
    parts = zip(given["paradigm"], given["item"], given["condition"], strict=True)
    cells = [":".join(part for part in cell if part) for cell in parts]
    if all(given["item"]) and len(set(cells)) == len(cells):
        return cells
    stem = sheet.file.split(".")[0]
    return [f"{stem}:{row}" for row in sheet.frame.index]


def _wide(sheet: Sheet, columns: Mapping[str, str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Two sentences and a pair from each row."""
    for name in ("good", "bad"):
        _refuse_empty(sheet, columns, name, message="a pair with one member.")
    given = _grouped({name: _texts(sheet, columns, name) for name in WIDE_FIELDS})
    markup = [{COLUMN: word} if (word := said(extras)) else {} for extras in _extras(sheet, columns)]
    stem = sheet.file.split(".")[0]
    numbered = [f"{stem}:{row}" for row in sheet.frame.index]
    pair_ids = [given_id or made for given_id, made in zip(given["pair_id"], numbered, strict=True)]
    items = [item or pair_id for item, pair_id in zip(given["item"], pair_ids, strict=True)]
    if len(set(items)) < len(items):
        items = pair_ids
    shared = {"paradigm": given["paradigm"], "phenomenon": given["phenomenon"], "item": items}
    shared |= {"file": [sheet.file] * len(items), "row": sheet.frame.index.tolist()}
    pairs = pair_frame(
        pair_id=pair_ids,
        good_id=[f"{pair_id}:good" for pair_id in pair_ids],
        bad_id=[f"{pair_id}:bad" for pair_id in pair_ids],
        fields=sheet.frame.to_dict("records"),
        **shared,
    )
    members = [
        sentence_frame(
            sentence_id=[f"{pair_id}:{name}" for pair_id in pair_ids],
            condition=[name] * len(items),
            text=given[name],
            expected=[status] * len(items),
            attributes=[dict(one) for one in markup],
            **shared,
        )
        for name, status in (("good", ACCEPTABLE), ("bad", UNACCEPTABLE))
    ]
    return pd.concat(members).sort_index(kind="stable"), pairs


def _pairs(sheet: Sheet, columns: Mapping[str, str]) -> pd.DataFrame:
    for name in ("good_id", "bad_id"):
        _refuse_empty(sheet, columns, name, message="a pair with one member.")
    given = {name: _texts(sheet, columns, name) for name in PAIR_FIELDS}
    ids = zip(given["pair_id"], given["good_id"], given["bad_id"], strict=True)
    discard = [mark.strip().lower() in _DISCARDED for mark in given["discard"]]
    return pair_frame(
        pair_id=[pair_id or f"{good}|{bad}" for pair_id, good, bad in ids],
        good_id=given["good_id"],
        bad_id=given["bad_id"],
        paradigm=given["paradigm"],
        phenomenon=given["phenomenon"],
        fields=sheet.frame.to_dict("records"),
        discard=discard,
        discard_reason=["marked in its file" if marked else "" for marked in discard],
        file=[sheet.file] * len(discard),
        row=sheet.frame.index.tolist(),
    )


def _grouped(given: dict[str, list[str]]) -> dict[str, list[str]]:
    """Make a phenomenon without paradigms one paradigm of its own name: it is kept, and reported like any."""
    named = zip(given["paradigm"], given["phenomenon"], strict=True)
    return {**given, "paradigm": [paradigm or phenomenon for paradigm, phenomenon in named]}


def _with_item_keys(sentences: pd.DataFrame) -> pd.DataFrame:
    """Make items unique in the set: numbered afresh in each paradigm, they are named by paradigm and item.

    A sentence without an item is an item of its own.
    """
    items = sentences["item"].where(sentences["item"] != "", sentences["sentence_id"])
    several = sentences.assign(item=items).groupby("item")["paradigm"].nunique() > 1
    if several.any():
        named = sentences["paradigm"] + ":" + items
        items = named.where(sentences["paradigm"] != "", items)
    return sentences.assign(item=items)


def _with_groups(pairs: pd.DataFrame, sentences: pd.DataFrame) -> pd.DataFrame:
    """Fill a pair's item, paradigm and phenomenon from its good sentence; refuse unknown sentences."""
    known = sentences.set_index("sentence_id")
    for name in ("good_id", "bad_id"):
        absent = ~pairs[name].isin(known.index)
        if absent.any():
            first = pairs[absent].iloc[0]
            raise BadInput(
                f"there is no sentence {first[name]!r}.",
                file=first["file"],
                row=int(first["row"]),
                column=name,
            )
    filled = {}
    for name in ("item", "paradigm", "phenomenon"):
        of_good = pairs["good_id"].map(known[name])
        filled[name] = pairs[name].where(pairs[name] != "", of_good) if name != "item" else of_good
    filled["paradigm"] = filled["paradigm"].where(filled["paradigm"] != "", filled["phenomenon"])
    return pairs.assign(**filled)
