"""Metadata of compared models: name, method, family and training."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from ...errors import BadInput, UnknownName
from ...files import read_table
from ...scoring.judgment_prompts import PROMPT_METHODS
from ...scoring.measures import MEASURES

PREFIX_METHODS = ("one_prefix", "two_prefix")
METHODS = (*MEASURES, *PREFIX_METHODS, *PROMPT_METHODS, "classifier")
COLUMNS = ("model", "name", "method", "family", "training_tokens", "seed", "corpus")
FULL = "full"


def roster(models: Sequence[str], metadata: pd.DataFrame | None = None) -> pd.DataFrame:
    """Return the metadata of every model, with defaults where nothing is stated.

    Notes
    -----
    All columns of :data:`COLUMNS`. By default ``gpt2:slor`` is ``gpt2`` by ``slor``, any other name is
    scored by ``lp``; the family is the name, the corpus ``full``.

    Examples
    --------
    >>> roster(["gpt2:slor", "human-like"])[["name", "method"]].values.tolist()
    [['gpt2', 'slor'], ['human-like', 'lp']]
    """
    rows = pd.DataFrame({"model": [str(model) for model in models]})
    split = rows["model"].str.rpartition(":")
    suffixed = split[2].isin(METHODS) & (split[0] != "")
    columns: dict[str, Any] = {
        "name": split[0].where(suffixed, rows["model"]),
        "method": split[2].where(suffixed, "lp"),
    }
    if metadata is not None:
        checked = _check_metadata(metadata, list(rows["model"]))
        for column in COLUMNS[1:]:
            stated = rows["model"].map(checked[column]) if column in checked.columns else None
            fallback = columns.get(column)
            if stated is not None:
                columns[column] = stated if fallback is None else stated.fillna(fallback)
    rows = rows.assign(**{column: columns.get(column) for column in COLUMNS[1:]})
    rows["family"] = rows["family"].astype(object).where(rows["family"].notna(), rows["name"])
    rows["corpus"] = rows["corpus"].astype(object).where(rows["corpus"].notna(), FULL)
    rows["training_tokens"] = pd.to_numeric(rows["training_tokens"])
    return rows[list(COLUMNS)]


def read_roster(path: str | Path) -> pd.DataFrame:
    """Read a file of model metadata."""
    frame = read_table(path).copy()
    if "model" not in frame.columns:
        message = "the file does not say which model each row is about."
        raise BadInput(message, file=str(path), column="model", remedy=f"Columns are {', '.join(COLUMNS)}.")
    for row, cell in frame["model"].items():
        if not str(cell).strip() or pd.isna(cell):
            raise BadInput("the cell is empty.", file=str(path), row=int(str(row)), column="model")
    repeated = frame.index[frame["model"].duplicated()]
    if len(repeated):
        message = f"{frame.at[repeated[0], 'model']!r} appears twice."
        raise BadInput(message, file=str(path), row=int(repeated[0]), column="model")
    if "training_tokens" in frame.columns:
        _tokens(frame, file=str(path))
    return frame


def _check_metadata(metadata: pd.DataFrame, models: list[str]) -> pd.DataFrame:
    if "model" not in metadata.columns:
        raise BadInput("the metadata of models has no column model.", column="model")
    rows = metadata.astype({"model": str})
    if rows["model"].duplicated().any():
        name = rows.loc[rows["model"].duplicated(), "model"].iloc[0]
        raise BadInput(f"{name!r} appears twice.", column="model", remedy="Give one row per model.")
    for name in rows["model"]:
        if name not in models:
            raise UnknownName("model", name, models)
    rows = rows.set_index("model")
    for column in rows.columns.intersection(list(COLUMNS)):
        blank = rows[column].isna() | (rows[column].astype(str).str.strip() == "")
        rows[column] = rows[column].astype(object).mask(blank)
    for method in rows["method"].dropna() if "method" in rows.columns else []:
        if method not in METHODS:
            raise UnknownName("method", str(method), METHODS)
    if "training_tokens" in rows.columns:
        rows["training_tokens"] = _tokens(rows)
    return rows


def _tokens(frame: pd.DataFrame, *, file: str = "") -> pd.Series:
    blank = frame["training_tokens"].isna() | (frame["training_tokens"].astype(str).str.strip() == "")
    tokens = pd.to_numeric(frame["training_tokens"].mask(blank), errors="coerce")
    wrong = ~blank & ~((tokens > 0) & (tokens < float("inf")))
    if wrong.any():
        place = frame.index[wrong][0]
        raise BadInput(
            f"{frame.at[place, 'training_tokens']!r} is not a number of tokens.",
            file=file,
            row=int(place) if file else None,
            column="training_tokens",
            remedy="Write a positive number such as 2000000.",
        )
    return tokens
