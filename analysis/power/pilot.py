"""Power for other numbers of participants from a pilot: exact for single choices, otherwise by resampling."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy

from ..aggregation.decisions import forced_choice_decisions
from ..aggregation.proportions import wilson_interval
from ..aggregation.ratings import transform_ratings
from ..choices import POWER_ANALYSES, POWER_TARGET
from ..columns import require_columns
from ..effects.bayes import jzs_bayes_factor
from ..effects.contrasts import paired_means
from ..errors import BadInput, NotEnoughData, UnknownName
from ..rows import Flags, Floats, column_or_blank, is_kind, tasks
from .exact import ALPHA, critical_count, share_powered, sign_power
from .pilot_variation import MIXED_TEST, pilot_effects, pooled_variation, replication_power

DRAWS = 1_000
CRITERIA = ("t", "bayes")
BAYES_CUT = 3.0
# The variation between pilots dominates; 200 draws add a Monte Carlo error of at most .035 to each.
DRAWS_PER_PILOT = 200


def pilot_matrix(
    judgments: pd.DataFrame, *, by: str = "phenomenon", transform: str = "z"
) -> tuple[pd.DataFrame, str]:
    """Compute one value per participant and phenomenon, the unit of resampling.

    Notes
    -----
    Difference acceptable - unacceptable, or share of expected choices; NaN where a participant has none.
    Contrasts that no participant judged on both sides are omitted: their power is unknown, not 0;
    ``attrs["left_out"]`` names them.

    References
    ----------
    Sprouse & Almeida (2017), Glossa 2(1):14.
    """
    require_columns(judgments, "participant", "value")
    names = sorted({str(name) for name in tasks(judgments).dropna().unique()})
    if len(names) != 1:
        raise BadInput(f"the judgments are of {len(names)} tasks.", column="task", remedy="Give one task.")
    if names[0] == "forced_choice":
        rows = judgments[is_kind(judgments, ("target",))]
        decisions = forced_choice_decisions(rows).assign(**{by: column_or_blank(rows, by).astype(str).array})
        matrix = decisions.pivot_table(index="participant", columns=by, values="agrees", observed=True)
    else:
        require_columns(judgments, "expected")
        how = "raw" if names[0] == "yes_no" else transform
        scored = judgments.assign(score=transform_ratings(judgments, transform=how))
        scored = scored[is_kind(scored, ("target",)) & scored["score"].notna()]
        groups = scored.groupby(column_or_blank(scored, by).astype(str), observed=True)
        parts = {
            str(name): paired_means(part, value="score").set_index("unit")["difference"]
            for name, part in groups
        }
        matrix = pd.DataFrame(parts)
    known = matrix.dropna(axis="columns", how="all")
    known.attrs["left_out"] = [str(name) for name in matrix.columns.difference(known.columns)]
    matrix = known
    if matrix.empty:
        raise NotEnoughData("no participant judged both sides of a contrast.", column="expected")
    return matrix, names[0]


def resampled_power(
    matrix: pd.DataFrame,
    sizes: Sequence[int],
    *,
    draws: int = DRAWS,
    seed: int = 0,
    alpha: float = ALPHA,
    criterion: str = "t",
    pilots: int = 0,
    choices: bool = False,
) -> pd.DataFrame:
    """Resample n participants with replacement and compute the share of significant samples.

    Notes
    -----
    ``phenomenon``, ``n``, ``power``, ``wrong_direction`` (share of draws detected the other way),
    ``mc_error``, ``n_pilot`` (participants who judged the contrast), ``n_drawn_from`` (all participants of
    the pilot, resampled with their missing values) and, with ``pilots``, the 95 % interval over pilots.

    W ~ Multinomial(n; 1/N), S = W·X, Q = W·X², t = (S/n) / √((Q - S²/n) / (n - 1) / n). With ``choices``
    the matrix contains shares of expected choices minus one half, and draws are tested as
    :func:`obelus.effects.report.effects_report` tests them: by the exact sign test of participants where
    they have no variance. A contrast whose values are all -½ or ½ (one choice per participant) is always
    tested by the sign test; other draws without variance are not detected. Each size has its own random
    numbers, so the power at a size does not depend on the other sizes. The pilot is treated as the
    population: with fewer than 30 participants power is overestimated and the interval over pilots should
    be reported. Not applicable to the power of the pilot itself.

    References
    ----------
    Sprouse & Almeida (2017), Glossa 2(1):14.
    """
    if criterion not in CRITERIA:
        raise UnknownName("criterion", criterion, CRITERIA)
    if len(matrix) < 2:
        raise NotEnoughData("a pilot needs two participants.")
    if draws < 1 or min(sizes, default=0) < 1:
        raise BadInput("sizes and draws are at least 1.", remedy="Give whole numbers from 1.")
    values = matrix.to_numpy(dtype=np.float64)
    test = DrawTest.of(values, alpha=alpha, criterion=criterion, choices=choices)
    parts = []
    for n in sizes:
        rng = np.random.default_rng([seed, n])
        right, wrong = _detections(values, n, draws=draws, rng=rng, test=test)
        part = pd.DataFrame(
            {"phenomenon": list(matrix.columns), "n": n, "power": right, "wrong_direction": wrong}
        )
        if pilots:
            ends = _over_pilots(values, n, pilots=pilots, rng=rng, test=test)
            part = part.assign(pilot_low=ends[0], pilot_high=ends[1])
        parts.append(part)
    table = pd.concat(parts, ignore_index=True)
    table["mc_error"] = np.sqrt(table["power"] * (1 - table["power"]) / draws)
    table["n_pilot"] = np.tile(np.isfinite(values).sum(axis=0), len(sizes))
    table["n_drawn_from"] = len(values)
    return table


def describe_sample(table: pd.DataFrame) -> str:
    """Describe which participants the sample sizes in a table of power count.

    Notes
    -----
    Resampling includes missing values: if each participant judged only some of the contrasts, a contrast has
    fewer participants than the study. The exact sign test counts the participants of the contrast.

    Examples
    --------
    >>> describe_sample(pd.DataFrame({"n_pilot": [60, 74], "n_drawn_from": [342, 342]}))
    'participants of the whole study; 60 to 74 of 342 in the pilot judged each contrast'
    """
    low, high = int(table["n_pilot"].min()), int(table["n_pilot"].max())
    span = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    if "n_drawn_from" not in table.columns:
        return f"participants who judge the contrast, once each; {span} did in the pilot"
    everyone = int(table["n_drawn_from"].max())
    if low == everyone:
        return f"participants, {everyone:,} in the pilot"
    return f"participants of the whole study; {span} of {everyone:,} in the pilot judged each contrast"


def powered_by_size(table: pd.DataFrame, *, target: float = POWER_TARGET) -> pd.DataFrame:
    """Compute the share of phenomena with power at the target, by number of participants.

    Notes
    -----
    ``n``, ``phenomena``, ``share_powered`` and, where the table has the interval over pilots,
    ``share_sure``: the share whose lower limit of power is at the target.

    Examples
    --------
    >>> power = pd.DataFrame({"phenomenon": ["a", "b"], "n": 10, "power": [0.9, 0.5]})
    >>> powered_by_size(power).to_dict("records")
    [{'n': 10, 'phenomena': 2, 'share_powered': 0.5}]
    """
    has_ends = "pilot_low" in table.columns
    rows = [
        {
            "n": n,
            "phenomena": len(part),
            "share_powered": share_powered(part["power"], target=target),
            **({"share_sure": share_powered(part["pilot_low"], target=target)} if has_ends else {}),
        }
        for n, part in table.groupby("n")
    ]
    return pd.DataFrame(rows)


@dataclass(frozen=True)
class DrawTest:
    """Test of a sample drawn from the pilot."""

    alpha: float
    criterion: str
    is_single: Flags
    """Contrasts with one choice per participant, always tested by the sign test."""
    choices: bool
    """Whether samples without variance are tested by the sign test."""

    @classmethod
    def of(cls, values: Floats, *, alpha: float, criterion: str, choices: bool) -> "DrawTest":
        """Find the contrasts of a pilot with one choice per participant."""
        is_single = (np.isnan(values) | (np.abs(values) == 0.5)).all(axis=0)
        return cls(alpha, criterion, is_single, choices)

    def t_cut(self, n: int) -> float:
        """Return the critical t of n participants."""
        if n < 2:
            return np.inf
        if self.criterion == "bayes":
            return _bayes_cut(n)
        return float(scipy.stats.t.ppf(1 - self.alpha / 2, n - 1))

    def sign_cut(self, n: int) -> float:
        """Return the least significant number of participants with a common sign; inf without one."""
        bayes_cut = BAYES_CUT if self.criterion == "bayes" else None
        least = critical_count(n, alpha=self.alpha, bayes_cut=bayes_cut)
        return np.inf if least is None else float(least)


def _detections(
    values: Floats, n: int, *, draws: int, rng: np.random.Generator, test: DrawTest
) -> tuple[Floats, Floats]:
    """Compute the shares of samples that are significant in the predicted and in the other direction."""
    indices = rng.integers(len(values), size=(draws, n)) + np.arange(draws)[:, None] * len(values)
    weights = (
        np.bincount(indices.ravel(), minlength=draws * len(values)).reshape(draws, -1).astype(np.float64)
    )
    is_known = np.isfinite(values)
    filled = np.where(is_known, values, 0.0)
    count = np.full((draws, 1), float(n)) if is_known.all() else weights @ is_known
    sums, squares = weights @ filled, weights @ filled**2
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = sums / count
        variance = (squares - sums * mean) / (count - 1)
        varied = (count > 1) & (variance > 1e-12 * np.maximum(squares, 1e-300) / count)
        t = np.where(varied, mean / np.sqrt(np.where(varied, variance, 1.0) / count), 0.0)
    cut = _cuts(count, test.t_cut)
    right, wrong = t > cut, t < -cut
    by_sign = test.is_single | (~varied & test.choices)
    if by_sign.any():
        above, below = weights @ (filled > 0), weights @ (filled < 0)
        least = _cuts(above + below, test.sign_cut)
        right, wrong = np.where(by_sign, above >= least, right), np.where(by_sign, below >= least, wrong)
    return right.mean(axis=0), wrong.mean(axis=0)


def _cuts(count: Floats, cut: Callable[[int], float]) -> Floats:
    """Look up the critical value for each number of participants."""
    sizes, place = np.unique(count, return_inverse=True)
    critical_values = [cut(int(n)) for n in sizes]
    cuts: Floats = np.array(critical_values, dtype=np.float64)[place].reshape(count.shape)
    return cuts


def _bayes_cut(n: int) -> float:
    """Find the t at which the two-sided Bayes factor, which increases with t, reaches 3."""

    def short(t: float) -> float:
        return (jzs_bayes_factor(t, n).log10 or 0.0) - float(np.log10(BAYES_CUT))

    if short(1e4) < 0:
        return float("inf")
    return float(scipy.optimize.brentq(short, 0.0, 1e4))


def _over_pilots(values: Floats, n: int, *, pilots: int, rng: np.random.Generator, test: DrawTest) -> Floats:
    """Compute the 95 % interval of power over bootstrap samples of the pilot."""
    powers = []
    for _ in range(pilots):
        pilot = values[rng.integers(len(values), size=len(values))]
        power, _ = _detections(pilot, n, draws=DRAWS_PER_PILOT, rng=rng, test=test)
        powers.append(power)
    ends: Floats = np.quantile(np.array(powers), [0.025, 0.975], axis=0)
    return ends


def choice_power(
    matrix: pd.DataFrame, sizes: Sequence[int], *, alpha: float = ALPHA, criterion: str = "t"
) -> pd.DataFrame:
    """Compute the exact power of the sign test at the shares of the pilot.

    Notes
    -----
    As from :func:`obelus.power.pilot.resampled_power`, without error and ``n_drawn_from``;
    one choice per participant is assumed. ``pilot_low`` and ``pilot_high`` are the power at the ends of
    the Wilson interval of the pilot's share, which is valid because power increases with the share.

    Examples
    --------
    >>> shares = pd.DataFrame({"islands": [1.0] * 9 + [0.0]})
    >>> choice_power(shares, [5, 10])[["n", "power"]].round(3).values.tolist()
    [[5.0, 0.0], [10.0, 0.736]]
    """
    if criterion not in CRITERIA:
        raise UnknownName("criterion", criterion, CRITERIA)
    shares = matrix.mean(axis=0).to_numpy(dtype=np.float64)
    judges = matrix.notna().sum(axis=0).to_numpy()
    low, high = wilson_interval(matrix.sum(axis=0).to_numpy(dtype=np.float64), judges)
    cut = BAYES_CUT if criterion == "bayes" else None

    def power(n: int, share: Floats) -> Floats:
        return sign_power(n, share, alpha=alpha, bayes_cut=cut)

    parts = [
        pd.DataFrame(
            {
                "phenomenon": list(matrix.columns),
                "n": n,
                "power": power(n, shares),
                "wrong_direction": power(n, 1 - shares),
                "pilot_low": power(n, low),
                "pilot_high": power(n, high),
            }
        )
        for n in sizes
    ]
    table = pd.concat(parts, ignore_index=True)
    return table.assign(mc_error=0.0, n_pilot=np.tile(judges, len(sizes)))


CHOICE_SIZES = tuple(range(5, 61))
SIZES = (5, 10, 15, 20, 25, 30, 35, 40, 50, 60, 80, 100)
FEW_PARTICIPANTS, MIN_PILOTS = 30, 100
CHOICES_TEST = "t of participants' shares; exact sign test where a sample has no variance"


@dataclass(frozen=True)
class PilotPower:
    """Power of other numbers of participants, and how it was computed."""

    table: pd.DataFrame
    task: str
    test: str
    participants: int
    pilots: int
    """Number of times the pilot was resampled; 0 where the interval is exact or was left out."""
    ends: str
    """What ``pilot_low`` and ``pilot_high`` are."""
    variation: dict[str, float] | None = None
    """Pooled SDs of residual, participants and items, of the mixed model."""
    left_out: tuple[dict[str, str], ...] = ()
    """``phenomenon`` and ``reason`` of contrasts whose power is unknown."""


def pilot_power(
    judgments: pd.DataFrame,
    *,
    by: str = "phenomenon",
    sizes: Sequence[int] | None = None,
    transform: str = "z",
    criterion: str = "t",
    alpha: float = ALPHA,
    draws: int | None = None,
    seed: int = 0,
    pilots: int = 0,
    analysis: str = "mixed",
) -> PilotPower:
    """Compute the power of other numbers of participants from the judgments of a completed study.

    Notes
    -----
    ``mixed``: each contrast's estimate with the variation over participants and items that the mixed model
    finds in all contrasts (:mod:`obelus.power.pilot_variation`).
    ``participants``, Bayes factors, and where no contrast has a mixed model (one item): with one choice
    per participant and contrast the exact sign test at the shares of the pilot, saw-toothed in n; otherwise
    participants are resampled with replacement; a pilot of fewer than 30 participants is itself
    resampled at least 100 times.

    References
    ----------
    Sprouse & Almeida (2017), Glossa 2(1):14.
    """
    draws = DRAWS if draws is None else draws
    if analysis not in POWER_ANALYSES:
        raise UnknownName("analysis", analysis, POWER_ANALYSES)
    if draws < 1 or min(sizes or SIZES, default=0) < 2:
        raise BadInput("sizes and draws are too small.", remedy="Give sizes from 2 and draws from 1.")
    if analysis == "mixed" and criterion == "t":
        effects, task = pilot_effects(judgments, by=by, transform=transform)
        if effects.empty:
            return pilot_power(
                judgments, by=by, sizes=sizes, transform=transform, alpha=alpha, draws=draws, seed=seed,
                pilots=pilots, analysis="participants",
            )  # fmt: skip
        table = replication_power(effects, task, sizes or SIZES, draws=draws, seed=seed, alpha=alpha)
        n, ends = int(judgments["participant"].nunique()), "power at the ends of the effect's interval"
        variation = pooled_variation(effects)
        left_out = tuple(effects.attrs["left_out"])
        table = table.assign(task=task, test=MIXED_TEST)
        return PilotPower(table, task, MIXED_TEST, n, 0, ends, variation, left_out)
    matrix, task = pilot_matrix(judgments, by=by, transform=transform)
    choices = task == "forced_choice"
    is_exact = choices and bool((matrix.isna() | matrix.isin([0.0, 1.0])).to_numpy().all())
    if is_exact:
        table = choice_power(matrix, sizes or CHOICE_SIZES, alpha=alpha, criterion=criterion)
        test, pilots = ("Bayes factor of the share" if criterion == "bayes" else "exact sign test"), 0
    else:
        shifted = matrix - 0.5 if choices else matrix
        pilots = max(pilots, MIN_PILOTS) if len(matrix) < FEW_PARTICIPANTS else pilots
        table = resampled_power(
            shifted, sizes or SIZES, draws=draws, seed=seed, alpha=alpha, criterion=criterion,
            pilots=pilots, choices=choices,
        )  # fmt: skip
        test = CHOICES_TEST if choices else "paired t of participants"
    test += ", over these items only"
    ends = "power at the ends of the share's Wilson interval" if is_exact else f"{pilots} drawn"
    left_out = tuple(
        {"phenomenon": name, "reason": "no participant judged both sides"}
        for name in matrix.attrs["left_out"]
    )
    table = table.assign(task=task, test=test)
    return PilotPower(table, task, test, len(matrix), pilots, ends, left_out=left_out)
