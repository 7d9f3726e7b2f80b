"""Made-up judgments of a planned study, under stated effects and noise."""

from dataclasses import dataclass

import numpy as np
import scipy

from analysis.rows import Flags, Floats


@dataclass(frozen=True)
class Noise:
    """Standard deviations on the scale of participants' z-scores; defaults as computed for LI data."""

    residual: float = 0.68
    item: float = 0.25
    """Between items, in how good they are."""
    item_effect: float = 0.0
    """Between items, in the effect."""
    participant: float = 0.0
    """Between participants, in their level: 0 for z-scores."""
    participant_effect: float = 0.0
    choice_gain: float = 1.75
    """How much larger an effect is when both sentences are seen at once (forced choice)."""
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

    def shown(self) -> tuple[Flags, Flags]:
        """Tell which participant sees which item's acceptable, and which its unacceptable sentence."""
        people, items = np.arange(self.participants)[:, None], np.arange(self.items)
        shift = self.lists // 2 if self.task != "forced_choice" else 0
        return (
            items % self.lists == people % self.lists,
            (items + shift) % self.lists == people % self.lists,
        )


def expected_share(effect: float, *, noise: Noise | None = None) -> float:
    """Give the share of expected choices that an effect on the rating scale amounts to.

    Parameters
    ----------
    effect : float
    noise : Noise, optional

    Returns
    -------
    float

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

    Parameters
    ----------
    design : Design
    noise : Noise
    good, bad : arrays of bool, participants × items
        Who is shown what, from :meth:`Design.shown`.
    size : int
        Draws.
    rng : numpy Generator

    Returns
    -------
    two arrays, draws × participants × items
        NaN where a sentence is not shown.

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
    """Simulate each participant's mean rating of acceptable less that of unacceptable sentences.

    Parameters
    ----------
    design : Design
    noise : Noise
    good, bad : arrays of bool, participants × items
        Who is shown what, from :meth:`Design.shown`.
    size : int
        Draws.
    rng : numpy Generator

    Returns
    -------
    array, draws × participants

    References
    ----------
    Sprouse & Almeida (2017), Glossa 2(1):14.
    """
    sides = ratings(design, noise, good, bad, size=size, rng=rng)
    means = [
        np.nansum(side, axis=2) / shown.sum(axis=1) for side, shown in zip(sides, (good, bad), strict=True)
    ]
    difference: Floats = means[0] - means[1]
    return difference


def choice_shares(
    design: Design, noise: Noise, good: Flags, bad: Flags, *, size: int, rng: np.random.Generator
) -> Floats:
    """Simulate each participant's share of expected choices less one half.

    Parameters
    ----------
    design : Design
    noise : Noise
    good, bad : arrays of bool, participants × items
        Who is shown what, from :meth:`Design.shown`.
    size : int
        Draws.
    rng : numpy Generator

    Returns
    -------
    array, draws × participants

    References
    ----------
    Sprouse & Almeida (2017), Glossa 2(1):14.
    """
    own = rng.normal(0, noise.participant_effect, (size, design.participants, 1))
    thing = rng.normal(0, noise.item_effect, (size, 1, design.items))
    latent = noise.choice_gain * (design.effect + own + thing) / (2**0.5 * noise.residual)
    right = latent + rng.normal(size=(size, design.participants, design.items)) > 0
    shares: Floats = (right & good).sum(axis=2) / good.sum(axis=1) - 0.5
    return shares
