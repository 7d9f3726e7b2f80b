"""Prospective power: simulate a planned study under assumed effects and noise."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from math import ceil
from typing import Any

import numpy as np
import scipy

from ..aggregation.proportions import wilson_interval
from ..agreement.inclusion import Rule, Tally, parse_rule
from ..choices import POWER_ANALYSES
from ..effects.contrast_models import least_groups_df
from ..errors import BadInput, UnknownName
from ..rows import Flags, Floats, none_if_nan
from .exact import ALPHA, conventions
from .two_way import SIGNS, Components, Latent, draw_tests, plan_strata, stepped_components


@dataclass(frozen=True)
class Noise:
    """Standard deviations on the scale of participants' z-scores; the defaults are estimates from LI data."""

    residual: float = 0.68
    item: float = 0.25
    """Between items, in overall acceptability."""
    item_effect: float | None = None
    """Between items, in the effect; None: :data:`VARIATION`, and 0 in the test by participants."""
    participant: float = 0.0
    """Between participants, in overall level: 0 for z-scores."""
    participant_effect: float | None = None
    """Between participants, in the effect; None as above."""
    choice_gain: float = 1.75
    """Factor by which effects are larger if both sentences are shown together (forced choice)."""
    points: int = 0
    """Scale points, equally spaced from -2 to 2 SD; 0 leaves ratings continuous."""

    def complete(self, test: str, *, analysis: str) -> "Noise":
        """Return the noise with the published variation of the effect where none is given."""
        item, participant = VARIATION[test] if analysis == "mixed" else (0.0, 0.0)
        return replace(
            self,
            item_effect=item if self.item_effect is None else self.item_effect,
            participant_effect=participant if self.participant_effect is None else self.participant_effect,
        )


VARIATION = {"t": (0.3, 0.35), "interaction": (0.45, 0.4), "choice": (0.3, 0.2)}
"""SD of the effect between items and between participants, from published studies.

Ratings: 150 contrasts of Sprouse, Schütze & Almeida (2013) have .28 between items; islands of Sprouse,
Wagers & Phillips (2012) .34 and .37, their differences of differences .45 and .42. Choices: BLiMP's
participants have .69 logits, which is .2 here.
"""


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
    spread = 1 + gain**2 * ((settings.participant_effect or 0) ** 2 + (settings.item_effect or 0) ** 2)
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
    half = design.effect + rng.normal(0, noise.participant_effect or 0.0, people)
    half = (half + rng.normal(0, noise.item_effect or 0.0, items)) / 2
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


def choices(design: Design, noise: Noise, *, size: int, rng: np.random.Generator) -> Flags:
    """Simulate whether each participant chooses the expected member of each item.

    References
    ----------
    Sprouse & Almeida (2017), Glossa 2(1):14.
    """
    participant_effect = rng.normal(0, noise.participant_effect or 0.0, (size, design.participants, 1))
    item_effect = rng.normal(0, noise.item_effect or 0.0, (size, 1, design.items))
    latent = (
        noise.choice_gain * (design.effect + participant_effect + item_effect) / (2**0.5 * noise.residual)
    )
    right: Flags = latent + rng.normal(size=(size, design.participants, design.items)) > 0
    return right


def choice_shares(
    design: Design, noise: Noise, good: Flags, bad: Flags, *, size: int, rng: np.random.Generator
) -> Floats:
    """Simulate each participant's share of expected choices minus one half."""
    right = choices(design, noise, size=size, rng=rng)
    shares: Floats = (right & good).sum(axis=2) / good.sum(axis=1) - 0.5
    return shares


TASKS = ("likert", "forced_choice", "yes_no")
TESTS = ("t", "interaction", "inclusion")
DRAWS, DRAWS_MIXED = 1_000, 10_000
_BLOCK = 2_000_000  # simulated judgments in memory at once


def prospective_power(
    task: str,
    effect: float,
    *,
    participants: Sequence[int],
    items: Sequence[int] = (8,),
    lists: int | None = None,
    noise: Noise | None = None,
    alpha: float = ALPHA,
    draws: int | None = None,
    seed: int = 0,
    analysis: str = "mixed",
    test: str = "t",
    rule: str = "blimp",
) -> dict[str, Any]:
    """Simulate planned studies and report power, Type S, Type M and the width of the interval.

    Notes
    -----
    Ratings: y = β c + b_u + b'_u c + w_i + w'_i c + e with c = ±½. Choices: P(expected) =
    Φ(m (β + b'_u + w'_i) / (√2 σ_e)), m the gain of joint presentation. Yes-no: ratings cut in the middle.
    ``mixed`` is the analysis of :func:`obelus.effects.report.effects_report`, the crossed mixed model with
    slopes, whose mean squares are drawn (:mod:`obelus.power.two_way`). The test by ``participants`` takes
    items as fixed: where the effect differs between items, its power is not that of a claim about new items.
    ``interaction``: the effect is a difference of differences in a 2×2 design. ``inclusion``: power is the
    probability that ``rule`` includes a paradigm of ``items`` pairs. Type S: share of significant
    results with the wrong sign. Type M: mean size of significant estimates over the true effect (Gelman &
    Carlin 2014). Without ``lists``, there are as many as conditions; one in forced choice and inclusion.

    References
    ----------
    Gelman & Carlin (2014), Perspectives on Psychological Science 9; Sprouse & Almeida (2017), Glossa 2(1):14;
    Marty, Chemla & Sprouse (2020), Glossa 5; Westfall, Kenny & Judd (2014), JEP: General 143.
    """
    draws = (
        (DRAWS_MIXED if analysis == "mixed" and test != "inclusion" else DRAWS) if draws is None else draws
    )
    _check(task, effect, analysis=analysis, test=test, draws=draws)
    variation = "choice" if task == "forced_choice" else test
    settings = (noise or Noise()).complete(variation, analysis=analysis)
    lists = {"t": 2, "interaction": 4, "inclusion": 1}[test] if lists is None else lists
    designs = []
    for n_items in items:
        for people in participants:
            design = Design(task, effect, people, n_items, lists)
            _check_design(design, analysis=analysis)
            rng = np.random.default_rng([seed, people, n_items, lists])
            if test == "inclusion":
                row = _inclusion(design, settings, parse_rule(rule), draws=draws, rng=rng)
            else:
                simulate = _simulate_mixed if analysis == "mixed" else _simulate
                row = simulate(design, settings, test=test, draws=draws, rng=rng, alpha=alpha)
            designs.append({**asdict(design), **row})
    return {
        "task": task,
        "effect": effect,
        "analysis": _analysis_words(task, analysis=analysis, test=test, rule=rule),
        "designs": designs,
        "noise": asdict(settings),
        "conventions": conventions(alpha=alpha, seed=seed, draws=draws)
        | ({"variation": VARIATION_WORDS} if analysis == "mixed" else {}),
    }


VARIATION_WORDS = (
    "of the effect between items and participants as in published studies unless given (ratings: Sprouse, "
    "Schütze & Almeida 2013, Sprouse, Wagers & Phillips 2012; choices: Warstadt et al. 2020)"
)


def _analysis_words(task: str, *, analysis: str, test: str, rule: str) -> str:
    if test == "inclusion":
        return f"inclusion of a paradigm by the rule {rule}"
    if analysis == "mixed":
        return "mixed model over participants and items" + (
            " of a 2×2 design" if test == "interaction" else ""
        )
    by = "participants' shares against 1/2" if task == "forced_choice" else "t over participants"
    return f"{by}, over these items only"


def _check(task: str, effect: float, *, analysis: str, test: str, draws: int) -> None:
    for noun, word, words in (
        ("task", task, TASKS),
        ("analysis", analysis, POWER_ANALYSES),
        ("test", test, TESTS),
    ):
        if word not in words:
            raise UnknownName(noun, word, words)
    if not np.isfinite(effect) or effect < 0:
        raise BadInput(f"the effect is {effect}.", remedy="Give 0 or a positive number.")
    if draws < 1:
        raise BadInput(f"the number of draws is {draws}.", remedy="Give at least 1.")
    if test == "inclusion" and task != "forced_choice":
        raise BadInput("inclusion rules are planned for choices.", column="test", remedy="Use forced_choice.")
    if test == "interaction" and task == "forced_choice":
        message = "choices between sentences give no means of conditions."
        raise BadInput(message, column="test", remedy="Plan the difference of differences with ratings.")
    if test == "interaction" and analysis == "participants":
        raise BadInput("an interaction is planned for the mixed model.", remedy="Use the analysis mixed.")


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
    design: Design, noise: Noise, *, test: str, draws: int, rng: np.random.Generator, alpha: float
) -> dict[str, Any]:
    """Simulate the values of participants and test them."""
    good, bad = design.masks()
    cells = design.participants * design.items * 2
    results: list[tuple[Floats, Floats, Floats]] = []
    single = design.task == "forced_choice" and int(good.sum(axis=1).max()) == 1
    for size in _blocks(draws, cells):
        make = choice_shares if design.task == "forced_choice" else rating_differences
        results.append(_by_participants(make(design, noise, good, bad, size=size, rng=rng), single=single))
    estimates, p, width = (np.concatenate(part) for part in zip(*results, strict=True))
    truth = (
        expected_share(design.effect, noise=noise) - 0.5 if design.task == "forced_choice" else design.effect
    )
    summary = _summary(estimates, p, truth, alpha=alpha)
    trials = int(good[0].sum()) if design.task == "forced_choice" else int(good[0].sum() + bad[0].sum())
    wide = none_if_nan(float(np.nanmean(width)))
    return {**summary, "ci_width": wide, "trials_per_participant": trials}


def _simulate_mixed(
    design: Design, noise: Noise, *, test: str, draws: int, rng: np.random.Generator, alpha: float
) -> dict[str, Any]:
    """Draw the mean squares of the mixed model and test them."""
    kind = "choice" if design.task == "forced_choice" else test
    components = planned_components(design.effect, noise, kind=kind, is_yes_no=design.task == "yes_no")
    trials = len(SIGNS[kind]) * design.items / design.lists
    strata = plan_strata(
        components,
        participants=design.participants,
        items=design.items,
        judgments=design.participants * trials,
        test=kind,
    )
    is_logistic = design.task == "yes_no" and kind == "t"
    estimates, p, width = draw_tests(
        strata,
        size=draws,
        rng=rng,
        is_capped=kind == "choice",
        df=least_groups_df(design.participants, design.items) if is_logistic else None,
    )
    summary = _summary(estimates, p, components.effect, alpha=alpha)
    return {**summary, "ci_width": float(width.mean()), "trials_per_participant": ceil(trials)}


def planned_components(effect: float, noise: Noise, *, kind: str, is_yes_no: bool) -> Components:
    """Return the variation of ratings, answers or choices on the scale of their mixed model."""
    people, items = noise.participant_effect or 0.0, noise.item_effect or 0.0
    if kind == "choice":
        gain = noise.choice_gain / (2**0.5 * noise.residual)
        latent = Latent(gain * effect, (0.0, gain * people), (0.0, gain * items), 1.0)
        share = stepped_components(latent, signs=SIGNS[kind], thresholds=[0.0])
        return replace(share, effect=share.effect - 0.5)
    latent = Latent(effect, (noise.participant, people), (noise.item, items), noise.residual)
    if is_yes_no:
        return stepped_components(latent, signs=SIGNS[kind], thresholds=[0.0])
    if noise.points > 1:
        step = 4 / (noise.points - 1)
        cuts = [-2 + (point + 0.5) * step for point in range(noise.points - 1)]
        return stepped_components(latent, signs=SIGNS[kind], thresholds=cuts, step=step)
    return Components(effect, people, items, noise.residual)


def _inclusion(
    design: Design, noise: Noise, rule: Rule, *, draws: int, rng: np.random.Generator
) -> dict[str, Any]:
    """Simulate paradigms; power is the share that the rule includes."""
    good, _ = design.masks()
    judges = good.sum(axis=0)
    included = 0
    for size in _blocks(draws, design.participants * design.items):
        counts = (choices(design, noise, size=size, rng=rng) & good).sum(axis=1)
        for row in counts:
            pairs = [(int(k), int(n)) for k, n in zip(row, judges, strict=True)]
            right = sum(2 * k > n for k, n in pairs)
            included += rule.decide(Tally(right, len(pairs), pairs)) == "included"
    power = included / draws
    return {
        "power": power,
        "mc_error": float(np.sqrt(power * (1 - power) / draws)),
        "type_s": None,
        "type_m": None,
        "true_difference": expected_share(design.effect, noise=noise) - 0.5,
        "ci_width": None,
        "trials_per_participant": int(good[0].sum()),
    }


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
