"""Response times on a logarithmic scale: geometric means, ratios, shifted lognormals and the outlier rule."""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import scipy

from ..columns import require_columns
from ..errors import BadInput
from ..mixed_models.linear import mixed_model
from ..mixed_models.structures import LARGEST, fit_largest
from ..multiple_tests import holm, widen_interval, with_adjusted
from ..quality.base import column_numbers
from ..rows import Flags, Floats, column_or_blank, group_codes, is_kind, name_items_apart, none_if_nan, tasks
from ..text import natural_order
from .contrasts import Contrast, paired_contrast
from .within import repeated_measures_correlation

MAD_SD = 1.4826  # MAD of a normal distribution with a standard deviation of 1
MAX_DROPPED = 100
"""Largest number of left-out trials that are listed individually."""
REMEDY = "Write limits in milliseconds and a spread, such as 200-10000, 2.5sd or 200-10000,3mad."
_LIMITS = re.compile(r"(\d*)\s*[-–]\s*(\d*)\s*(?:ms)?")
_SPREAD = re.compile(r"(\d+(?:\.\d+)?)\s*(sd|mad)", re.IGNORECASE)


@dataclass(frozen=True)
class OutlierRule:
    """Response times that are left out: beyond limits, then far from the participant's centre."""

    low_ms: float | None = None
    high_ms: float | None = None
    k: float | None = None
    spread: str = "sd"

    @property
    def text(self) -> str:
        """The rule in words."""
        limits = [f"below {self.low_ms:,.0f} ms"] if self.low_ms is not None else []
        limits += [f"above {self.high_ms:,.0f} ms"] if self.high_ms is not None else []
        parts = [" or ".join(limits)] if limits else []
        if self.k is not None:
            unit, centre = ("SD", "mean") if self.spread == "sd" else ("MAD (× 1.4826)", "median")
            then = "then " if limits else ""
            parts.append(f"{then}more than {self.k:g} {unit} from the participant's {centre} of log times")
        return "; ".join(parts) or "none"


def parse_outlier_rule(text: str) -> OutlierRule:
    """Parse limits in milliseconds and a spread, such as ``200-10000,2.5sd``; empty for none.

    Examples
    --------
    >>> parse_outlier_rule("200-10000,2.5sd").text
    "below 200 ms or above 10,000 ms; then more than 2.5 SD from the participant's mean of log times"
    >>> parse_outlier_rule("").text
    'none'
    """
    fields: dict[str, Any] = {}
    for part in filter(None, (word.strip() for word in text.split(","))):
        limits, spread = _LIMITS.fullmatch(part), _SPREAD.fullmatch(part)
        if limits and (limits[1] or limits[2]) and not fields.keys() & {"low_ms", "high_ms"}:
            ends = [float(end) if end else None for end in limits.groups()]
            fields |= {"low_ms": ends[0], "high_ms": ends[1]}
        elif spread and float(spread[1]) > 0 and "k" not in fields:
            fields |= {"k": float(spread[1]), "spread": spread[2].lower()}
        else:
            raise BadInput(f"{part!r} is no rule for outliers.", column="outliers", remedy=REMEDY)
    rule = OutlierRule(**fields)
    if rule.low_ms is not None and rule.high_ms is not None and rule.low_ms >= rule.high_ms:
        message = f"the limits {rule.low_ms:g} and {rule.high_ms:g} ms leave no response time."
        raise BadInput(message, column="outliers", remedy="Give the lower limit first.")
    return rule


REASONS = ("too fast", "too slow", "far from the participant's centre")


def outlier_reasons(times: Floats, participant: "pd.Series[Any]", rule: OutlierRule) -> np.ndarray:
    """Return the reason why each response time is left out; empty where it stays.

    Notes
    -----
    The spread is that of the participant's log times within the limits, once, not repeated; participants
    with fewer than three times, or without spread, keep all of theirs.
    """
    reasons = np.full(len(times), "", dtype=object)
    if rule.low_ms is not None:
        reasons[times < rule.low_ms] = REASONS[0]
    if rule.high_ms is not None:
        reasons[times > rule.high_ms] = REASONS[1]
    if rule.k is None:
        return reasons
    logs = np.log(times)
    codes, names = group_codes(participant)
    for number in range(len(names)):
        places = np.flatnonzero((codes == number) & (reasons == ""))
        if len(places) < 3:
            continue
        centre, spread = _centre(logs[places], rule.spread)
        if spread > 0:
            reasons[places[np.abs(logs[places] - centre) > rule.k * spread]] = REASONS[2]
    return reasons


def _centre(logs: Floats, spread: str) -> tuple[float, float]:
    if spread == "sd":
        return float(logs.mean()), float(logs.std(ddof=1))
    median = float(np.median(logs))
    return median, MAD_SD * float(np.median(np.abs(logs - median)))


@dataclass(frozen=True)
class ShiftedLognormal:
    """A lognormal distribution that begins at a shift, fitted by maximum likelihood."""

    status: str
    shift: float | None = None
    mu: float | None = None
    sigma: float | None = None

    @property
    def mean(self) -> float | None:
        """``shift + exp(mu + sigma² / 2)``."""
        if self.shift is None or self.mu is None or self.sigma is None:
            return None
        return self.shift + float(np.exp(self.mu + self.sigma**2 / 2))

    @property
    def median(self) -> float | None:
        """``shift + exp(mu)``."""
        return None if self.shift is None or self.mu is None else self.shift + float(np.exp(self.mu))


def shifted_lognormal(times: Floats) -> ShiftedLognormal:
    """Fit a shifted lognormal distribution by the local maximum of its likelihood.

    Notes
    -----
    Profile likelihood of the shift c ≥ 0: -n mean(log(x - c)) - n/2 log var(log(x - c)), var with divisor
    n. It grows without bound as c approaches the smallest time, so the highest local maximum is taken
    (Cohen & Whitten 1980). ``status``: ``ok``; ``no_shift`` (highest at c = 0: a plain lognormal);
    ``unbounded`` (no local maximum; a plain lognormal is returned); ``too_few`` (fewer than 10 times, or
    fewer than three different ones).

    References
    ----------
    Cohen & Whitten (1980), JASA 75; Wagenmakers & Brown (2007), Psychological Review 114.
    """
    x = np.asarray(times, dtype=np.float64)
    if len(x) < 10 or len(np.unique(x)) < 3:
        return ShiftedLognormal("too_few")

    def criterion(gap: float) -> float:
        """Return minus the profile log-likelihood, over n, at a shift of ``min(x) - gap``."""
        logs = np.log(x - x.min() + gap)
        return float(logs.mean() + 0.5 * np.log(logs.var()))

    # Gaps between shift and smallest time from 1/1000 of it to all of it (no shift), on a logarithmic grid.
    gaps = x.min() * np.logspace(-3, 0, 241)
    values = np.array([criterion(float(gap)) for gap in gaps])
    inner = [i for i in range(1, len(gaps) - 1) if values[i] < values[i - 1] and values[i] <= values[i + 1]]
    best = min(inner, key=lambda i: values[i], default=None)
    rises_to_end = values[-1] <= values[-2]
    if best is None or (rises_to_end and values[-1] <= values[best]):
        return _lognormal(x, 0.0, "no_shift" if rises_to_end else "unbounded")
    fit = scipy.optimize.minimize_scalar(
        criterion,
        bounds=(gaps[best - 1], gaps[best + 1]),
        method="bounded",
        options={"xatol": 1e-9 * x.min()},
    )
    return _lognormal(x, float(x.min() - fit.x), "ok")


def _lognormal(x: Floats, shift: float, status: str) -> ShiftedLognormal:
    logs = np.log(x - shift)
    return ShiftedLognormal(status, shift, float(logs.mean()), float(logs.std()))


def timed_rows(judgments: pd.DataFrame, rule: OutlierRule, *, by: str) -> pd.DataFrame:
    """Return the timed targets with ``rt``, ``log_rt``, ``group``, ``side`` and ``reason``.

    ``group`` is the condition, or the column ``by`` where trials have no condition.
    """
    require_columns(judgments, "participant", "rt_ms")
    judgments = name_items_apart(judgments)
    times = column_numbers(judgments, "rt_ms")
    is_timed: Flags = is_kind(judgments, ("target",)) & (np.nan_to_num(times) > 0)
    rows, rt = judgments[is_timed], times[is_timed]
    condition = column_or_blank(rows, "condition").astype(str)
    has_condition = bool(condition.isin(["", "nan"]).mean() < 1)
    group = condition if has_condition else column_or_blank(rows, by).astype(str)
    return rows.assign(
        rt=rt,
        log_rt=np.log(rt),
        group=group.to_numpy(),
        name=column_or_blank(rows, by).astype(str).to_numpy(),
        side=column_or_blank(rows, "expected").astype(str).to_numpy(),
        reason=outlier_reasons(rt, rows["participant"], rule),
    )


def condition_times(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """Summarize the kept times of each condition: geometric mean with interval, and the shifted lognormal.

    Notes
    -----
    The geometric mean is exp of the mean of participants' mean log times, with the t interval over them.
    """
    summaries = []
    remaining = rows[rows["reason"] == ""]
    for name, part in sorted(remaining.groupby("group"), key=lambda entry: natural_order(str(entry[0]))):
        people = part.groupby("participant", observed=True)["log_rt"].mean().to_numpy(dtype=np.float64)
        centre, n = float(people.mean()), len(people)
        error = float(people.std(ddof=1)) / np.sqrt(n) if n > 1 else np.nan
        half = float(scipy.stats.t.ppf(0.975, n - 1)) * error if n > 1 else np.nan
        fit = shifted_lognormal(part["rt"].to_numpy(dtype=np.float64))
        summaries.append(
            {
                "condition": str(name),
                "n": len(part),
                "participants": n,
                "geometric_mean": float(np.exp(centre)),
                "ci_low": none_if_nan(float(np.exp(centre - half))),
                "ci_high": none_if_nan(float(np.exp(centre + half))),
                "mean": float(part["rt"].mean()),
                "median": float(part["rt"].median()),
                "shift": fit.shift,
                "mu": fit.mu,
                "sigma": fit.sigma,
                "lognormal_mean": fit.mean,
                "lognormal_median": fit.median,
                "lognormal_status": fit.status,
            }
        )
    return summaries


def time_correlations(remaining: pd.DataFrame) -> list[dict[str, Any]]:
    """Correlate log times within participants with the rating, with correctness, and with the position.

    Correct: the expected member of a pair, yes to an acceptable or no to an unacceptable sentence.
    """
    value = column_numbers(remaining, "value")
    task = tasks(remaining.assign(value=value)).astype(str).to_numpy()
    side = remaining["side"].to_numpy()
    yes_no = np.where(np.isin(side, ["acceptable", "unacceptable"]), value == (side == "acceptable"), np.nan)
    correct = np.select([task == "forced_choice", task == "yes_no"], [value, yes_no], np.nan)
    rating = np.where(np.isin(task, ["forced_choice", "yes_no"]), np.nan, value)
    logs = np.log(rating, where=rating > 0, out=np.full(len(rating), np.nan))
    columns = {
        "rating": np.where(task == "magnitude_estimation", logs, rating),
        "correct": np.where(np.isnan(value), np.nan, correct),
        "position": column_numbers(remaining, "position"),
    }
    log_rt = remaining["log_rt"].to_numpy(dtype=np.float64)
    return [
        {"with": name, **repeated_measures_correlation(column, log_rt, remaining["participant"])}
        for name, column in columns.items()
        if not np.isnan(column).all()
    ]


def time_report(
    judgments: pd.DataFrame, *, by: str = "phenomenon", outliers: str = "", experiment: str = ""
) -> dict[str, Any]:
    """Report response times by condition, their ratios and mixed models on log times.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment
        Needs ``participant``, ``item``, ``condition``, ``rt_ms`` (milliseconds) and the column of ``by``;
        ``expected``, where present, orders the two conditions of a contrast.
    by : {"phenomenon", "paradigm"}
        Column that defines the contrasts.
    outliers : str
        Times that are left out, as :func:`parse_outlier_rule` takes them: ``200-10000``, ``2.5sd`` or both.
    experiment : str
        Name of the study in the report.

    Returns
    -------
    dict
        Described in the notes; undefined numbers are None.

    Raises
    ------
    MissingColumns, BadInput
        If a column is absent, or the rule is not one.

    Notes
    -----
    ``conditions`` and ``contrasts`` (unacceptable over acceptable by ``by``; without expected statuses every
    condition over the first): ``ratio`` with interval by participants, the same by items, and in the mixed
    model of log times with the random slopes that the data support. ``dropped`` counts what the rule leaves
    out by reason and names participants; ``trials`` lists the first of them. ``within_participants`` has the
    correlations of log times with ratings or correctness, and with the position.

    References
    ----------
    Baayen & Milin (2010), International Journal of Psychological Research 3; Ratcliff (1993), Psychological
    Bulletin 114.

    Examples
    --------
    >>> rows = pd.DataFrame({
    ...     "participant": list("aabb"), "item": ["1", "2"] * 2, "condition": ["good", "bad"] * 2,
    ...     "value": [7, 1, 6, 2], "rt_ms": [800, 1600, 900, 1800]})
    >>> [(row["condition"], round(row["geometric_mean"])) for row in time_report(rows)["conditions"]]
    [('bad', 1697), ('good', 849)]
    """
    rule = parse_outlier_rule(outliers)
    rows = timed_rows(judgments, rule, by=by)
    answered = int((is_kind(judgments, ("target",)) & ~np.isnan(column_numbers(judgments, "value"))).sum())
    contrasts = [
        {by: name, "slow": slow, "fast": fast, **_ratio(part, slow_rows)}
        for name, slow, fast, part, slow_rows in _contrasts(rows[rows["reason"] == ""])
    ]
    return {
        "experiment": experiment,
        "by": by,
        "outliers": outliers,
        "rule": rule.text,
        "timed": len(rows),
        "answered": answered,
        "dropped": _count_dropped(rows),
        "conditions": condition_times(rows),
        "contrasts": _with_simultaneous(with_adjusted(contrasts, [row["mixed"]["p"] for row in contrasts])),
        "reason": _reason(rows, contrasts),
        "within_participants": time_correlations(rows[rows["reason"] == ""]),
        "conventions": {
            "times": "targets with a response time above 0; natural logarithms",
            "outliers": f"{rule.text}; on the targets of each participant, before conditions are compared",
            "geometric_mean": "exp of the mean of participants' mean log times; t interval over participants",
            "ratio": "exp of the difference of participants' (or items') mean log times; paired t",
            "mixed": f"log time ~ 1 + condition + {LARGEST}; REML, Satterthwaite; its estimate as a ratio. "
            "p_holm and p_bh: over the contrasts",
            "simultaneous": "interval of the ratio by participants that holds for all contrasts together "
            "(Bonferroni); p_participants_holm: p of the t test by participants, corrected by Holm",
            "within_participants": "repeated-measures correlation of log times with the rating (log of a "
            "magnitude) or correctness, and with the trial's position in its session",
            "lognormal": "shift + exp(mu + sigma² / 2) and shift + exp(mu), trials pooled, by the local "
            "maximum of the likelihood with a shift from 0",
        },
    }


def _with_simultaneous(contrasts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Add the intervals by participants that hold for all contrasts together, and p corrected by Holm."""
    corrected = holm([row["p"] for row in contrasts])
    n = sum(row["p"] is not None for row in contrasts)
    rows = []
    for row, p in zip(contrasts, corrected, strict=True):
        ends: tuple[float | None, float | None] = (row["ci_low"], row["ci_high"])
        if ends[0] is not None and ends[1] is not None and row["df"]:
            logs = np.log([row["ratio"], *ends])
            low, high = widen_interval(*logs.tolist(), df=row["df"], n=n)
            ends = float(np.exp(low)), float(np.exp(high))
        rows.append({**row, "p_participants_holm": p, "simultaneous": list(ends)})
    return rows


Contrasted = tuple[str, str, str, pd.DataFrame, Flags]


def _contrasts(remaining: pd.DataFrame) -> list[Contrasted]:
    """Return name, both sides, rows and which rows are of the first side, for each contrast."""
    if (
        remaining.empty
        or (remaining.get("task", pd.Series(dtype=object)).astype(object) == "forced_choice").all()
    ):
        return []
    labelled = remaining[remaining["side"].isin(["acceptable", "unacceptable"])]
    if labelled["side"].nunique() == 2:
        return [
            (str(name), "unacceptable", "acceptable", part, (part["side"] == "unacceptable").to_numpy())
            for name, part in labelled.groupby("name", sort=True)
            if part["side"].nunique() == 2
        ]
    names = sorted(set(remaining["group"]), key=natural_order)
    parts = [(name, remaining[remaining["group"].isin([names[0], name])]) for name in names[1:]]
    return [("", name, names[0], part, (part["group"] == name).to_numpy()) for name, part in parts]


def _reason(rows: pd.DataFrame, contrasts: list[dict[str, Any]]) -> str:
    """Return why there is no contrast; empty where there is one."""
    if contrasts or rows.empty:
        return "" if contrasts else "No target has a response time."
    if (rows.get("task", pd.Series(dtype=object)).astype(object) == "forced_choice").all():
        return "A choice shows both sentences at once, so its time belongs to neither condition."
    return "There is one condition only."


def _ratio(part: pd.DataFrame, slow: Flags) -> dict[str, Any]:
    """Compare the log times of both sides by participants, by items and in a mixed model."""
    people, items = (_by_unit(part, slow, unit) for unit in ("participant", "item"))
    coded = part.assign(condition=slow - 0.5)
    fit = fit_largest(
        lambda terms, start: mixed_model(coded, outcome="log_rt", random=terms, start=start),
        coded,
        slopes=("condition",),
    )
    effect = fit["condition"]
    return {
        "n": len(part),
        **_as_ratio(people),
        "items": _as_ratio(items),
        "mixed": {
            "ratio": _exp(effect.estimate),
            "ci_low": _exp(effect.ci_low),
            "ci_high": _exp(effect.ci_high),
            "statistic": effect.statistic,
            "df": effect.df,
            "p": effect.p,
            "status": fit.status,
            "method": f"{fit.formula}; {fit.method}",
            "structure": fit.structure,
        },
    }


def _by_unit(part: pd.DataFrame, slow: Flags, unit: str) -> Contrast:
    """Compare the mean log times of the units with both sides."""
    means = [part[side].groupby(unit, observed=True)["log_rt"].mean() for side in (slow, ~slow)]
    shared_units = means[0].index.intersection(means[1].index)
    first, second = (side.loc[shared_units].to_numpy(dtype=np.float64) for side in means)
    return paired_contrast(first, second)


def _as_ratio(tested: Contrast) -> dict[str, Any]:
    return {
        "units": tested.n,
        "ratio": _exp(tested.mean_difference),
        "ci_low": _exp(tested.ci_low),
        "ci_high": _exp(tested.ci_high),
        "statistic": tested.statistic,
        "df": tested.df,
        "p": tested.p,
        "status": tested.status,
    }


def _exp(log_ratio: float | None) -> float | None:
    return None if log_ratio is None else float(np.exp(log_ratio))


def _count_dropped(rows: pd.DataFrame) -> dict[str, Any]:
    left_out = rows[rows["reason"] != ""]
    people = left_out.groupby("participant", observed=True).size().sort_values(ascending=False, kind="stable")
    totals = rows.groupby("participant", observed=True).size()
    return {
        "n": len(left_out),
        "reasons": {reason: int((left_out["reason"] == reason).sum()) for reason in REASONS},
        "participants": [
            {"participant": str(name), "dropped": int(n), "timed": int(totals[name])}
            for name, n in zip(people.index.tolist(), people, strict=True)
        ],
        "trials": [
            {
                "participant": str(row["participant"]),
                "item": str(row.get("item", "")),
                "condition": str(row["group"]),
                "rt_ms": float(row["rt"]),
                "reason": str(row["reason"]),
            }
            for row in left_out.head(MAX_DROPPED).to_dict("records")
        ],
    }
