"""What is known of the models of a comparison: name, measure, family, training."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.errors import BadInput, UnknownName
from analysis.files import read_table
from analysis.scoring.measures import MEASURES

PREFIX_METHODS = ("one_prefix", "two_prefix")
METHODS = (*MEASURES, *PREFIX_METHODS, "classifier")
COLUMNS = ("model", "name", "method", "family", "training_tokens", "seed", "corpus")
FULL = "full"


def roster(models: Sequence[str], given: pd.DataFrame | None = None) -> pd.DataFrame:
    """Say of every model what is known of it.

    Parameters
    ----------
    models : sequence of str
        Names as in the scores.
    given : DataFrame, optional
        ``model`` and any of ``name``, ``method``, ``family``, ``training_tokens``, ``seed``, ``corpus``.

    Returns
    -------
    DataFrame, one row per model
        All columns of :data:`COLUMNS`. Without a word about it, ``gpt2:slor`` is ``gpt2`` by ``slor``, any
        other name is its own name by ``lp``; the family is the name, the corpus ``full``.

    Raises
    ------
    BadInput, UnknownName
        If a model stands twice, is not among the scores, has an unknown method, or tokens that are no
        positive number.

    Examples
    --------
    >>> roster(["gpt2:slor", "human-like"])[["name", "method"]].values.tolist()
    [['gpt2', 'slor'], ['human-like', 'lp']]
    """
    rows = pd.DataFrame({"model": [str(model) for model in models]})
    split = rows["model"].str.rpartition(":")
    suffixed = split[2].isin(METHODS) & (split[0] != "")
    known: dict[str, Any] = {
        "name": split[0].where(suffixed, rows["model"]),
        "method": split[2].where(suffixed, "lp"),
    }
    if given is not None:
        said = _checked(given, list(rows["model"]))
        for column in COLUMNS[1:]:
            told = rows["model"].map(said[column]) if column in said.columns else None
            fallback = known.get(column)
            known[column] = told if fallback is None else fallback if told is None else told.fillna(fallback)
    rows = rows.assign(**{column: known.get(column) for column in COLUMNS[1:]})
    rows["family"] = rows["family"].astype(object).where(rows["family"].notna(), rows["name"])
    rows["corpus"] = rows["corpus"].astype(object).where(rows["corpus"].notna(), FULL)
    rows["training_tokens"] = pd.to_numeric(rows["training_tokens"])
    return rows[list(COLUMNS)]


def read_roster(path: str | Path) -> pd.DataFrame:
    """Read a file about models.

    Parameters
    ----------
    path : str or Path
        CSV, TSV, JSON lines or Parquet with ``model`` and any of the other columns of :data:`COLUMNS`.

    Returns
    -------
    DataFrame
        One row per model.

    Raises
    ------
    BadInput
        Naming file, row and column.

    See Also
    --------
    roster : What it is joined to.
    """
    frame = read_table(path).copy()
    if "model" not in frame.columns:
        message = "the file does not say which model each row is about."
        raise BadInput(message, file=str(path), column="model", remedy=f"Columns are {', '.join(COLUMNS)}.")
    for row, cell in frame["model"].items():
        if not str(cell).strip() or pd.isna(cell):
            raise BadInput("the cell is empty.", file=str(path), row=int(str(row)), column="model")
    again = frame.index[frame["model"].duplicated()]
    if len(again):
        message = f"{frame.at[again[0], 'model']!r} stands twice."
        raise BadInput(message, file=str(path), row=int(again[0]), column="model")
    if "training_tokens" in frame.columns:
        _tokens(frame, file=str(path))
    return frame


def _checked(given: pd.DataFrame, models: list[str]) -> pd.DataFrame:
    if "model" not in given.columns:
        raise BadInput("what is known of models has no column model.", column="model")
    said = given.astype({"model": str})
    if said["model"].duplicated().any():
        name = said.loc[said["model"].duplicated(), "model"].iloc[0]
        raise BadInput(f"{name!r} stands twice.", column="model", remedy="Give one row per model.")
    for name in said["model"]:
        if name not in models:
            raise UnknownName("model", name, models)
    said = said.set_index("model")
    for column in said.columns.intersection(list(COLUMNS)):
        blank = said[column].isna() | (said[column].astype(str).str.strip() == "")
        said[column] = said[column].astype(object).mask(blank)
    for method in said["method"].dropna() if "method" in said.columns else []:
        if method not in METHODS:
            raise UnknownName("method", str(method), METHODS)
    if "training_tokens" in said.columns:
        said["training_tokens"] = _tokens(said)
    return said


def _tokens(frame: pd.DataFrame, *, file: str = "") -> pd.Series:
    blank = frame["training_tokens"].isna() | (frame["training_tokens"].astype(str).str.strip() == "")
    found = pd.to_numeric(frame["training_tokens"].mask(blank), errors="coerce")
    wrong = ~blank & ~((found > 0) & (found < float("inf")))
    if wrong.any():
        place = frame.index[wrong][0]
        raise BadInput(
            f"{frame.at[place, 'training_tokens']!r} is no number of tokens.",
            file=file,
            row=int(place) if file else None,
            column="training_tokens",
            remedy="Write a positive number such as 2000000.",
        )
    return found
