"""Interactions of two-by-two designs: differences of differences by participants, by items and mixed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ..columns import require_columns
from ..errors import BadInput, UnknownName
from ..mixed_models.linear import CROSSED, Estimate, MixedFit, Random
from ..multiple_tests import with_adjusted
from ..rows import Floats, column_or_blank, group_codes
from ..text import natural_order
from .contrasts import Contrast, paired_contrast
from .factorial_effects import Hypothesis, factorial_effects, fit_factorial
from .factors import Cells, Factor, Levels, NoDesign, recognize_design, varying_levels


@dataclass(frozen=True)
class Interaction:
    """Difference of differences of a 2×2 design by participants, by items and in a mixed model."""

    cells: pd.DataFrame
    """``first``, ``second``, ``n``, ``mean`` of the four cells."""
    by_participants: Contrast
    by_items: Contrast
    mixed: MixedFit
    hypotheses: list[Hypothesis]
    """Main effects, interaction and simple effects, the tests of ``mixed``."""
    participant_differences: "pd.Series[float]"
    """Difference of differences of each participant with all four cells."""
    item_differences: "pd.Series[float]"
    """Difference of differences of each item with all four cells."""

    @property
    def estimate(self) -> Estimate:
        """The interaction in the mixed model."""
        place = next(n for n, test in enumerate(self.hypotheses) if test.kind == "interaction")
        test = self.mixed.tests.get(str(place))
        return test.estimate if test else Estimate("interaction")


def difference_of_differences(
    rows: pd.DataFrame,
    *,
    first: Factor,
    second: Factor,
    value: str = "value",
    random: tuple[Random, ...] | None = CROSSED,
) -> Interaction:
    """Estimate by how much the joint cost of two factors exceeds the sum of their separate costs.

    Notes
    -----
    ``by_participants`` and ``by_items`` hold one t test each (``too_few`` where no item appears in all
    four cells), ``mixed`` the interaction of the crossed mixed model with its interval.

    DD = [y(plain, marked) - y(marked, marked)] - [y(plain, plain) - y(marked, plain)], the levels of first
    and second in this order. Positive: superadditive. In the mixed model the levels are coded +½ and -½, and
    DD is one of its tests; without ``random`` it has the slopes of both factors and of
    their product by participant and item that the data support, without correlations: the full covariance
    of four effects by two factors has 20 parameters, and the test needs the slopes, not the correlations
    (Barr et al. 2013). Needs scores on an interval scale: floor and
    ceiling effects can create or hide an interaction.

    References
    ----------
    Maxwell & Delaney (2003), *Designing Experiments and Analyzing Data*; Sprouse, Wagers & Phillips (2012),
    Language 88.

    Examples
    --------
    >>> rows = pd.DataFrame([
    ...     (s, d, p, p - 2.0 * (s == "island" and d == "embedded") + (s == "island") * p % 3)
    ...     for p in range(6) for s in ("non", "island") for d in ("matrix", "embedded")],
    ...     columns=["structure", "distance", "participant", "value"]).assign(item="i")
    >>> structure, distance = Factor("structure", "non", "island"), Factor("distance", "matrix", "embedded")
    >>> found = difference_of_differences(rows, first=structure, second=distance)
    >>> found.by_participants.mean_difference
    2.0
    """
    require_columns(rows, "participant", "item", first.column, second.column, value)
    rows_counted = coded_rows(rows, first, second, value=value, units=("participant", "item"))
    cells = cell_means(rows_counted, first, second)
    if len(cells) < 4:
        present = ", ".join(f"{row['first']} {row['second']}" for _, row in cells.iterrows()) or "none"
        message = "one of the four cells has no judgment."
        raise BadInput(message, column=second.column, remedy=f"Cells present: {present}.")
    by_participants, participant_differences = unit_contrast(rows_counted, "participant")
    by_items, item_differences = unit_contrast(rows_counted, "item")
    levels = {factor.column: (factor.plain, factor.marked) for factor in (first, second)}
    mixed, hypotheses = fit_factorial(rows, levels, value=value, random=random)
    return Interaction(
        cells,
        by_participants=by_participants,
        by_items=by_items,
        mixed=mixed,
        hypotheses=hypotheses,
        participant_differences=participant_differences,
        item_differences=item_differences,
    )


def coded_rows(
    rows: pd.DataFrame, first: Factor, second: Factor, *, value: str, units: Sequence[str]
) -> pd.DataFrame:
    """Return the rows of the four cells: units, ``value``, and ``first`` and ``second`` coded by ±½."""
    first_code, second_code = (_codes(rows, factor) for factor in (first, second))
    scores = rows[value].to_numpy(dtype=np.float64)
    is_counted = (first_code != 0) & (second_code != 0) & ~np.isnan(scores)
    frame: pd.DataFrame = rows.loc[is_counted, list(units)]
    return frame.assign(
        value=scores[is_counted], first=first_code[is_counted] / 2, second=-second_code[is_counted] / 2
    )


def _codes(rows: pd.DataFrame, factor: Factor) -> Floats:
    """Code the plain level as +1, the marked level as -1 and other values as 0."""
    names = rows[factor.column].astype(str).to_numpy()
    return np.where(names == factor.plain, 1.0, np.where(names == factor.marked, -1.0, 0.0))


def cell_means(rows: pd.DataFrame, first: Factor, second: Factor) -> pd.DataFrame:
    """Return ``first``, ``second``, ``n`` and ``mean`` of the cells that have rows."""
    means = rows.groupby(["first", "second"])["value"].agg(["size", "mean"]).reset_index()
    return pd.DataFrame(
        {
            "first": np.where(means["first"] > 0, first.plain, first.marked),
            "second": np.where(means["second"] > 0, second.marked, second.plain),
            "n": means["size"],
            "mean": means["mean"],
        }
    )


def unit_contrast(rows: pd.DataFrame, unit: str) -> tuple[Contrast, "pd.Series[float]"]:
    """Run a paired t test of each unit's cost at the marked level against its cost at the plain level.

    Returns also the difference of both by unit, of units with all four cells.
    """
    codes, names = group_codes(rows[unit])
    cell = 2 * (rows["first"] < 0).to_numpy() + (rows["second"] > 0).to_numpy()
    place = codes * 4 + cell
    count = np.bincount(place, minlength=4 * len(names)).reshape(-1, 4)
    total = np.bincount(place, weights=rows["value"], minlength=4 * len(names)).reshape(-1, 4)
    is_complete = (count > 0).all(axis=1)
    means = total[is_complete] / count[is_complete]
    costs_plain, costs_marked = means[:, 0] - means[:, 2], means[:, 1] - means[:, 3]
    complete_names = np.array([str(name) for name in names], dtype=object)[is_complete]
    differences = pd.Series(costs_marked - costs_plain, index=complete_names, dtype=float)
    return paired_contrast(costs_marked, costs_plain), differences


def interactions(
    scored: pd.DataFrame,
    *,
    by: str = "phenomenon",
    factors: Levels | None = None,
    conditions: Sequence[str] = (),
    random: tuple[Random, ...] | None = CROSSED,
) -> list[dict[str, Any]]:
    """Estimate the interaction of every group whose conditions form a two-by-two design.

    Notes
    -----
    One per group: its factors, the four ``cells``, the difference of differences by participants, by
    items and in the mixed model, each with interval and p, ``p_holm`` and ``p_bh`` over the groups,
    and the difference of every participant and item.

    Examples
    --------
    >>> rows = pd.DataFrame([(p, f"{s}.{d}", p % 3 - 2.0 * (s == "isl") * (d == "emb"))
    ...     for p in range(6) for s in ("non-isl", "isl") for d in ("mat", "emb")],
    ...     columns=["participant", "condition", "score"]).assign(item="i", phenomenon="wh")
    >>> bad = rows["condition"] == "isl.emb"
    >>> rows["expected"] = bad.map({True: "unacceptable", False: "acceptable"})
    >>> interactions(rows)[0]["participants"]["estimate"]
    2.0
    """
    designs = group_designs(scored, by=by, factors=factors, conditions=conditions)
    rows = [
        {by: name, **_interaction_row(part, cells, random=random)}
        for name, part, cells in designs
        if isinstance(cells, Cells)
    ]
    if conditions and not rows:
        conditions_present = sorted(set(scored["condition"].astype(str)))
        unknown = next((word for word in conditions if word not in conditions_present), conditions[0])
        raise UnknownName("condition", unknown, conditions_present)
    return with_adjusted(rows, [row["mixed"]["p"] for row in rows])


def unrecognized_designs(
    scored: pd.DataFrame,
    *,
    by: str = "phenomenon",
    factors: Levels | None = None,
    conditions: Sequence[str] = (),
) -> list[dict[str, Any]]:
    """Return the groups whose conditions are not recognized as a two-by-two design, and why."""
    designs = group_designs(scored, by=by, factors=factors, conditions=conditions)
    return [
        {by: name, "reason": design.reason} for name, _, design in designs if isinstance(design, NoDesign)
    ]


def group_designs(
    rows: pd.DataFrame, *, by: str, factors: Levels | None, conditions: Sequence[str] = ()
) -> list[tuple[str, pd.DataFrame, Cells | NoDesign | None]]:
    """Return the groups of ``by`` in alphabetical order, each with its rows and its design."""
    groups = rows.groupby(column_or_blank(rows, by).astype(str), sort=True, observed=True)
    return [
        (str(name), part, recognize_design(part, factors=factors or {}, conditions=conditions))
        for name, part in groups
    ]


def with_codes(rows: pd.DataFrame, cells: Cells) -> pd.DataFrame:
    """Add the level of both factors by condition, as the columns of ``cells.first`` and ``cells.second``."""
    names = rows["condition"].astype(str)
    levels = {
        factor.column: names.map({name: pair[place] for name, pair in cells.levels.items()})
        for place, factor in enumerate((cells.first, cells.second))
    }
    return rows.assign(**levels)


def describe_factors(cells: Cells) -> dict[str, Any]:
    """Return the factors for JSON: name, plain and marked level, and their sources."""
    return {
        "first": {"name": cells.names[0], "plain": cells.first.plain, "marked": cells.first.marked},
        "second": {"name": cells.names[1], "plain": cells.second.plain, "marked": cells.second.marked},
        "oriented_by": cells.oriented_by,
        "read_from": cells.read_from,
    }


def _interaction_row(
    rows: pd.DataFrame, cells: Cells, *, random: tuple[Random, ...] | None
) -> dict[str, Any]:
    coded, factors = with_codes(rows, cells), describe_factors(cells)
    blank = dict.fromkeys(("estimate", "ci_low", "ci_high", "statistic", "df", "p"))
    try:
        terms = None if random is None else tuple(term for term in random if not term.slope)
        result = difference_of_differences(
            coded, first=cells.first, second=cells.second, value="score", random=terms
        )
        factorial = _factorial(coded, cells, fitted=(result.mixed, result.hypotheses))
    except BadInput as error:
        empty = {**blank, "n": 0, "above_zero": 0, "status": "not_estimable", "method": ""}
        reason = {"status": "not_estimable", "reason": error.message}
        nothing: dict[str, Any] = {"participants": [], "items": []}
        estimates = {"participants": empty, "items": empty, "mixed": empty}
        return factors | {"cells": [], **estimates, "differences": nothing, "factorial": None, **reason}
    mixed = result.estimate
    return factors | {
        "cells": [
            {"first": row["first"], "second": row["second"], "n": int(row["n"]), "mean": float(row["mean"])}
            for row in result.cells.to_dict("records")
        ],
        "participants": contrast_row(
            result.by_participants, "paired t, participants", result.participant_differences
        ),
        "items": contrast_row(result.by_items, "paired t, items", result.item_differences),
        "mixed": {
            "estimate": mixed.estimate,
            "ci_low": mixed.ci_low,
            "ci_high": mixed.ci_high,
            "statistic": mixed.statistic,
            "df": mixed.df,
            "p": mixed.p,
            "status": result.mixed.status,
            "method": f"{result.mixed.formula}; {result.mixed.method}",
            "structure": result.mixed.structure,
            "path": "; ".join(result.mixed.path),
        },
        "differences": {
            "participants": listed_differences(result.participant_differences, "participant"),
            "items": listed_differences(result.item_differences, "item"),
        },
        "factorial": factorial,
        "status": "ok",
        "reason": "",
    }


def _factorial(
    coded: pd.DataFrame, cells: Cells, *, fitted: tuple[MixedFit, list[Hypothesis]]
) -> dict[str, Any]:
    levels = {factor.column: (factor.plain, factor.marked) for factor in (cells.first, cells.second)}
    return factorial_effects(coded, levels, fitted=fitted)


def factorial_designs(
    scored: pd.DataFrame,
    interactions: Sequence[dict[str, Any]],
    *,
    by: str,
    factors: Levels | None,
    random: tuple[Random, ...] | None,
) -> list[dict[str, Any]]:
    """Return main, simple and interaction effects of every group with two or more varying factors.

    Those of 2×2 designs are tests of the model of their ``interactions``.
    """
    fitted = {row[by]: row.pop("factorial") for row in interactions}
    rows = []
    for name, part, design in group_designs(scored, by=by, factors=factors):
        document = fitted.get(name)
        if document is None and isinstance(design, NoDesign):
            varying = varying_levels(part, factors or {})
            terms = None if random is None else tuple(term for term in random if not term.slope)
            if len(varying) > 1:
                document = factorial_effects(part, varying, random=terms)
        if document is not None:
            rows.append({by: name, **document})
    return rows


def listed_differences(differences: "pd.Series[float]", unit: str) -> list[dict[str, Any]]:
    """Return the difference of differences of every unit for JSON, in natural order (1, 2, 10)."""
    rows = sorted((str(name), float(value)) for name, value in differences.items())
    rows.sort(key=lambda row: natural_order(row[0]))
    return [{unit: name, "difference": value} for name, value in rows]


def contrast_row(result: Contrast, method: str, differences: "pd.Series[float]") -> dict[str, Any]:
    """Return a contrast of differences for JSON, with the number of units above 0."""
    return {
        "estimate": result.mean_difference,
        "ci_low": _float(result.ci_low),
        "ci_high": _float(result.ci_high),
        "statistic": _float(result.statistic),
        "df": _float(result.df),
        "p": _float(result.p),
        "d_z": _float(result.d_z),
        "n": result.n,
        "above_zero": int((differences > 0).sum()),
        "status": result.status,
        "method": method,
    }


def _float(number: float | None) -> float | None:
    return None if number is None else float(number)
