"""Magnitude estimates by condition: raw on a logarithmic axis, and standardized by participant."""

import altair as alt
import numpy as np
import pandas as pd

from ....aggregation.ratings import transform_ratings
from ....columns import require_columns
from ....errors import NotEnoughData
from ....magnitudes import log_ratios, unusable_estimates
from ....rows import is_kind, tasks
from ....scales import outliers, usable_ratings
from ....text import plural
from ...drawing import Drawing, lacks_task
from ...evidence import Evidence
from ...theme import PASSED, caption, layer_charts
from .scale_points import MOST_DRAWN, row_column

STEP = 26


def magnitude_frame(judgments: pd.DataFrame, *, scale: str = "raw", by: str = "condition") -> pd.DataFrame:
    """Return the quartiles and whiskers of each condition's estimates.

    Notes
    -----
    ``row``, ``n``, ``whisker_low``, ``q1``, ``median``, ``q3``, ``whisker_high``, ``beyond`` (values
    outside the whiskers, which end at the furthest value within 1.5 interquartile ranges; for raw
    estimates on the scale of logarithms); the largest median first.

    References
    ----------
    Tukey (1977), *Exploratory Data Analysis*.
    """
    require_columns(judgments, "participant", "value")
    targets = is_kind(judgments, ("target",))
    if scale == "raw":
        value = usable_ratings(judgments)
        values = log_ratios(judgments.assign(value=value)).to_numpy(dtype=float)
    else:
        values = transform_ratings(judgments, transform="z").to_numpy(dtype=float)
    names = (
        judgments[by].astype(object).fillna("").astype(str).replace("", "all") if by in judgments else "all"
    )
    rows = pd.DataFrame({"row": names, "y": values}, index=judgments.index)[targets]
    parts = [{"row": name, **_box(part.to_numpy())} for name, part in rows.dropna().groupby("row")["y"]]
    columns = ["row", "n", "whisker_low", "q1", "median", "q3", "whisker_high", "beyond"]
    frame = pd.DataFrame(parts, columns=columns)
    if scale == "raw":
        ends = ["whisker_low", "q1", "median", "q3", "whisker_high"]
        frame[ends] = 10 ** frame[ends].astype(float)
    return frame.sort_values("median", ascending=False, kind="stable", ignore_index=True)


def _box(values: np.ndarray) -> dict[str, float]:
    q1, median, q3 = np.percentile(values, [25, 50, 75])
    reach = 1.5 * (q3 - q1)
    within_whiskers = values[(values >= q1 - reach) & (values <= q3 + reach)]
    return {
        "n": len(values),
        "whisker_low": float(within_whiskers.min()),
        "q1": float(q1),
        "median": float(median),
        "q3": float(q3),
        "whisker_high": float(within_whiskers.max()),
        "beyond": int(len(values) - len(within_whiskers)),
    }


def magnitude_figure(
    boxes: pd.DataFrame,
    *,
    scale: str = "raw",
    unit: str = "estimate",
    n_outliers: int | None = None,
    note: str = "",
) -> alt.LayerChart:
    """Draw a box per condition."""
    require_columns(boxes, "row", "n", "whisker_low", "q1", "median", "q3", "whisker_high")
    if not len(boxes):
        raise NotEnoughData("there are no estimates above 0.")
    largest = set(boxes.sort_values("n", ascending=False, kind="stable")["row"].iloc[:MOST_DRAWN])
    visible = boxes[boxes["row"].isin(largest)]
    y = alt.Y("row:N", sort=list(visible["row"]), title=None)
    kind = alt.Scale(type="log", nice=False) if scale == "raw" else alt.Scale(zero=False)
    words = f"{unit}, logarithmic" if scale == "raw" else "participant z"
    x = alt.X("whisker_low:Q", title=words, scale=kind, axis=alt.Axis(format="~g", labelOverlap=True))
    base = alt.Chart(visible)
    whiskers = base.mark_rule(strokeWidth=1.5).encode(x=x, x2="whisker_high:Q", y=y)
    body = base.mark_bar(size=STEP - 10, color=PASSED, opacity=0.75).encode(
        x=alt.X("q1:Q"),
        x2="q3:Q",
        y=y,
        tooltip=[
            alt.Tooltip("row:N"),
            alt.Tooltip("median:Q", format=".3g"),
            alt.Tooltip("n:Q", title="estimates"),
        ],
    )
    middles = base.mark_tick(thickness=2.5, size=STEP - 8, color="#f5f5f5").encode(x="median:Q", y=y)
    flagged = f" {n_outliers} estimates are flagged as outliers and kept." if n_outliers is not None else ""
    title = caption(
        "Magnitude estimates" if scale == "raw" else "Magnitude estimates, standardized",
        f"{plural(int(boxes['n'].sum()), 'estimate')} in {plural(len(boxes), 'condition')}; "
        f"boxes: quartiles and median; lines: to the furthest within 1.5 interquartile ranges.{flagged}",
        f"The {MOST_DRAWN} with most estimates are drawn." if len(boxes) > MOST_DRAWN else "",
        note,
    )
    return layer_charts([whiskers, body, middles], visible, height=alt.Step(STEP), title=title)


def _estimates(evidence: Evidence) -> pd.DataFrame:
    judgments = evidence.kept
    return judgments[(tasks(judgments) == "magnitude_estimation").to_numpy()]


def estimate_unit(rows: pd.DataFrame) -> str:
    """Name what is drawn: estimates, or their ratios to the modulus where there is one.

    Examples
    --------
    >>> estimate_unit(pd.DataFrame({"value": [50.0]})), estimate_unit(pd.DataFrame({"modulus": [100.0]}))
    ('estimate', 'estimate / modulus')
    """
    if "modulus" not in rows.columns:
        return "estimate"
    has_modulus = pd.to_numeric(rows["modulus"]) > 0
    if has_modulus.all():
        return "estimate / modulus"
    return "estimate, divided by the modulus where there is one" if has_modulus.any() else "estimate"


def _draw_raw(evidence: Evidence) -> alt.LayerChart:
    rows = _estimates(evidence)
    boxes = magnitude_frame(rows, by=row_column(rows))
    n_zeros = unusable_estimates(rows[is_kind(rows, ("target",))])["zeros"]
    zeros = f"{plural(n_zeros, 'estimate')} of zero cannot be drawn on it. " if n_zeros else ""
    return magnitude_figure(
        boxes,
        unit=estimate_unit(rows),
        n_outliers=int(outliers(rows).sum()),
        note=f"{zeros}{evidence.note}",
    )


def _draw_z(evidence: Evidence) -> alt.LayerChart:
    rows = _estimates(evidence)
    return magnitude_figure(
        magnitude_frame(rows, scale="z", by=row_column(rows)), scale="z", note=evidence.note
    )


DRAWINGS = (
    Drawing(
        name="magnitudes",
        number=12,
        title="Magnitude estimates",
        shows="A box per condition with the quartiles of raw estimates on a logarithmic axis",
        needs="magnitude estimates",
        about="study",
        lacking=lacks_task("magnitude_estimation"),
        draw=_draw_raw,
    ),
    Drawing(
        name="magnitudes-z",
        number=12,
        title="Magnitude estimates, standardized",
        shows="A box per condition with the quartiles of participants' z of their estimates",
        needs="magnitude estimates",
        about="study",
        lacking=lacks_task("magnitude_estimation"),
        draw=_draw_z,
    ),
)
