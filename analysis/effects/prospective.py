"""Power before any data: simulate the planned study under stated effects and noise."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd
import scipy

from analysis.aggregation.proportions import wilson_interval
from analysis.effects.mixed import CROSSED, Random, mixed_model
from analysis.effects.planned import Design, Noise, choice_shares, expected_share, rating_differences, ratings
from analysis.effects.power import ALPHA, conventions
from analysis.errors import BadInput, UnknownName
from analysis.rows import Flags, Floats, none_if_nan

TASKS = ("likert", "forced_choice")
ANALYSES = ("participants", "mixed")
DRAWS = 1_000
_BLOCK = 2_000_000


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

    Parameters
    ----------
    task : {"likert", "forced_choice"}
    effect : float
        Difference acceptable - unacceptable in standard deviations of a participant's ratings, for either
        task.
    participants, items : sequences of int
        Every combination is simulated. Items are lexicalizations of the contrast over all lists.
    lists : int
        Of the Latin square. With two, each participant sees each item once; with as many as items, each
        participant sees one acceptable and one unacceptable sentence; with one, all sentences.
    noise : Noise, optional
        From a pilot; the defaults are those of published LI data.
    alpha : float
    draws, seed : int
    analysis : {"participants", "mixed"}
        The planned test: t on participant means (or shares), or the crossed mixed model, with slopes where
        the noise has varying effects (slow: take some hundred draws).

    Returns
    -------
    dict
        JSON-ready: ``task``, ``effect``, ``designs`` (one per combination, with ``power``, ``mc_error``,
        ``type_s``, ``type_m``, ``ci_width``, ``trials_per_participant``), ``noise`` and ``conventions``.

    Raises
    ------
    UnknownName
        If task or analysis are other words.
    BadInput
        If a number is out of range, or a list would have no sentence of one kind.

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
            found = _simulate(design, settings, draws=draws, rng=rng, alpha=alpha, analysis=analysis)
            designs.append({**asdict(design), **found})
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
    good, bad = design.shown()
    cells = design.participants * design.items * 2
    results: list[tuple[Floats, Floats, Floats]] = []
    single = design.task == "forced_choice" and int(good.sum(axis=1).max()) == 1
    for size in _blocks(draws, cells):
        if analysis == "mixed":
            found = _by_mixed(
                ratings(design, noise, good, bad, size=size, rng=rng), good, bad, random=_random(noise)
            )
        else:
            make = choice_shares if design.task == "forced_choice" else rating_differences
            found = _by_participants(make(design, noise, good, bad, size=size, rng=rng), single=single)
        results.append(found)
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
    found = int(significant.sum())
    return {
        "power": power,
        "mc_error": float(np.sqrt(power * (1 - power) / n)),
        "type_s": float((significant & (estimates < 0)).sum() / found) if found else None,
        "type_m": float(np.abs(estimates[significant]).mean() / truth) if found and truth > 0 else None,
        "true_difference": truth,
    }


def _blocks(draws: int, cells: int) -> Iterator[int]:
    block = max(1, _BLOCK // max(cells, 1))
    for start in range(0, draws, block):
        yield min(block, draws - start)


def _by_participants(difference: Floats, *, single: bool) -> tuple[Floats, Floats, Floats]:
    """Test each draw: t of the participants' numbers, or the sign test of single choices."""
    n = difference.shape[1]
    if single:
        k = (difference > 0).sum(axis=1)
        p = np.minimum(1.0, 2 * scipy.stats.binom.sf(np.maximum(k, n - k) - 1, n, 0.5))
        low, high = wilson_interval(k, n)
        return k / n - 0.5, p, high - low
    mean, spread = difference.mean(axis=1), difference.std(axis=1, ddof=1)
    varied = spread > 1e-12
    t = np.divide(mean, spread / np.sqrt(n), out=np.zeros(len(mean)), where=varied)
    certain = ~varied & (np.abs(mean) > 0)  # everybody alike: the sign test of participants
    p = np.where(certain, 2 * 0.5**n, 2 * scipy.stats.t.sf(np.abs(t), n - 1))
    return mean, p, 2 * scipy.stats.t.ppf(0.975, n - 1) * spread / np.sqrt(n)


def _random(noise: Noise) -> tuple[Random, ...]:
    """Give intercepts, and slopes for what varies."""
    varying = {"participant": noise.participant_effect, "item": noise.item_effect}
    return (*CROSSED, *(Random(name, "condition") for name, size in varying.items() if size > 0))


def _by_mixed(
    sides: tuple[Floats, Floats], good: Flags, bad: Flags, *, random: tuple[Random, ...]
) -> tuple[Floats, Floats, Floats]:
    people, things = (np.concatenate(part) for part in zip(np.nonzero(good), np.nonzero(bad), strict=True))
    codes = pd.DataFrame({"participant": people, "item": things})
    codes["condition"] = np.repeat([0.5, -0.5], [int(good.sum()), int(bad.sum())])
    rows = []
    for one, other in zip(*sides, strict=True):
        fit = mixed_model(codes.assign(value=np.concatenate([one[good], other[bad]])), random=random)[
            "condition"
        ]
        whole = fit.estimate is not None and fit.p is not None
        ends = (fit.ci_high or 0.0) - (fit.ci_low or 0.0)
        rows.append((fit.estimate, fit.p, ends) if whole else (0.0, 1.0, np.nan))
    found = np.array(rows, dtype=np.float64).reshape(-1, 3)
    return found[:, 0], found[:, 1], found[:, 2]
