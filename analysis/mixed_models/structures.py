"""Random structure of a mixed model: the largest that the data support, and the path down from it.

The maximal structure has a slope of every tested predictor by every factor within which it varies, correlated
with the intercepts (Barr et al. 2013). What the data do not support is given up in a fixed order (Matuschek
et al. 2017): correlations first, then slopes without variance, at last all slopes.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import pandas as pd

from ..rows import group_codes
from .linear import CROSSED, MixedFit, Random, random_formula

INTERCEPTS = "intercepts only"
LARGEST = (
    "crossed intercepts, slopes by participant and item where these vary, correlated; on a singular or "
    "failed fit without correlations, then without slopes of variance 0, then intercepts only"
)
"""The path down, for conventions."""
Fit = Callable[[Sequence[Random], MixedFit | None], MixedFit]
"""Fit one structure, with the variances of an earlier fit as the start of the search."""


def supported_slopes(
    rows: pd.DataFrame, slopes: Sequence[str], *, factors: Sequence[str] = ("participant", "item")
) -> tuple[Random, ...]:
    """Return the slopes that the design supports.

    Notes
    -----
    A predictor has a slope by a factor if it varies within at least two of its groups; with all intercepts
    and slopes of a factor, there must be more rows than effects (lme4's condition), else none is supported.

    Examples
    --------
    >>> rows = pd.DataFrame({"participant": list("aabbcc"), "item": list("xyxyxy"), "condition": [0, 1] * 3})
    >>> [term.name for term in supported_slopes(rows, ["condition"])]
    []
    >>> [term.name for term in supported_slopes(pd.concat([rows, rows]), ["condition"])]
    ['participant:condition']
    """
    supported: list[Random] = []
    for factor in factors:
        codes, labels = group_codes(rows[factor])
        varying = [
            Random(factor, slope)
            for slope in slopes
            if int((rows.groupby(codes)[slope].nunique() > 1).sum()) >= 2
        ]
        if len(rows) > len(labels) * (1 + len(varying)):
            supported += varying
    return tuple(supported)


def fit_largest(
    fit: Fit,
    rows: pd.DataFrame,
    *,
    slopes: Sequence[str] = (),
    supported: tuple[Random, ...] | None = None,
    has_correlations: bool = True,
) -> MixedFit:
    """Fit the largest random structure that the data support, and name it.

    Notes
    -----
    1. All supported slopes, correlated with the intercepts by the factors of which no variance is 0; given up
       if the fit is singular or fails.
    2. The same without correlations. Predictors must be coded ±½, since uncorrelated terms depend on
       the coding.
    3. Without the slopes whose variance is 0, which leaves the likelihood and all estimates as they are; of a
       failed fit, without the slopes by item, then by participant.
    4. Intercepts alone.

    The fit without correlations is computed first: it shows variances of 0 and is the start of the larger.
    ``supported`` are the slopes to begin with, by default all that the design supports.

    References
    ----------
    Barr, Levy, Scheepers & Tily (2013), Journal of Memory and Language 68; Matuschek, Kliegl, Vasishth,
    Baayen & Bates (2017), Journal of Memory and Language 94.
    """
    supported, path = supported_slopes(rows, slopes) if supported is None else supported, list[str]()
    best = fit((*CROSSED, *supported), None)
    while supported and best.status == "not_converged":
        path.append(f"{random_formula((*CROSSED, *supported))}: not converged")
        last = supported[-1].factor
        supported = tuple(term for term in supported if term.factor != last)
        best = fit((*CROSSED, *supported), None)
    if not best.usable:
        return replace(best, path=tuple(path))
    best, supported = _without_zero_slopes(best, supported, path)
    correlated = _with_correlations(supported, best) if has_correlations else ()
    if correlated:
        larger = fit(correlated, best)
        if larger.status == "ok":
            return replace(larger, structure=in_words(correlated), path=tuple(path))
        path.append(f"{random_formula(correlated)}: {larger.status.replace('_', ' ')}")
    return replace(best, structure=in_words((*CROSSED, *supported)), path=tuple(path))


def _without_zero_slopes(
    fit: MixedFit, supported: tuple[Random, ...], path: list[str]
) -> tuple[MixedFit, tuple[Random, ...]]:
    """Take the slopes with variance 0 out of the result; every number stays as it is."""
    left = tuple(term for term in supported if term.name not in fit.zero_terms)
    if len(left) == len(supported):
        return fit, supported
    before, after = (random_formula((*CROSSED, *slopes)) for slopes in (supported, left))
    path.append(f"{before}: singular")
    dropped = {term.name for term in supported} - {term.name for term in left}
    zero = tuple(name for name in fit.zero_terms if name not in dropped)
    smaller = replace(
        fit,
        status="singular" if zero else "ok",
        formula=fit.formula.replace(before, after),
        variances={name: size for name, size in fit.variances.items() if name not in dropped},
        zero_terms=zero,
    )
    return smaller, left


def _with_correlations(supported: Sequence[Random], fit: MixedFit) -> tuple[Random, ...]:
    """Return all terms, correlated by the factors whose intercept has a variance; none without such."""
    factors = {term.factor for term in supported} - set(fit.zero_terms)
    terms = tuple(replace(term, is_correlated=term.factor in factors) for term in (*CROSSED, *supported))
    return terms if factors else ()


def in_words(random: Sequence[Random]) -> str:
    """Name a random structure.

    Examples
    --------
    >>> in_words(CROSSED), in_words([*CROSSED, Random("item", "condition")])
    ('intercepts only', 'slopes by item, without correlations')
    """
    slopes: dict[str, list[Random]] = {}
    for term in random:
        if term.slope:
            slopes.setdefault(term.factor, []).append(term)
    if not slopes:
        return INTERCEPTS
    n_predictors = len({term.slope for term in random if term.slope})
    parts = [
        factor + (f" ({', '.join(term.slope for term in terms)})" if n_predictors > 1 else "")
        for factor, terms in slopes.items()
    ]
    correlated = [factor for factor, terms in slopes.items() if terms[0].is_correlated]
    if not correlated:
        how = "without correlations"
    elif len(correlated) == len(slopes):
        how = "correlated with the intercepts"
    else:
        how = f"correlated with the intercepts by {correlated[0]}"
    return f"slopes by {' and '.join(parts)}, {how}"
