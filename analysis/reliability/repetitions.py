"""Consistency of repeated judgments: how far a participant answers the same unit alike again."""

from typing import Any

import numpy as np
import pandas as pd
import scipy

from ..rows import Floats, group_codes
from .coding import Answers
from .icc import intraclass_correlation
from .kappa import cohen_kappa

ICC_FORMS = ("ICC(1,1)", "ICC(A,1)", "ICC(C,1)")


def repeated_answers(answers: Answers) -> dict[str, Any]:
    """Compare the answers of the same participant to the same unit.

    Notes
    -----
    JSON-ready; ``status`` is ``not_estimable`` with a ``reason`` if no participant judged a unit twice.

    ``agreement`` is the mean, over units that one participant judged several times, of the share of pairs of
    these answers that are equal, with an interval over participants. ``kappa`` is Cohen's κ of the first and
    the second answer, quadratic weights for ratings: chance is that of the answers' own shares. Ratings also
    have the intraclass correlations of a single rating of the same participant and unit (occasions are the
    raters: ``ICC(C,1)`` ignores a shift between occasions, ``ICC(A,1)`` does not), ``sd_within``, the
    standard deviation of repeated ratings, and ``shift``, the second minus the first, in points of the
    scale. ``participants`` has the agreement of each of them.

    References
    ----------
    McGraw & Wong (1996), Psychological Methods 1; Cohen (1968), Psychological Bulletin 70.
    """
    table = answers.showings
    cell, _ = group_codes(table["participant"].astype(str) + "\t" + table["unit"].astype(str))
    repeated = np.bincount(cell, minlength=1)[cell] > 1 if len(table) else np.zeros(0, dtype=bool)
    rows = table[repeated].assign(cell=cell[repeated])
    empty = _empty(answers)
    if rows.empty:
        return empty
    rows["occasion"] = rows.groupby("cell").cumcount()
    cells = _equal_pairs(rows)
    person, people = group_codes(cells["participant"])
    equal = np.bincount(person, weights=cells["equal"].to_numpy(), minlength=len(people))
    total = np.bincount(person, minlength=len(people)).astype(np.float64)
    low, high = _interval(np.asarray(equal, dtype=np.float64), total)
    first, second = (rows[rows["occasion"] == k].set_index("cell")["category"] for k in (0, 1))
    weights = "quadratic" if answers.is_rating else "none"
    kappa = cohen_kappa(first, second.reindex(first.index), weights=weights)
    return empty | {
        "n_cells": len(cells),
        "n_answers": len(rows),
        "n_participants": len(people),
        "agreement": float(cells["equal"].mean()),
        "ci_low": low,
        "ci_high": high,
        "interval": "none" if low is None else "participant_linearized",
        "kappa": kappa.value,
        "kappa_status": kappa.status,
        **(_of_ratings(rows) if answers.is_rating else {}),
        "participants": [
            {"participant": str(name), "n": int(n), "agreement": float(k / n)}
            for name, k, n in zip(people, equal, total, strict=True)
        ],
        "status": "ok",
        "reason": "",
    }


def _interval(equal: Floats, total: Floats) -> tuple[float | None, float | None]:
    """Compute the 95 % interval of Σ equal / Σ total over participants, linearized, with t of n - 1."""
    n, share = len(total), equal.sum() / total.sum()
    if n < 2:
        return None, None
    error = np.sqrt(n / (n - 1) * ((equal - share * total) ** 2).sum()) / total.sum()
    half = float(scipy.stats.t.ppf(0.975, n - 1) * error)
    return max(float(share) - half, 0.0), min(float(share) + half, 1.0)


def _empty(answers: Answers) -> dict[str, Any]:
    numbers = ("agreement", "ci_low", "ci_high", "kappa", "sd_within", "shift")
    return {
        "unit": answers.unit,
        "weights": "quadratic" if answers.is_rating else "none",
        "n_cells": 0,
        "n_answers": 0,
        "n_participants": 0,
        **dict.fromkeys(numbers),
        "interval": "none",
        "kappa_status": "no_data",
        "icc": [{"form": form, "value": None, "ci_low": None, "ci_high": None} for form in ICC_FORMS],
        "participants": [],
        "status": "not_estimable",
        "reason": f"nobody judged the same {answers.unit} twice",
    }


def _equal_pairs(rows: pd.DataFrame) -> pd.DataFrame:
    """Return ``participant`` and ``equal`` of each cell: the share of its pairs of answers that are equal."""
    counts = rows.groupby(["cell", "category"]).size()
    pairs = (counts * (counts - 1)).groupby("cell").sum()
    size = rows.groupby("cell").size()
    people = rows.groupby("cell")["participant"].first()
    return pd.DataFrame({"participant": people, "equal": pairs / (size * (size - 1))})


def _of_ratings(rows: pd.DataFrame) -> dict[str, Any]:
    judgments = pd.DataFrame(
        {"participant": rows["occasion"], "sentence_id": rows["cell"], "value": rows["category"]}
    )
    icc = intraclass_correlation(judgments)
    table = icc.table.set_index("form").reindex(columns=["value", "ci_low", "ci_high"]).astype(object)
    table = table.where(table.notna(), None)
    within = rows.groupby("cell")["category"].agg(["var", "size"])
    wide = rows[rows["occasion"] < 2].pivot(index="cell", columns="occasion", values="category")
    return {
        "icc": [
            {"form": form}
            | (table.loc[form].to_dict() if form in table.index else dict.fromkeys(table.columns))
            for form in ICC_FORMS
        ],
        "sd_within": float(np.average(within["var"], weights=within["size"] - 1) ** 0.5),
        "shift": float((wide[1] - wide[0]).mean()),
    }
