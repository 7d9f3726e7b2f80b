"""Judgment frames as CSV and JSON lines, written in blocks, also with the column names of jsPsych."""

import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pandas as pd
from pandas.api.types import is_numeric_dtype

from analysis.columns import CONTRACT, JUDGMENT_COLUMNS
from analysis.text import no_formula
from experiments.models import Experiment
from judgments.models import Judgment

ALL = [*CONTRACT, *(name for name in JUDGMENT_COLUMNS if name not in CONTRACT)]
BLOCK = 5_000  # rows
#: Columns with the researcher's own material, which files keep exactly as stored; factors are others.
MATERIAL_COLUMNS = {
    *("item", "condition", "paradigm", "phenomenon", "expected", "chosen"),
    *("sentence_id", "sentence", "pair_id", "sentence_good", "sentence_bad"),
}
Also = Callable[[pd.DataFrame], pd.DataFrame]
WHOLE_NUMBERS = [name for name, column in JUDGMENT_COLUMNS.items() if column.kind == "integer"]


def select_columns(choice: str, frame: pd.DataFrame) -> list[str]:
    """``all`` columns with the factors of the frame, or those of the contract."""
    return [*ALL, *factor_columns(frame)] if choice == "all" else list(CONTRACT)


def factor_columns(frame: pd.DataFrame) -> list[str]:
    """The factors of the study's design, which follow the columns that every frame has."""
    return [str(name) for name in frame.columns if name not in JUDGMENT_COLUMNS]


def csv_blocks(frame: pd.DataFrame, columns: list[str], *, also: Also | None = None) -> Iterator[str]:
    """The frame as CSV (UTF-8, a header, line feeds); ``also`` adds columns to each block.

    No text that a participant or an imported file brought is a formula.
    """
    exact = {*MATERIAL_COLUMNS, *factor_columns(frame)}
    yield ",".join(columns) + "\n"
    for block in _blocks(frame, columns, also):
        for name in columns:
            if name not in exact and not is_numeric_dtype(block[name]):
                block[name] = _without_formulas(block[name])
        yield block.to_csv(index=False, header=False, lineterminator="\n")


def _without_formulas(cells: pd.Series) -> pd.Series:
    """The cells with formulas quoted; others keep their type, which a whole number beside a gap needs."""
    texts = [cell for cell in cells.unique() if isinstance(cell, str)]
    quoted = {text: no_formula(text) for text in texts if no_formula(text) != text}
    if not quoted:
        return cells
    values = [quoted.get(cell, cell) if isinstance(cell, str) else cell for cell in cells]
    return pd.Series(values, index=cells.index, dtype=object)


def jsonl_blocks(frame: pd.DataFrame, columns: list[str], *, also: Also | None = None) -> Iterator[str]:
    """The frame as one JSON object per line; missing values are null."""
    for block in _blocks(frame, columns, also):
        yield "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in _records(block))


def records(frame: pd.DataFrame, columns: list[str]) -> list[dict[str, Any]]:
    """Rows as plain values, as JSON lines hold them; missing values are None."""
    return [row for block in _blocks(frame, columns, None) for row in _records(block)]


def _records(block: pd.DataFrame) -> list[dict[str, Any]]:
    # By column: as one frame of objects it takes three times as long.
    names = [str(name) for name in block]
    cells = [block[name].astype(object).where(block[name].notna(), None).tolist() for name in names]
    return [dict(zip(names, row, strict=True)) for row in zip(*cells, strict=True)]


def _blocks(frame: pd.DataFrame, columns: list[str], also: Also | None) -> Iterator[pd.DataFrame]:
    for start in range(0, len(frame), BLOCK):
        rows = frame.iloc[start : start + BLOCK]
        block = (also(rows) if also else rows)[columns].copy()
        for name in WHOLE_NUMBERS:
            if name in block:
                block[name] = block[name].astype("Int64")
        yield block


JSPSYCH_NAMES = ("rt", "response", "trial_index", "time_elapsed", "trial_type")
RENAMED = {"rt_ms", "response", "position"}
COLUMNS = [*JSPSYCH_NAMES, *(name for name in CONTRACT if name not in RENAMED)]


def with_jspsych_names(study: Experiment, frame: pd.DataFrame) -> pd.DataFrame:
    """Add jsPsych's columns: times in ms, ``trial_index`` from 0, ``trial_type`` the task."""
    elapsed = _elapsed_ms(study)
    return frame.assign(
        rt=frame["rt_ms"].astype("Int64"),
        trial_index=frame["position"].astype("int64") - 1,
        time_elapsed=pd.array([elapsed.get(int(trial)) for trial in frame["trial"]], dtype="Int64"),
        trial_type=frame["task"],
    )


def _elapsed_ms(study: Experiment) -> dict[int, int | None]:
    """Time from the start of the session to each answer by trial, on the server's clock where it is known."""
    rows = Judgment.objects.filter(trial__session__experiment=study).values_list(
        "trial_id", "answered_at", "received_at", "timing__clock_offset_ms", "trial__session__started_at"
    )
    elapsed: dict[int, int | None] = {}
    for trial, answered_at, received_at, offset_ms, started_at in rows.iterator(chunk_size=5_000):
        # ``answered_at`` is the browser's clock: without its offset only the time of arrival is comparable
        at = (
            answered_at + timedelta(milliseconds=offset_ms)
            if answered_at and offset_ms is not None
            else received_at
        )
        if at is None or started_at is None:
            elapsed[trial] = None
        else:
            elapsed[trial] = max(0, round((at - started_at).total_seconds() * 1000))
    return elapsed
