"""Layouts of spreadsheets: rows above the header, a column for each condition, levels joined in one cell."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from analysis.errors import BadInput
from experiments.materials.delimited import first_lines, is_sentence
from experiments.materials.encoding import Encoding, read_text
from experiments.materials.readers.sheets import Sheet
from experiments.materials.readers.spreadsheets import first_cells, is_spreadsheet
from experiments.materials.schema import (
    JOINT,
    SENTENCE_FIELDS,
    WIDE_FIELDS,
    mapped_columns,
    recognize_columns,
)

SHOWN_ROWS, SAMPLED_ROWS = 10, 100
CONDITION, SENTENCE, ITEM = "condition", "sentence", "item"


@dataclass(frozen=True)
class Split:
    """Splitting of conditions into factors: the text between two levels, and the factors' names."""

    separator: str
    factors: tuple[str, ...] = ()


def parse_split(option: str) -> Split | None:
    """Parse ``SEPARATOR`` or ``SEPARATOR=FACTOR,FACTOR``; None for an empty option.

    Examples
    --------
    >>> parse_split("_=grammaticality,number")
    Split(separator='_', factors=('grammaticality', 'number'))
    """
    separator, _, names = option.partition("=")
    if not separator:
        return None
    return Split(separator, tuple(name.strip() for name in names.split(",") if name.strip()))


def top_rows(path: Path, *, encoding: Encoding = "", sheet: str = "") -> list[tuple[int, list[str]]]:
    """Return the first rows of a delimited file or spreadsheet with their numbers, whatever they hold."""
    if is_spreadsheet(path):
        return list(enumerate(first_cells(path, sheet=sheet, n_rows=SHOWN_ROWS), start=1))
    if path.suffix.lower() not in {".csv", ".tsv", ".txt"}:
        return []
    return first_lines(read_text(path, encoding=encoding).text, n_rows=SHOWN_ROWS)


def find_header(rows: Sequence[tuple[int, list[str]]]) -> int:
    """Return the row that has the column names where it is not the first; 0 if none is.

    It names sentences or items, and more fields than the top row; or it is the first below titles of one
    cell, and has as many different words as the rows below have cells.
    """
    n_top = _count_fields(rows[0][1]) if rows else 0
    for number, cells in rows[1:]:
        if _count_fields(cells) <= n_top:
            continue
        names = [cell.strip() for cell in cells if cell.strip()]
        sentence = recognize_columns(names, {SENTENCE: SENTENCE_FIELDS[SENTENCE]})
        members = recognize_columns(names, {name: WIDE_FIELDS[name] for name in ("good", "bad")})
        item = recognize_columns(names, {ITEM: SENTENCE_FIELDS[ITEM]})
        if len(names) > 1 and (sentence or len(members) == 2 or (item and len(names) > 2)):
            return number
    return _row_below_titles(rows)


def _row_below_titles(rows: Sequence[tuple[int, list[str]]]) -> int:
    filled = [(number, [cell.strip() for cell in cells if cell.strip()]) for number, cells in rows]
    n_titles = next((place for place, (_, cells) in enumerate(filled) if len(cells) > 1), 0)
    if not n_titles or len(filled) < n_titles + 2:
        return 0
    number, names = filled[n_titles]
    are_words = len(set(names)) == len(names) and not any(
        re.fullmatch(r"[\d.,:%+-]+", name) for name in names
    )
    is_table = all(len(cells) in (0, len(names)) for _, cells in filled[n_titles + 1 :])
    return number if are_words and is_table and not any(map(is_sentence, names)) else 0


def _count_fields(cells: Sequence[str]) -> int:
    names = [cell.strip() for cell in cells if cell.strip()]
    return len(recognize_columns(names, {**SENTENCE_FIELDS, **WIDE_FIELDS}))


def sentence_columns(sheet: Sheet) -> list[str]:
    """Return the columns whose filled cells are mostly sentences; none unless there are several."""
    names = []
    for name in sheet.frame.columns:
        cells = [str(cell) for cell in sheet.frame[name].head(SAMPLED_ROWS) if cell]
        if cells and sum(is_sentence(cell) for cell in cells) > len(cells) / 2:
            names.append(str(name))
    return names if len(names) > 1 else []


def arrange(
    sheets: Sequence[Sheet], mapping: Mapping[str, str] | None, split: Split | None
) -> tuple[Sequence[Sheet], dict[str, str]]:
    """Return sheets with one sentence in each row and one factor in each column, and their mapping."""
    chosen = dict(mapping or {})
    columns = [str(name) for sheet in sheets for name in sheet.frame.columns]
    texts = mapped_columns(chosen.get(SENTENCE, ""), columns)
    if len(texts) > 1:
        sheets = [_one_sentence_a_row(sheet, texts, item=chosen.get(ITEM, "")) for sheet in sheets]
        chosen[SENTENCE] = SENTENCE
        chosen[CONDITION] = JOINT.join(filter(None, [chosen.get(CONDITION, ""), CONDITION]))
        if not chosen.get(ITEM) and not recognize_columns(columns, {ITEM: SENTENCE_FIELDS[ITEM]}):
            chosen[ITEM] = ITEM
    if split is not None:
        split_sheets, names = [], list(split.factors)
        for sheet in sheets:
            column = chosen.get(CONDITION) or recognize_columns(
                [str(name) for name in sheet.frame.columns], {CONDITION: SENTENCE_FIELDS[CONDITION]}
            ).get(CONDITION, "")
            divided, names = _one_factor_a_column(sheet, column.rpartition(JOINT)[2], split, names)
            split_sheets.append(divided)
        sheets = split_sheets
        others = chosen.get(CONDITION, "").rpartition(JOINT)[0]
        chosen[CONDITION] = JOINT.join(filter(None, [others, *names]))
    return sheets, chosen


def _one_sentence_a_row(sheet: Sheet, columns: Sequence[str], *, item: str) -> Sheet:
    """Turn columns that hold the sentences of one condition each into rows."""
    frame = sheet.frame
    present = [column for column in columns if column in frame.columns]
    if taken := [name for name in (CONDITION, SENTENCE) if name in frame.columns and name not in present]:
        raise BadInput(
            f"a column is called {taken[0]}, beside the columns with sentences.",
            file=sheet.file,
            column=taken[0],
            remedy="Rename it.",
        )
    rest = frame.drop(columns=present)
    if ITEM not in rest.columns and not item:
        rest = rest.assign(item=[str(number) for number in range(1, len(rest) + 1)])
    parts = [rest.assign(condition=column, sentence=frame[column]) for column in present]
    rows = pd.concat(parts).sort_index(kind="stable")
    rows = rows[rows[SENTENCE].map(lambda cell: bool(str(cell or "").strip()))]
    return replace(sheet, frame=rows, kind="", columns={})


def _one_factor_a_column(
    sheet: Sheet, column: str, split: Split, names: list[str]
) -> tuple[Sheet, list[str]]:
    """Divide the cells of a column at the separator into columns of levels."""
    if column not in sheet.frame.columns:
        raise BadInput(
            "there is no column of conditions to split.", file=sheet.file, remedy="Map condition to it."
        )
    cells = [str(cell or "").strip() for cell in sheet.frame[column]]
    levels = [cell.split(split.separator) if cell else [] for cell in cells]
    n_factors = len(names) or max(map(len, levels), default=0)
    for row, cell, parts in zip(sheet.frame.index, cells, levels, strict=True):
        if parts and (len(parts) != n_factors or n_factors < 2):
            raise BadInput(
                f"{cell!r} has {len(parts)} parts between {split.separator!r}, and {n_factors} are expected.",
                file=sheet.file,
                row=int(row),
                column=column,
                remedy="Write each condition with a level of every factor.",
            )
    names = names or [f"factor_{number}" for number in range(1, n_factors + 1)]
    divided = {
        name: [parts[place].strip() if parts else "" for parts in levels] for place, name in enumerate(names)
    }
    frame = sheet.frame.drop(columns=[column]).assign(**divided)
    return replace(sheet, frame=frame, kind="", columns={}), names
