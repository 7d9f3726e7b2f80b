"""How participants use a scale: extreme and middle points, the upper half, and drift over the trials."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy

from ..aggregation.proportions import wilson_interval
from ..aggregation.ratings import transform_ratings
from ..mixed_models.linear import mixed_model
from ..mixed_models.structures import fit_largest
from ..multiple_tests import simultaneous_level, with_adjusted
from ..rows import Floats, column_or_blank, group_codes, is_kind, name_items_apart, none_if_nan, tasks
from ..scales import scale_codes, usable_ratings

STYLES = ("extreme", "midpoint", "acquiescence")
EDGE = 0.05  # of a slider's length, at each end and on each side of the middle
FEWEST_TRIALS = 4  # of a participant, for a slope of its own
REASONS = {
    "not_for_choices": "Choices between two sentences have no points of a scale.",
    "no_ends": "Magnitude estimates and best–worst sets have no end points.",
    "no_data": "There is no answer.",
    "no_ratings": "Drift is of ratings; choices and yes–no answers have none.",
    "no_position": "The judgments have no place of the trial in its session (position).",
    "fixed_order": "Every sentence has one place in all sessions, so that drift cannot be told from "
    "differences between sentences: draw the order anew for each participant.",
    "too_few": "Too few participants, sentences or ratings for the model.",
    "no_variation": "The ratings do not vary.",
    "not_converged": "The model did not converge.",
    "singular": "A variance is estimated as 0. That of participants' intercepts always is with z, whose mean "
    "is 0 for each participant.",
}
"""What each status means; ``ok`` needs no sentence."""


def response_styles(judgments: pd.DataFrame) -> dict[str, Any]:
    """Count for each participant the answers at the ends, in the middle and in the upper half of the scale.

    Notes
    -----
    ``participants`` has ``participant``, ``scale``, ``n``, for each style its share with ``_low`` and
    ``_high`` (Wilson, answers as units), and ``apart``: the styles whose share differs from that of all
    participants on this scale by an interval that holds for all participants and styles together
    (Bonferroni). ``sample`` has the shares of all participants by ``scale``. Answers to targets and fillers
    count; several of one participant to one sentence are one answer, with the mean of their styles.

    Likert: ``extreme`` is the lowest or highest point, ``midpoint`` the middle one (None with an even number
    of points), ``acquiescence`` a point above the middle. Sliders: within 5 % of the length of an end, or of
    the middle; above the middle. Yes-no: the share of yes. Without ``scale_low`` and ``scale_high`` the ends
    are the lowest and highest answers. Shares depend on the sentences: compare participants who judged the
    same ones.

    References
    ----------
    Baumgartner & Steenkamp (2001), Journal of Marketing Research 38. Van Vaerenbergh & Thomas (2013),
    International Journal of Public Opinion Research 25.

    Examples
    --------
    >>> rows = pd.DataFrame({"participant": "a", "task": "likert", "value": [1.0, 4, 7, 6]})
    >>> response_styles(rows)["participants"][0]["extreme"]
    0.5
    """
    value, task = usable_ratings(judgments), tasks(judgments).astype(str)
    if (task == "forced_choice").all():
        return {"participants": [], "sample": [], "status": "not_for_choices"}
    has_ends = task.isin(["", "likert", "slider", "yes_no"]).to_numpy()
    answered = has_ends & ~np.isnan(value)
    if not answered.any():
        return {"participants": [], "sample": [], "status": "no_ends" if not has_ends.all() else "no_data"}
    scale, names = scale_codes(judgments)
    rows = pd.DataFrame({
        "participant": judgments["participant"].astype(str).to_numpy(), "scale": np.array(names)[scale],
        "task": task.to_numpy(), "value": value,
    })[answered]  # fmt: skip
    for name, column in (("low", "scale_low"), ("high", "scale_high")):
        given = pd.to_numeric(column_or_blank(judgments, column), errors="coerce").to_numpy(dtype=float)
        ends = rows.groupby("scale")["value"].transform("min" if name == "low" else "max")
        rows[name] = np.where(np.isnan(given[answered]), ends, given[answered])
    rows = _merge_repeats(rows.assign(**_styles(rows)), _units(judgments)[answered])
    people = _shares(rows, ["participant", "scale"])
    sample = _shares(rows, ["scale"])
    level = simultaneous_level(len(people) * len(STYLES))
    joint = _shares(rows, ["participant", "scale"], confidence=level)
    of_all = {row["scale"]: row for row in sample}
    for row, wide in zip(people, joint, strict=True):
        row["apart"] = [
            style
            for style in STYLES
            if row[style] is not None
            and not wide[f"{style}_low"] <= of_all[row["scale"]][style] <= wide[f"{style}_high"]
        ]
    return {"participants": people, "sample": sample, "status": "ok"}


def _styles(rows: pd.DataFrame) -> dict[str, Floats]:
    """Return which answers show each style, NaN where the scale has none of it."""
    value, low, high = (rows[name].to_numpy(dtype=np.float64) for name in ("value", "low", "high"))
    middle, length = (low + high) / 2, high - low
    is_slider, is_yes_no = (rows["task"] == "slider").to_numpy(), (rows["task"] == "yes_no").to_numpy()
    reach = np.where(is_slider, EDGE * length, 0.0)
    extreme = ((value <= low + reach) | (value >= high - reach)).astype(float)
    midpoint = (np.abs(value - middle) <= reach).astype(float)
    has_middle = is_slider | (length % 2 == 0)
    return {
        "extreme": np.where(is_yes_no | (length <= 0), np.nan, extreme),
        "midpoint": np.where(is_yes_no | ~has_middle | (length <= 0), np.nan, midpoint),
        "acquiescence": np.where(is_yes_no, (value > 0).astype(float), (value > middle).astype(float)),
    }


def _units(judgments: pd.DataFrame) -> npt.NDArray[np.str_]:
    """Return the judged sentence of each row; rows without one are units of their own."""
    unit = column_or_blank(judgments, "sentence_id").astype(str)
    unit = unit.where(unit != "", column_or_blank(judgments, "item").astype(str))
    paradigm = column_or_blank(judgments, "paradigm").astype(str)
    own = pd.Series(np.arange(len(judgments)).astype(str), index=judgments.index)
    return np.where(unit != "", paradigm + "\t" + unit, "\n" + own).astype(str)


def _merge_repeats(rows: pd.DataFrame, unit: npt.NDArray[np.str_]) -> pd.DataFrame:
    """Average the styles of one participant's answers to one unit."""
    keys = ["participant", "scale", "unit"]
    return rows.assign(unit=unit).groupby(keys, sort=False)[list(STYLES)].mean().reset_index()


def _shares(rows: pd.DataFrame, keys: list[str], *, confidence: float = 0.95) -> list[dict[str, Any]]:
    """Return n and the share of each style with Wilson's interval, by participant or scale."""
    grouped = rows.groupby(keys, sort=True)[list(STYLES)]
    counts, totals, sizes = grouped.count(), grouped.sum(), grouped.size()
    table = pd.DataFrame({"n": sizes})
    for style in STYLES:
        n, k = counts[style].to_numpy(), totals[style].to_numpy()
        low, high = wilson_interval(k, n, confidence=confidence)
        table[style] = np.divide(k, n, out=np.full(len(n), np.nan), where=n > 0)
        table[f"{style}_low"], table[f"{style}_high"] = low, high
    cells = table.reset_index().astype(object)
    return [
        {str(key): None if isinstance(cell, float) and np.isnan(cell) else cell for key, cell in row.items()}
        for row in cells.where(cells.notna(), None).to_dict("records")
    ]


def rating_drift(judgments: pd.DataFrame, *, transform: str = "z") -> dict[str, Any]:
    """Estimate how ratings change from the first to the last trial, over all and for each participant.

    Notes
    -----
    ``estimate``, ``se``, ``df``, ``statistic``, ``p``, ``ci_low``, ``ci_high`` of the slope in a linear mixed
    model of the transformed ratings of targets and fillers on order, with intercepts of participants and
    sentences and slopes of order where the data support them (REML, Satterthwaite); order is (position - 1) /
    (last position - 1), so that the slope is the change over the longest session. ``sd_participants`` is the
    SD of participants' slopes, None where the model has none. ``participants`` has ``participant``, ``n``,
    ``slope`` by least squares with ``ci_low``, ``ci_high`` (t, n - 2 degrees of freedom), ``p``, ``p_holm``
    and ``p_bh``. With z a change is one relative to the participant's other ratings.

    References
    ----------
    Bates et al. (2015), Journal of Statistical Software 67(1). Baayen, Vasishth, Kliegl & Bates (2017),
    Journal of Memory and Language 94, for order in mixed models.
    """
    empty: dict[str, Any] = {
        "estimate": None, "se": None, "df": None, "statistic": None, "p": None, "ci_low": None,
        "ci_high": None, "sd_participants": None, "structure": "", "trials": None, "n": 0,
        "transform": transform, "participants": [],
    }  # fmt: skip
    task = tasks(judgments).astype(str)
    is_rated = ~task.isin(["forced_choice", "yes_no"]).to_numpy() & is_kind(judgments, ("target", "filler"))
    if not is_rated.any():
        return empty | {"status": "no_ratings"}
    rated = name_items_apart(judgments[is_rated].reset_index(drop=True))
    position = pd.to_numeric(column_or_blank(rated, "position"), errors="coerce")
    rows = pd.DataFrame({
        "participant": rated["participant"].astype(str).to_numpy(), "item": _sentences(rated),
        "value": transform_ratings(rated, transform=transform).to_numpy(dtype=float),
        "position": position.to_numpy(dtype=float),
    }).dropna(subset=["value"])  # fmt: skip
    if not rows["position"].notna().any():
        return empty | {"status": "no_position"}
    rows = rows.dropna().reset_index(drop=True)
    last = float(rows["position"].max())
    sizes = {"n": len(rows), "trials": int(last)}
    if not (rows.groupby("item")["position"].nunique() > 1).any():
        return empty | sizes | {"status": "fixed_order"}
    rows["order"] = (rows["position"] - 1) / max(last - 1, 1) - 0.5
    fit = fit_largest(
        lambda terms, start: mixed_model(rows, fixed=("order",), random=terms, start=start),
        rows,
        slopes=("order",),
    )
    slope = {key: value for key, value in vars(fit["order"]).items() if key != "term"}
    variance = fit.variances.get("participant:order")
    return empty | sizes | slope | {
        "sd_participants": None if variance is None else float(np.sqrt(variance)),
        "structure": fit.structure,
        "participants": _participant_slopes(rows),
        "status": fit.status,
    }  # fmt: skip


def _sentences(judgments: pd.DataFrame) -> npt.NDArray[np.object_]:
    """Return the name of the sentence of each row, or its item and condition."""
    sentence = column_or_blank(judgments, "sentence_id").astype(str)
    parts = [column_or_blank(judgments, name).astype(str) for name in ("item", "condition")]
    return sentence.where(sentence != "", parts[0] + " " + parts[1]).to_numpy(dtype=object)


def _participant_slopes(rows: pd.DataFrame) -> list[dict[str, Any]]:
    codes, labels = group_codes(rows["participant"])
    n = np.bincount(codes, minlength=len(labels)).astype(float)

    def center(values: Floats) -> Floats:
        means: Floats = np.bincount(codes, weights=values) / n
        return values - means[codes]

    x, y = (center(rows[name].to_numpy(dtype=float)) for name in ("order", "value"))
    spread = np.bincount(codes, weights=x * x)
    is_defined = (n >= FEWEST_TRIALS) & (spread > 1e-12)
    slope = np.divide(
        np.bincount(codes, weights=x * y), spread, out=np.full(len(n), np.nan), where=is_defined
    )
    left = np.bincount(codes, weights=(y - slope[codes] * x) ** 2)
    df = np.maximum(n - 2, 1)
    error = np.sqrt(left / df / np.where(is_defined, spread, np.nan))
    half = scipy.stats.t.ppf(0.975, df) * error
    ratio = np.divide(slope, error, out=np.full(len(n), np.nan), where=error > 0)
    p = 2 * scipy.stats.t.sf(np.abs(ratio), df)
    records = [
        {
            "participant": str(label), "n": int(n[place]), "slope": none_if_nan(slope[place]),
            "ci_low": none_if_nan((slope - half)[place]), "ci_high": none_if_nan((slope + half)[place]),
            "p": none_if_nan(p[place]), "status": "ok" if is_defined[place] else "too_few",
        }
        for place, label in enumerate(labels)
    ]  # fmt: skip
    return with_adjusted(records, [none_if_nan(number) for number in p])
