"""What a criterion of exclusion is: a judge of units, its scopes, and settings that it refuses."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import pandas as pd

from analysis.errors import BadInput
from analysis.rows import Codes, Floats

Verdicts = Floats
"""1 the unit fails, 0 it passes, NaN there is no evidence."""
Scope = Literal["participant", "session", "judgment"]
Judge = Callable[[pd.DataFrame, Codes, int, Mapping[str, Any]], Verdicts]

SCORABLE_KINDS = ("catch",)


@dataclass(frozen=True)
class Criterion:
    """A criterion: how it judges units, on which scopes, with which settings."""

    judge: Judge
    scopes: tuple[Scope, ...]
    """The first is the default."""
    reason: str
    defaults: Mapping[str, Any] = field(default_factory=dict)
    version: int | None = None
    """Of the signal behind it; a plan names the version it was written for."""

    def check(self, settings: Mapping[str, Any]) -> None:
        """Refuse settings that are no numbers in range, or that would score analysed items."""
        scored = [kind for kind in settings.get("kinds", SCORABLE_KINDS) if kind not in SCORABLE_KINDS]
        if scored:
            raise BadInput(
                f"a plan cannot exclude by the answers to {', '.join(scored)} trials: that would raise the "
                "agreement it is meant to measure.",
                remedy="Only catch trials, which are outside the analysis, may exclude.",
            )
        for name in ("max_errors", "minimum"):
            if name in settings and not (type(settings[name]) is int and settings[name] >= 0):
                raise BadInput(f"{name} is {settings[name]!r}.", remedy="Give a whole number from 0.")
        if "version" in settings and settings["version"] != self.version:
            raise BadInput(
                f"the plan was written for version {settings['version']!r} of a signal that now has version "
                f"{self.version}.",
                remedy="Look at what has changed, and write the next version of the plan.",
            )
        if "min_share" in settings:
            share_from(settings["min_share"])


def any_row(marks: Floats, unit: Codes, n_units: int) -> Verdicts:
    """Fail a unit when any row fails; no evidence when no row has any.

    Parameters
    ----------
    marks : array of float
        1, 0 or NaN for each row.
    unit : array of int
        The unit of each row.
    n_units : int

    Returns
    -------
    array of float
        1, 0 or NaN for each unit.

    Examples
    --------
    >>> any_row(np.array([1, 0, 0]), np.array([0, 0, 1]), 3).tolist()
    [1.0, 0.0, nan]
    """
    known = ~np.isnan(marks)
    seen = np.bincount(unit[known], minlength=n_units)
    failing = np.bincount(unit[known & (marks == 1)], minlength=n_units)
    return np.where(seen > 0, (failing > 0).astype(float), np.nan)


def share_from(given: Any) -> Fraction:
    """Read a share exactly as it is written.

    Parameters
    ----------
    given : object
        Such as ``"0.9"`` or ``0.9``.

    Returns
    -------
    Fraction

    Raises
    ------
    BadInput
        If it is no number from 0 to 1.

    Examples
    --------
    >>> share_from("0.9")
    Fraction(9, 10)
    """
    try:
        share = Fraction(str(given))
    except (ValueError, ZeroDivisionError):
        share = Fraction(-1)
    if not 0 <= share <= 1:
        raise BadInput(f"min_share is {given!r}.", remedy="Give a share from 0 to 1.")
    return share
