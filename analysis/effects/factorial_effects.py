"""Main, simple and interaction effects of factorial designs in one crossed mixed model."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np
import pandas as pd
import scipy

from ..errors import BadInput
from ..mixed_models.linear import MixedFit, Random, mixed_model
from ..mixed_models.structures import fit_largest
from ..multiple_tests import CORRECTIONS
from ..rows import Floats, none_if_nan
from .within import within_intervals

MOST_CELLS = 24
SCORE = "score"
UNITS = ("participant", "item")
RESERVED = ("intercept", SCORE, *UNITS)


@dataclass(frozen=True)
class Hypothesis:
    """Contrasts of cell means: ``kind`` is main, interaction or simple, ``at`` the levels held constant."""

    kind: str
    term: tuple[str, ...]
    at: Mapping[str, str]
    weights: Floats
    """Contrasts × cells."""
    levels: tuple[str, str] | None = None
    """The two levels that one contrast compares."""


def level_codes(n_levels: int) -> Floats:
    """Return orthogonal codes of levels × contrasts: ½ and −½ for two levels, Helmert's for more.

    Examples
    --------
    >>> level_codes(2).ravel().tolist()
    [0.5, -0.5]
    """
    if n_levels == 2:
        return np.array([[0.5], [-0.5]])
    codes: Floats = scipy.linalg.helmert(n_levels).T / 2**0.5
    return codes


def design_columns(factors: Mapping[str, Sequence[str]]) -> dict[str, Floats]:
    """Return the fixed effects of the full design: the code of each cell by the name of the column.

    Examples
    --------
    >>> list(design_columns({"structure": ["non", "island"], "distance": ["short", "long"]}))
    ['structure', 'distance', 'structure:distance']
    """
    cells = list(product(*(range(len(levels)) for levels in factors.values())))
    columns: dict[str, Floats] = {}
    for size in range(1, len(factors) + 1):
        for term in combinations(list(factors), size):
            codes = [level_codes(len(factors[name])) for name in term]
            for place in product(*(range(code.shape[1]) for code in codes)):
                number = [
                    f".{at + 1}" if len(factors[name]) > 2 else ""
                    for name, at in zip(term, place, strict=True)
                ]
                name = ":".join(f"{factor}{part}" for factor, part in zip(term, number, strict=True))
                positions = [list(factors).index(factor) for factor in term]
                columns[name] = np.array(
                    [np.prod([codes[k][cell[positions[k]], place[k]] for k in range(size)]) for cell in cells]
                )
    return columns


def factorial_hypotheses(factors: Mapping[str, Sequence[str]]) -> Iterator[Hypothesis]:
    """Yield main effects, interactions, simple effects and, of more than two levels, pairs of levels.

    Notes
    -----
    A difference is that of the first level less the second. The interaction of two-level factors is by how
    much the first factor's difference is larger at the second level of the others than at the first: the
    difference of differences. Main effects and interactions average the other factors' levels with equal
    weights.
    """
    names = list(factors)
    for size in range(1, len(names) + 1):
        for term in combinations(names, size):
            yield _hypothesis("main" if size == 1 else "interaction", term, factors, {})
    for size in range(1, len(names)):
        for term in combinations(names, size):
            other_names = [name for name in names if name not in term]
            for levels in product(*(factors[name] for name in other_names)):
                yield _hypothesis("simple", term, factors, dict(zip(other_names, levels, strict=True)))
    for name in names:
        if len(factors[name]) > 2:
            for pair in combinations(factors[name], 2):
                yield _hypothesis("pair", (name,), factors, {}, pair=pair)


def _hypothesis(
    kind: str,
    term: tuple[str, ...],
    factors: Mapping[str, Sequence[str]],
    at: Mapping[str, str],
    *,
    pair: tuple[str, str] | None = None,
) -> Hypothesis:
    """Build the Kronecker product of contrasts of the term's factors, means of others, and levels held."""
    weights: Floats = np.ones((1, 1))
    is_first, pairs = True, True
    for name, levels in factors.items():
        k = len(levels)
        if name in at:
            part = np.eye(k)[[list(levels).index(at[name])]]
        elif name not in term:
            part = np.full((1, k), 1 / k)
        elif pair is not None:
            part = np.zeros((1, k))
            part[0, [list(levels).index(level) for level in pair]] = 1, -1
        else:
            sign = 1 if is_first else -1
            part = sign * np.column_stack([np.ones(k - 1), -np.eye(k - 1)])
            is_first = False
            pairs = pairs and k == 2
        weights = np.asarray(np.kron(weights, part), dtype=np.float64)
    levels_compared = pair or (tuple(factors[term[0]]) if len(term) == 1 and pairs else None)
    return Hypothesis(kind, term, at, weights, levels_compared)  # type: ignore[arg-type]


def fit_factorial(
    rows: pd.DataFrame,
    factors: Mapping[str, Sequence[str]],
    *,
    value: str = SCORE,
    random: tuple[Random, ...] | None = None,
) -> tuple[MixedFit, list[Hypothesis]]:
    """Fit the full factorial model with its tests; ``rows`` have a column of levels for each factor.

    Notes
    -----
    Without ``random`` the largest structure that the data support: slopes of every effect by participant and
    by item within which it varies, without correlations; a factor between participants has none by
    participant.

    References
    ----------
    Barr, Levy, Scheepers & Tily (2013), Journal of Memory and Language 68.
    """
    bad = next((name for name in factors if name in RESERVED), None)
    if bad is not None:
        raise BadInput(f"a factor is called {bad}.", column=bad, remedy="Rename the column.")
    columns, hypotheses = design_columns(factors), list(factorial_hypotheses(factors))
    sizes = [len(levels) for levels in factors.values()]
    places = [pd.Categorical(rows[name].astype(str), list(levels)).codes for name, levels in factors.items()]
    cell = np.ravel_multi_index([np.maximum(codes, 0) for codes in places], sizes)
    frame = rows[list(UNITS)].assign(**{SCORE: rows[value].to_numpy(dtype=np.float64)})
    frame = frame.assign(**{name: codes[cell] for name, codes in columns.items()})
    frame = frame[np.all([codes >= 0 for codes in places], axis=0) & frame[SCORE].notna()]
    cells = np.column_stack([np.ones(int(np.prod(sizes))), *columns.values()])
    tests = {str(number): test.weights @ cells for number, test in enumerate(hypotheses)}

    def fit(terms: Sequence[Random], start: MixedFit | None) -> MixedFit:
        return mixed_model(
            frame, outcome=SCORE, fixed=tuple(columns), random=terms, start=start, hypotheses=tests
        )

    if random is not None:
        return fit(random, None), hypotheses
    return fit_largest(fit, frame, slopes=tuple(columns), has_correlations=False), hypotheses


def effect_rows(fit: MixedFit, hypotheses: Sequence[Hypothesis]) -> list[dict[str, Any]]:
    """Return each test as a row for JSON, with p by Holm and Benjamini-Hochberg within its kind."""
    rows: list[dict[str, Any]] = []
    for number, hypothesis in enumerate(hypotheses):
        test = fit.tests.get(str(number))
        estimate = None if test is None else test.estimate
        rows.append(
            {
                "label": _label(hypothesis),
                "kind": hypothesis.kind,
                "effect": " × ".join(hypothesis.term),
                "at": dict(hypothesis.at),
                "levels": list(hypothesis.levels or ()),
                "estimate": estimate.estimate if estimate else None,
                "se": estimate.se if estimate else None,
                "ci_low": estimate.ci_low if estimate else None,
                "ci_high": estimate.ci_high if estimate else None,
                "F": test.statistic if test else None,
                "df1": test.df1 if test else len(hypothesis.weights),
                "df2": test.df2 if test else None,
                "p": test.p if test else None,
            }
        )
    for name, correct in CORRECTIONS.items():
        for kinds in (("main", "interaction"), ("simple",), ("pair",)):
            same_kind = [row for row in rows if row["kind"] in kinds]
            p_values: list[float | None] = [row["p"] for row in same_kind]
            for row, p in zip(same_kind, correct(p_values), strict=True):
                row[f"p_{name}"] = p
    return rows


def _label(hypothesis: Hypothesis) -> str:
    """Name an effect: ``structure: non − island, at distance long``."""
    levels = f": {' − '.join(hypothesis.levels)}" if hypothesis.levels else ""
    at = "".join(f", at {name} {level}" for name, level in hypothesis.at.items())
    return f"{' × '.join(hypothesis.term)}{levels}{at}"


def factorial_effects(
    rows: pd.DataFrame,
    factors: Mapping[str, Sequence[str]],
    *,
    value: str = SCORE,
    random: tuple[Random, ...] | None = None,
    fitted: tuple[MixedFit, list[Hypothesis]] | None = None,
) -> dict[str, Any]:
    """Test every main, simple and interaction effect of a factorial design, within or between participants.

    Parameters
    ----------
    rows : DataFrame, one row per judgment
        ``participant``, ``item``, ``value`` and one column of levels per factor.
    factors : Mapping of str to sequence of str
        Levels of each factor by the name of its column; two to four factors, at most 24 cells.
    value : str
        Column of scores on an interval scale.
    random : tuple of Random, optional
        Random terms; by default the largest structure that the data support.
    fitted : tuple, optional
        The model and its hypotheses, where :func:`fit_factorial` was called already.

    Returns
    -------
    dict
        JSON-ready: ``factors`` (name, levels, ``within_participants``, ``within_items``), ``cells``
        (``levels``, ``n``, ``mean`` and within-participant interval), ``effects`` (label, kind, effect,
        ``at``, ``levels``, estimate with 95 % interval of single contrasts, F, df, p, p_holm, p_bh),
        ``structure``, ``method``,
        ``path``, ``status`` and ``reason``.

    Raises
    ------
    BadInput
        If a factor has the name of another column of the model.

    Notes
    -----
    One linear mixed model of all cells; each effect is a set of contrasts of the cell means, tested by F with
    Satterthwaite's degrees of freedom. Effects are marginal: other factors are averaged with equal weights.
    z-scores within participants remove differences between participants, hence also most of the main effect
    of a factor between them, unless fillers are shared: use raw ratings for it.

    References
    ----------
    Kuznetsova, Brockhoff & Christensen (2017), Journal of Statistical Software 82(13); Maxwell & Delaney
    (2003), *Designing Experiments and Analyzing Data*.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> rows = [(p, i, "ab"[(p + i) % 2], "xyz"[(p + i // 2) % 3]) for p in range(12) for i in range(12)]
    >>> rows = pd.DataFrame(rows, columns=["participant", "item", "voice", "animacy"])
    >>> rows["score"] = (rows["voice"] == "a") * 1.0 + rng.normal(0, 0.5, len(rows))
    >>> effects = factorial_effects(rows, {"voice": ["a", "b"], "animacy": ["x", "y", "z"]})["effects"]
    >>> [(row["effect"], row["df1"], row["p"] < 0.05) for row in effects[:3]]
    [('voice', 1, True), ('animacy', 2, False), ('voice × animacy', 2, False)]
    """
    cells = _cells(rows, factors, value=value)
    described = [
        {"name": name, "levels": list(levels), **_variation(rows, name)} for name, levels in factors.items()
    ]
    n_cells = int(np.prod([len(levels) for levels in factors.values()]))
    blank = {"factors": described, "cells": cells, "effects": [], "structure": "", "method": "", "path": ""}
    if len(cells) < n_cells:
        reason = f"{n_cells - len(cells)} of the {n_cells} cells have no judgment."
        return {**blank, "status": "not_estimable", "reason": reason}
    if n_cells > MOST_CELLS:
        reason = f"the design has {n_cells} cells; at most {MOST_CELLS} are tested."
        return {**blank, "status": "not_estimable", "reason": reason}
    fit, hypotheses = fitted or fit_factorial(rows, factors, value=value, random=random)
    return {
        **blank,
        "effects": effect_rows(fit, hypotheses) if fit.usable else [],
        "structure": fit.structure,
        "method": f"{fit.formula}; {fit.method}",
        "path": "; ".join(fit.path),
        "status": "ok" if fit.usable else fit.status,
        "reason": "" if fit.usable else f"the mixed model has no estimate ({fit.status.replace('_', ' ')}).",
    }


def _variation(rows: pd.DataFrame, name: str) -> dict[str, bool]:
    """Tell whether a factor varies within at least half of the participants, and of the items."""
    within = {
        unit: bool(2 * (rows.groupby(unit, observed=True)[name].nunique() > 1).sum() >= rows[unit].nunique())
        for unit in UNITS
    }
    return {"within_participants": within["participant"], "within_items": within["item"]}


def _cells(rows: pd.DataFrame, factors: Mapping[str, Sequence[str]], *, value: str) -> list[dict[str, Any]]:
    """Return n, mean and within-participant interval of each cell that has judgments, in order."""
    labels = {"\0".join(levels): levels for levels in product(*(map(str, part) for part in factors.values()))}
    name = rows[list(factors)].astype(str).agg("\0".join, axis=1)
    judged = rows.assign(cell=name)[name.isin(list(labels)).to_numpy() & rows[value].notna().to_numpy()]
    within = within_intervals(judged, condition="cell", value=value).set_index("condition")
    half = (within["ci_high"] - within["mean"]) if "ci_high" in within.columns else pd.Series(dtype=float)
    means: dict[str, dict[str, float]] = judged.groupby("cell")[value].agg(["size", "mean"]).to_dict("index")  # type: ignore[assignment]
    cells = []
    for label, levels in labels.items():
        if label not in means:
            continue
        mean = float(means[label]["mean"])
        width = none_if_nan(float(half.get(label, np.nan)))
        ends = (None, None) if width is None else (mean - width, mean + width)
        cells.append(
            {
                "levels": dict(zip(factors, levels, strict=True)),
                "n": int(means[label]["size"]),
                "mean": mean,
                "ci_low": ends[0],
                "ci_high": ends[1],
            }
        )
    return cells
