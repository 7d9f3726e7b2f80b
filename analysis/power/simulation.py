"""Prospective power: simulate a planned study under assumed effects and noise."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd
import scipy

from ..aggregation.proportions import wilson_interval
from ..errors import BadInput, UnknownName
from ..mixed_models.linear import CROSSED, Random, mixed_model
from ..rows import Flags, Floats, none_if_nan
from .exact import ALPHA, conventions


@dataclass(frozen=True)
class Noise:
    """Standard deviations on the scale of participants' z-scores; the defaults are estimates from LI data."""

    residual: float = 0.68
    item: float = 0.25
    """Between items, in overall acceptability."""
    item_effect: float = 0.0
    """Between items, in the effect."""
    participant: float = 0.0
    """Between participants, in overall level: 0 for z-scores."""
    participant_effect: float = 0.0
    choice_gain: float = 1.75
    """Factor by which effects are larger if both sentences are shown together (forced choice)."""
    points: int = 0
    """Scale points, equally spaced from -2 to 2 SD; 0 leaves ratings continuous."""


@dataclass(frozen=True)
class Design:
    """One planned study of one contrast."""

    task: str
    effect: float
    participants: int
    items: int
    lists: int

    def masks(self) -> tuple[Flags, Flags]:
        """Return the participant × item masks of acceptable and of unacceptable sentences shown."""
        people, items = np.arange(self.participants)[:, None], np.arange(self.items)
        shift = self.lists // 2 if self.task != "forced_choice" else 0
        return (
            items % self.lists == people % self.lists,
            (items + shift) % self.lists == people % self.lists,
        )


def expected_share(effect: float, *, noise: Noise | None = None) -> float:
    """Convert an effect on the rating scale to a share of expected choices.

    Examples
    --------
    >>> round(expected_share(0.5), 3)
    0.819
    """
    settings = noise or Noise()
    gain = settings.choice_gain / (2**0.5 * settings.residual)
    spread = 1 + gain**2 * (settings.participant_effect**2 + settings.item_effect**2)
    return float(scipy.stats.norm.cdf(gain * effect / spread**0.5))


def ratings(
    design: Design, noise: Noise, good: Flags, bad: Flags, *, size: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """Simulate the ratings of acceptable and of unacceptable sentences.

    References
    ----------
    Sprouse & Almeida (2017), Glossa 2(1):14; Barr et al. (2013), JML 68.
    """
    people, items = (size, design.participants, 1), (size, 1, design.items)
    level = rng.normal(0, noise.participant, people) + rng.normal(0, noise.item, items)
    half = design.effect + rng.normal(0, noise.participant_effect, people)
    half = (half + rng.normal(0, noise.item_effect, items)) / 2
    shape = (size, design.participants, design.items)
    sides = [level + sign * half + rng.normal(0, noise.residual, shape) for sign in (1, -1)]
    if noise.points > 1:
        step = 4 / (noise.points - 1)
        sides = [np.clip(np.round((side + 2) / step), 0, noise.points - 1) * step - 2 for side in sides]
    return np.where(good, sides[0], np.nan), np.where(bad, sides[1], np.nan)


def rating_differences(
    design: Design, noise: Noise, good: Flags, bad: Flags, *, size: int, rng: np.random.Generator
) -> Floats:
    """Simulate each participant's mean rating of acceptable minus that of unacceptable sentences.

    References
    ----------
    Sprouse & Almeida (2017), Glossa 2(1):14.
    """
    sides = ratings(design, noise, good, bad, size=size, rng=rng)
    means = [
        np.nansum(side, axis=2) / cells.sum(axis=1) for side, cells in zip(sides, (good, bad), strict=True)
    ]
    difference: Floats = means[0] - means[1]
    return difference


def choice_shares(
    design: Design, noise: Noise, good: Flags, bad: Flags, *, size: int, rng: np.random.Generator
) -> Floats:
    """Simulate each participant's share of expected choices minus one half.

    References
    ----------
    Sprouse & Almeida (2017), Glossa 2(1):14.
    """
    participant_effect = rng.normal(0, noise.participant_effect, (size, design.participants, 1))
    item_effect = rng.normal(0, noise.item_effect, (size, 1, design.items))
    latent = (
        noise.choice_gain * (design.effect + participant_effect + item_effect) / (2**0.5 * noise.residual)
    )
    right = latent + rng.normal(size=(size, design.participants, design.items)) > 0
    shares: Floats = (right & good).sum(axis=2) / good.sum(axis=1) - 0.5
    return shares


TASKS = ("likert", "forced_choice")
ANALYSES = ("participants", "mixed")
DRAWS = 1_000
_BLOCK = 2_000_000  # simulated judgments in memory at once


def prospective_power(
    task: str,
    effect: float,
    *,
    participants: Sequence[int],
    items: Sequence[int] = (8,),
    lists: int = 2,
    noise: Noise | None = None,
    alpha: float = ALPHA,
    draws: int = DRAWS,
    seed: int = 0,
    analysis: str = "participants",
) -> dict[str, Any]:
    """Simulate planned studies and report power, Type S, Type M and the width of the interval.

    Notes
    -----
    Ratings: y = β c + b_u + b'_u c + w_i + w'_i c + e with c = ±½. Choices: P(expected) =
    Φ(m (β + b'_u + w'_i) / (√2 σ_e)), m the gain of joint presentation. Type S: share of significant
    results with the wrong sign. Type M: mean size of significant estimates over the true effect (Gelman &
    Carlin 2014). The test by participants treats items as fixed: where the effect differs between items,
    its power is not that of a claim about new items.

    References
    ----------
    Gelman & Carlin (2014), Perspectives on Psychological Science 9; Sprouse & Almeida (2017), Glossa 2(1):14;
    Marty, Chemla & Sprouse (2020), Glossa 5.
    """
    _check(task, effect, analysis=analysis, draws=draws)
    settings = noise or Noise()
    designs = []
    for n_items in items:
        for people in participants:
            design = Design(task, effect, people, n_items, lists)
            _check_design(design, analysis=analysis)
            rng = np.random.default_rng([seed, people, n_items, lists])
            estimates = _simulate(design, settings, draws=draws, rng=rng, alpha=alpha, analysis=analysis)
            designs.append({**asdict(design), **estimates})
    return {
        "task": task,
        "effect": effect,
        "analysis": analysis if task != "forced_choice" else "participants' shares against 1/2",
        "designs": designs,
        "noise": asdict(settings),
        "conventions": conventions(alpha=alpha, seed=seed, draws=draws),
    }


def _check(task: str, effect: float, *, analysis: str, draws: int) -> None:
    if task not in TASKS:
        raise UnknownName("task", task, TASKS)
    if analysis not in ANALYSES:
        raise UnknownName("analysis", analysis, ANALYSES)
    if not np.isfinite(effect) or effect < 0:
        raise BadInput(f"the effect is {effect}.", remedy="Give 0 or a positive number.")
    if draws < 1:
        raise BadInput(f"the number of draws is {draws}.", remedy="Give at least 1.")
    if task == "forced_choice" and analysis == "mixed":
        raise BadInput("choices need a logistic mixed model.", remedy="Use the analysis participants.")


def _check_design(design: Design, *, analysis: str) -> None:
    for name, least in (("participants", 2), ("items", 1), ("lists", 1)):
        if getattr(design, name) < least:
            raise BadInput(f"there are {getattr(design, name)} {name}.", remedy=f"Give at least {least}.")
    if design.items < design.lists:
        message = f"{design.items} items cannot fill {design.lists} lists."
        raise BadInput(message, remedy="Give at least as many items as lists.")
    if analysis == "mixed" and design.items < 2:
        raise BadInput("a mixed model needs two items.", remedy="Use the analysis participants.")


def _simulate(
    design: Design, noise: Noise, *, draws: int, rng: np.random.Generator, alpha: float, analysis: str
) -> dict[str, Any]:
    good, bad = design.masks()
    cells = design.participants * design.items * 2
    results: list[tuple[Floats, Floats, Floats]] = []
    single = design.task == "forced_choice" and int(good.sum(axis=1).max()) == 1
    for size in _blocks(draws, cells):
        if analysis == "mixed":
            block = _by_mixed(
                ratings(design, noise, good, bad, size=size, rng=rng), good, bad, random=_random(noise)
            )
        else:
            make = choice_shares if design.task == "forced_choice" else rating_differences
            block = _by_participants(make(design, noise, good, bad, size=size, rng=rng), single=single)
        results.append(block)
    estimates, p, width = (np.concatenate(part) for part in zip(*results, strict=True))
    truth = (
        expected_share(design.effect, noise=noise) - 0.5 if design.task == "forced_choice" else design.effect
    )
    summary = _summary(estimates, p, truth, alpha=alpha)
    trials = int(good[0].sum()) if design.task == "forced_choice" else int(good[0].sum() + bad[0].sum())
    wide = none_if_nan(float(np.nanmean(width)))
    return {**summary, "ci_width": wide, "trials_per_participant": trials}


def _summary(estimates: Floats, p: Floats, truth: float, *, alpha: float) -> dict[str, Any]:
    significant = p < alpha
    right = significant & (estimates > 0)
    power, n = float(right.mean()), len(p)
    n_significant = int(significant.sum())
    return {
        "power": power,
        "mc_error": float(np.sqrt(power * (1 - power) / n)),
        "type_s": float((significant & (estimates < 0)).sum() / n_significant) if n_significant else None,
        "type_m": float(np.abs(estimates[significant]).mean() / truth)
        if n_significant and truth > 0
        else None,
        "true_difference": truth,
    }


def _blocks(draws: int, cells: int) -> Iterator[int]:
    block = max(1, _BLOCK // max(cells, 1))
    for start in range(0, draws, block):
        yield min(block, draws - start)


def _by_participants(difference: Floats, *, single: bool) -> tuple[Floats, Floats, Floats]:
    """Test each draw by a t test over participants, or by the sign test for single choices."""
    n = difference.shape[1]
    if single:
        k = (difference > 0).sum(axis=1)
        p = np.minimum(1.0, 2 * scipy.stats.binom.sf(np.maximum(k, n - k) - 1, n, 0.5))
        low, high = wilson_interval(k, n)
        return k / n - 0.5, p, high - low
    mean, spread = difference.mean(axis=1), difference.std(axis=1, ddof=1)
    varied = spread > 1e-12
    t = np.divide(mean, spread / np.sqrt(n), out=np.zeros(len(mean)), where=varied)
    # All participants have the same difference: t is undefined, the sign test of participants is not.
    certain = ~varied & (np.abs(mean) > 0)
    p = np.where(certain, 2 * 0.5**n, 2 * scipy.stats.t.sf(np.abs(t), n - 1))
    return mean, p, 2 * scipy.stats.t.ppf(0.975, n - 1) * spread / np.sqrt(n)


def _random(noise: Noise) -> tuple[Random, ...]:
    """Return crossed intercepts, plus slopes for the effects that vary."""
    varying = {"participant": noise.participant_effect, "item": noise.item_effect}
    return (*CROSSED, *(Random(name, "condition") for name, size in varying.items() if size > 0))


def _by_mixed(
    sides: tuple[Floats, Floats], good: Flags, bad: Flags, *, random: tuple[Random, ...]
) -> tuple[Floats, Floats, Floats]:
    people, things = (np.concatenate(part) for part in zip(np.nonzero(good), np.nonzero(bad), strict=True))
    codes = pd.DataFrame({"participant": people, "item": things})
    codes["condition"] = np.repeat([0.5, -0.5], [int(good.sum()), int(bad.sum())])
    rows = []
    for good_values, bad_values in zip(*sides, strict=True):
        fit = mixed_model(
            codes.assign(value=np.concatenate([good_values[good], bad_values[bad]])), random=random
        )["condition"]
        is_estimated = fit.estimate is not None and fit.p is not None
        ends = (fit.ci_high or 0.0) - (fit.ci_low or 0.0)
        rows.append((fit.estimate, fit.p, ends) if is_estimated else (0.0, 1.0, np.nan))
    results = np.array(rows, dtype=np.float64).reshape(-1, 3)
    return results[:, 0], results[:, 1], results[:, 2]
