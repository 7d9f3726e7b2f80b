"""Power from a pilot: draw participants again, test, and count (Sprouse & Almeida 2017)."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import scipy

from analysis.aggregation.transforms import transformed
from analysis.agreement.decisions import forced_choice_decisions
from analysis.columns import require_columns
from analysis.effects.bayes import jzs_bayes_factor
from analysis.effects.contrasts import paired_means
from analysis.effects.power import ALPHA, TARGET, share_powered
from analysis.errors import BadInput, NotEnoughData, UnknownName
from analysis.rows import Floats, column_or_blank, is_kind, tasks

DRAWS = 1_000
CRITERIA = ("t", "bayes")
BAYES_CUT = 3.0


def pilot_matrix(
    judgments: pd.DataFrame, *, by: str = "phenomenon", transform: str = "z"
) -> tuple[pd.DataFrame, str]:
    """Give one number per participant and phenomenon: what will be drawn again.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment of one task
        Needs ``participant`` and ``value``; ``expected`` for rating tasks.
    by : str
        Column of the contrasts.
    transform : str
        Of ratings, as in :func:`analysis.aggregation.transforms.transformed`.

    Returns
    -------
    matrix : DataFrame, participants × phenomena
        Difference acceptable - unacceptable, or share of expected choices; NaN where a participant has none.
        Contrasts that nobody judged whole are left out: their power is unknown, not 0.
    task : str

    Raises
    ------
    BadInput
        If the judgments are of several tasks.
    NotEnoughData
        If there is no contrast.

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
        kept = forced_choice_decisions(rows).assign(**{by: column_or_blank(rows, by).astype(str).array})
        matrix = kept.pivot_table(index="participant", columns=by, values="agrees", observed=True)
    else:
        require_columns(judgments, "expected")
        how = "raw" if names[0] == "yes_no" else transform
        scored = judgments.assign(score=transformed(judgments, transform=how))
        scored = scored[is_kind(scored, ("target",)) & scored["score"].notna()]
        groups = scored.groupby(column_or_blank(scored, by).astype(str), observed=True)
        parts = {
            str(name): paired_means(part, value="score").set_index("unit")["difference"]
            for name, part in groups
        }
        matrix = pd.DataFrame(parts)
    matrix = matrix.dropna(axis="columns", how="all")
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
) -> pd.DataFrame:
    """Draw n participants with replacement many times and count the detections.

    Parameters
    ----------
    matrix : DataFrame, participants × phenomena
        Differences, as from :func:`pilot_matrix`; for forced choice with several choices per participant
        the shares minus ½.
    sizes : sequence of int
        Numbers of participants.
    draws, seed : int
    alpha : float
    criterion : {"t", "bayes"}
        Detection: p < alpha two-tailed, or a Bayes factor above 3; always in the predicted direction.
    pilots : int
        Resample the pilot itself so often for ``pilot_low`` and ``pilot_high``; 0 leaves them out.

    Returns
    -------
    DataFrame
        ``phenomenon``, ``n``, ``power``, ``wrong_direction`` (share of draws detected the other way),
        ``mc_error``, ``n_pilot`` (who judged the contrast), ``n_drawn_from`` (all in the pilot, who are
        drawn with their gaps) and, with ``pilots``, the 95 % interval over pilots.

    Raises
    ------
    NotEnoughData
        If the pilot has fewer than two participants.
    BadInput
        If a size is below 1 or the number of draws is.
    UnknownName
        If the criterion is another word.

    Notes
    -----
    W ~ Multinomial(n; 1/N), S = W·X, Q = W·X², t = (S/n) / √((Q - S²/n) / (n - 1) / n). Draws without
    variance are not detected. The pilot stands for the population: with fewer than 30 participants
    power is overstated, and the interval over pilots is the honest figure. Never the power of the study that
    gave the data.

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
    rng = np.random.default_rng(seed)
    parts = []
    for n in sizes:
        right, wrong = _detections(values, n, draws=draws, rng=rng, alpha=alpha, criterion=criterion)
        part = pd.DataFrame(
            {"phenomenon": list(matrix.columns), "n": n, "power": right, "wrong_direction": wrong}
        )
        if pilots:
            ends = _over_pilots(values, n, pilots=pilots, rng=rng, alpha=alpha, criterion=criterion)
            part = part.assign(pilot_low=ends[0], pilot_high=ends[1])
        parts.append(part)
    table = pd.concat(parts, ignore_index=True)
    table["mc_error"] = np.sqrt(table["power"] * (1 - table["power"]) / draws)
    table["n_pilot"] = np.tile(np.isfinite(values).sum(axis=0), len(sizes))
    table["n_drawn_from"] = len(values)
    return table


def sample_words(table: pd.DataFrame) -> str:
    """Say of whom the numbers of participants in a table of power are.

    Parameters
    ----------
    table : DataFrame
        As from :func:`resampled_power` or :func:`analysis.effects.choice_power.choice_power`.

    Returns
    -------
    str

    Notes
    -----
    Resampling draws people of the pilot with their gaps: where each judged a part of the contrasts only, a
    contrast has fewer judges than the study has participants. The exact sign test counts judges.

    Examples
    --------
    >>> sample_words(pd.DataFrame({"n_pilot": [60, 74], "n_drawn_from": [342, 342]}))
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


def powered_by_size(table: pd.DataFrame, *, target: float = TARGET) -> pd.DataFrame:
    """Give the share of phenomena with power at the target, by number of participants.

    Parameters
    ----------
    table : DataFrame
        As from :func:`resampled_power` or :func:`analysis.effects.choice_power.choice_power`.
    target : float

    Returns
    -------
    DataFrame
        ``n``, ``phenomena``, ``share_powered`` and, where the table has the interval over pilots,
        ``share_sure``: the share whose power is at the target even at its lower end.

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


def _detections(
    values: Floats, n: int, *, draws: int, rng: np.random.Generator, alpha: float, criterion: str
) -> tuple[Floats, Floats]:
    """Give the shares of draws detected in the predicted and in the other direction."""
    drawn = rng.integers(len(values), size=(draws, n)) + np.arange(draws)[:, None] * len(values)
    weights = np.bincount(drawn.ravel(), minlength=draws * len(values)).reshape(draws, -1).astype(np.float64)
    known = np.isfinite(values)
    filled = np.where(known, values, 0.0)
    count = np.full((draws, 1), float(n)) if known.all() else weights @ known
    sums, squares = weights @ filled, weights @ filled**2
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = sums / count
        variance = (squares - sums * mean) / (count - 1)
        varied = (count > 1) & (variance > 1e-12 * np.maximum(squares, 1e-300) / count)
        t = np.where(varied, mean / np.sqrt(np.where(varied, variance, 1.0) / count), 0.0)
    cut = _cuts(count, alpha=alpha, criterion=criterion)
    return (t > cut).mean(axis=0), (t < -cut).mean(axis=0)


def _cuts(count: Floats, *, alpha: float, criterion: str) -> Floats:
    """Give the critical t of each count of participants."""
    sizes, place = np.unique(count, return_inverse=True)

    def cut(n: int) -> float:
        if n < 2:
            return np.inf
        return _bayes_cut(n) if criterion == "bayes" else float(scipy.stats.t.ppf(1 - alpha / 2, n - 1))

    found = [cut(int(n)) for n in sizes]
    cuts: Floats = np.array(found, dtype=np.float64)[place].reshape(count.shape)
    return cuts


def _bayes_cut(n: int) -> float:
    """Give the t at which the two-sided Bayes factor reaches 3; it grows with t."""

    def short(t: float) -> float:
        return (jzs_bayes_factor(t, n).log10 or 0.0) - float(np.log10(BAYES_CUT))

    if short(1e4) < 0:
        return float("inf")
    return float(scipy.optimize.brentq(short, 0.0, 1e4))


def _over_pilots(
    values: Floats, n: int, *, pilots: int, rng: np.random.Generator, alpha: float, criterion: str
) -> Floats:
    """Give the 95 % interval of power over pilots drawn from the pilot."""
    found = []
    for _ in range(pilots):
        again = values[rng.integers(len(values), size=len(values))]
        found.append(_detections(again, n, draws=200, rng=rng, alpha=alpha, criterion=criterion)[0])
    ends: Floats = np.quantile(np.array(found), [0.025, 0.975], axis=0)
    return ends
