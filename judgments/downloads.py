"""Judgments as files, written in blocks: the contract's columns first, all columns on request."""

import json
from collections.abc import Callable, Iterator

import pandas as pd

from analysis.columns import CONTRACT, JUDGMENT_COLUMNS

ALL = [*CONTRACT, *(name for name in JUDGMENT_COLUMNS if name not in CONTRACT)]
BLOCK = 5_000
Also = Callable[[pd.DataFrame], pd.DataFrame]
WHOLE_NUMBERS = [name for name, column in JUDGMENT_COLUMNS.items() if column.kind == "integer"]


def columns_of(choice: str) -> list[str]:
    """``all`` columns, or those of the contract."""
    return ALL if choice == "all" else list(CONTRACT)


def csv_blocks(frame: pd.DataFrame, columns: list[str], *, also: Also | None = None) -> Iterator[str]:
    """The frame as CSV (UTF-8, a header, line feeds); ``also`` gives each block further columns."""
    yield ",".join(columns) + "\n"
    for block in _blocks(frame, columns, also):
        yield block.to_csv(index=False, header=False, lineterminator="\n")


def jsonl_blocks(frame: pd.DataFrame, columns: list[str], *, also: Also | None = None) -> Iterator[str]:
    """The frame as one JSON object per line; what is not known is null."""
    for block in _blocks(frame, columns, also):
        known = block.astype(object).where(block.notna(), None)
        yield "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in known.to_dict("records"))


def _blocks(frame: pd.DataFrame, columns: list[str], also: Also | None) -> Iterator[pd.DataFrame]:
    for start in range(0, len(frame), BLOCK):
        rows = frame.iloc[start : start + BLOCK]
        block = (also(rows) if also else rows)[columns].copy()
        for name in WHOLE_NUMBERS:
            if name in block:
                block[name] = block[name].astype("Int64")
        yield block
