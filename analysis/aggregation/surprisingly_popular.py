"""Surprisingly popular answers and predictions, where participants were asked what others would answer."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import scipy

from ..columns import require_columns
from ..errors import BadInput
from ..rows import Floats, column_or_blank, none_if_nan

YES, SAME = "predicted_yes", "predicted_same"
"""Columns: of 100 others, how many would say yes (choose the expected sentence), or answer the same."""
MIN_ANSWERS = 5
"""Fewest answers with a prediction to an item that is labelled."""


@dataclass(frozen=True)
class SurprisinglyPopular:
    """Labels of items and predictions of participants; empty unless ``status`` is ok."""

    status: str
    items: pd.DataFrame = field(default_factory=pd.DataFrame)
    participants: pd.DataFrame = field(default_factory=pd.DataFrame)


def has_predictions(judgments: pd.DataFrame) -> bool:
    """Whether a judgment has a prediction of the answers of others.

    Examples
    --------
    >>> has_predictions(pd.DataFrame({"predicted_yes": [None, 60]})), has_predictions(pd.DataFrame())
    (True, False)
    """
    return any((column_or_blank(judgments, name).replace("", None).notna()).any() for name in (YES, SAME))


def predicted_shares(judgments: pd.DataFrame) -> Floats:
    """Return the share of others that each row predicts to give the answer 1; NaN without a prediction.

    Raises
    ------
    BadInput
        If a prediction is no number from 0 to 100.

    Examples
    --------
    >>> rows = pd.DataFrame({"value": [1, 0], "predicted_same": [70, 80]})
    >>> predicted_shares(rows).round(2).tolist()
    [0.7, 0.2]
    """
    shares = _percentages(judgments, YES)
    same, value = _percentages(judgments, SAME), judgments["value"].to_numpy(dtype=np.float64)
    of_same = np.where(value == 1, same, np.where(value == 0, 1 - same, np.nan))
    return np.where(np.isnan(shares), of_same, shares)


def _percentages(judgments: pd.DataFrame, name: str) -> Floats:
    cells = column_or_blank(judgments, name).astype(object)
    cells = cells.where(cells.notna() & (cells.astype(str).str.strip() != ""), None)
    numbers = pd.to_numeric(cells, errors="coerce").to_numpy(dtype=np.float64)
    wrong = cells.notna().to_numpy() & ~((numbers >= 0) & (numbers <= 100))
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise BadInput(
            f"{cells.iloc[row]!r} is no number from 0 to 100.",
            row=row + 1,
            column=name,
            remedy="Give how many of 100 others, or leave the cell empty.",
        )
    shares: Floats = numbers / 100
    return shares


def surprisingly_popular(answers: pd.DataFrame, *, unit: str = "item") -> SurprisinglyPopular:
    """Label each item by the answer that is more frequent than participants predict.

    Notes
    -----
    ``answers`` has the unit, ``participant``, ``value`` (0 or 1) and ``predicted``, the share of others that
    would answer 1. ``items``: unit, ``n``, ``share`` (of 1), ``predicted`` (mean), ``surprise`` (share -
    predicted) with a paired t interval and ``p``, ``majority`` and ``label`` (1, 0; empty for a tie or fewer
    than five answers) and ``contradicts``. ``participants``: ``n``, ``error``, the mean distance of the
    prediction from the share of the *other* participants, and ``own_bias``, by how much the participant
    overrates the own answer. ``status``: ``ok`` or ``no_data``.

    The rule finds the truth where those who know it also know that most others do not. Acceptability has no
    truth beside the speakers' judgments: a label that contradicts the majority points to an item on which
    participants expect others to judge differently, such as a stigmatized variant.

    References
    ----------
    Prelec, Seung & McCoy (2017), Nature 541; Ross, Greene & House (1977), JESP 13 (own answers are
    overrated).

    Examples
    --------
    >>> rows = pd.DataFrame({"item": "i", "participant": list("abcdef"), "value": [1, 1, 0, 0, 0, 0],
    ...     "predicted": [.2, .2, .1, .1, .2, .2]})
    >>> found = surprisingly_popular(rows).items.iloc[0]
    >>> found["majority"], found["label"], round(float(found["surprise"]), 3)
    ('0', '1', 0.167)
    """
    require_columns(answers, unit, "participant", "value", "predicted")
    rows = answers[answers["value"].isin([0.0, 1.0]) & answers["predicted"].notna()]
    if rows.empty:
        return SurprisinglyPopular("no_data")
    items = [{unit: str(name), **_item(part)} for name, part in rows.groupby(unit, sort=True)]
    by_unit = rows.groupby(unit)["value"]
    n, total = by_unit.transform("size"), by_unit.transform("sum")
    others = (total - rows["value"]) / (n - 1).where(n > 1)
    is_yes = rows["value"] == 1
    predicted_own = rows["predicted"].where(is_yes, 1 - rows["predicted"])
    share_own = others.where(is_yes, 1 - others)
    people = (
        rows.assign(error=(rows["predicted"] - others).abs(), own_bias=predicted_own - share_own)
        .groupby(rows["participant"].astype(str))
        .agg(n=("value", "size"), error=("error", "mean"), own_bias=("own_bias", "mean"))
        .rename_axis("participant")
        .reset_index()
    )
    return SurprisinglyPopular("ok", pd.DataFrame(items), people)


def _item(rows: pd.DataFrame) -> dict[str, Any]:
    value, predicted = (rows[name].to_numpy(dtype=np.float64) for name in ("value", "predicted"))
    gaps, share = value - predicted, float(value.mean())
    surprise = float(gaps.mean())
    spread = float(gaps.std(ddof=1) / np.sqrt(len(gaps))) if len(gaps) > 1 else 0.0
    half = float(scipy.stats.t.ppf(0.975, len(gaps) - 1)) * spread if spread > 0 else None
    p = float(2 * scipy.stats.t.sf(abs(surprise) / spread, len(gaps) - 1)) if spread > 0 else None
    is_enough = len(rows) >= MIN_ANSWERS
    majority = "" if share == 0.5 else str(int(share > 0.5))
    label = str(int(surprise > 0)) if is_enough and abs(surprise) > 1e-12 else ""
    return {
        "n": len(rows),
        "share": share,
        "predicted": float(predicted.mean()),
        "surprise": surprise,
        "ci_low": None if half is None else surprise - half,
        "ci_high": None if half is None else surprise + half,
        "p": p,
        "majority": majority,
        "label": label,
        "contradicts": bool(label and majority and label != majority),
    }


def prediction_block(judgments: pd.DataFrame, units: "pd.Series[Any]") -> dict[str, Any]:
    """Report surprisingly popular answers and predictions as plain values for JSON."""
    found = surprisingly_popular(
        pd.DataFrame(
            {
                "item": units.astype(str).to_numpy(),
                "participant": judgments["participant"].to_numpy(),
                "value": judgments["value"].to_numpy(dtype=np.float64),
                "predicted": predicted_shares(judgments),
            }
        )
    )
    return {
        "status": found.status,
        "items": _records(found.items),
        "participants": _records(found.participants),
    }


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [
        {str(name): none_if_nan(value) if isinstance(value, float) else value for name, value in row.items()}
        for row in table.to_dict("records")
    ]
