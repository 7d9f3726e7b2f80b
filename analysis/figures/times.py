"""What the figures of response times share: which answers have one, and the axis they are drawn on."""

import altair as alt
import numpy as np
import pandas as pd

from analysis.quality.base import column_numbers
from analysis.rows import Flags, is_kind

SECONDS = "datum.value < 1000 ? datum.value + ' ms' : datum.value / 1000 + ' s'"


def timed(judgments: pd.DataFrame, kinds: tuple[str, ...]) -> Flags:
    """Tell which rows of some kinds of trial have a response time.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        Needs ``rt_ms``.
    kinds : tuple of str
        ``target``, ``catch``, …

    Returns
    -------
    array of bool

    Examples
    --------
    >>> timed(pd.DataFrame({"rt_ms": [900, None, 700], "kind": ["target", "target", "catch"]}), ("target",))
    array([ True, False, False])
    """
    times = column_numbers(judgments, "rt_ms")
    return is_kind(judgments, kinds) & (np.nan_to_num(times) > 0)


def time_axis(field: str, ends: list[float]) -> alt.X:
    """Give the logarithmic axis of response times.

    Parameters
    ----------
    field : str
        Column in milliseconds.
    ends : list of float
        Lowest and highest time on the axis.

    Returns
    -------
    altair.X
        Labelled at round times, in ms below a second and in s from there on.
    """
    return alt.X(
        f"{field}:Q",
        title="response time",
        scale=alt.Scale(type="log", domain=ends, nice=False),
        axis=alt.Axis(labelExpr=SECONDS, values=_round_times(ends), labelOverlap=True),
    )


def _round_times(ends: list[float]) -> list[float]:
    steps = [one * 10**power for power in range(1, 7) for one in (1, 2, 5)]
    inside = [float(step) for step in steps if ends[0] <= step <= ends[1]]
    return inside if len(inside) <= 6 else [step for step in inside if str(int(step))[0] == "1"]
