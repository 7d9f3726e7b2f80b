"""Power of analyses of variance of several conditions, within or between participants."""

from collections.abc import Sequence
from math import ceil
from typing import Any

import numpy as np

from ..choices import POWER_TARGET
from ..errors import BadInput
from ..pingouin_options import unrounded_pingouin
from .exact import ALPHA


def anova_power(
    n: int,
    f: float,
    *,
    conditions: int,
    test: str = "anova",
    correlation: float = 0.5,
    epsilon: float = 1.0,
    alpha: float = ALPHA,
) -> float:
    """Compute the power of the F test of ``conditions`` for ``n`` participants in total.

    Notes
    -----
    ``pingouin.power_rm_anova`` (within: noncentrality f² n k ε / (1 - correlation)) or
    ``pingouin.power_anova`` (between: groups of n / k, rounded down).

    References
    ----------
    Cohen (1988), Statistical Power Analysis for the Behavioral Sciences, chapter 8.

    Examples
    --------
    >>> round(anova_power(64, 0.1, conditions=3, correlation=0.79), 4)
    0.7671
    """
    per_group = n // conditions
    if n < 2 or (test == "anova_between" and per_group < 2):
        return 0.0
    eta_squared = f**2 / (1 + f**2)
    with unrounded_pingouin() as pingouin:
        power = (
            pingouin.power_anova(eta_squared, conditions, per_group, alpha=alpha)
            if test == "anova_between"
            else pingouin.power_rm_anova(
                eta_squared, conditions, n, alpha=alpha, corr=correlation, epsilon=epsilon
            )
        )
    return float(power)


def anova_document(
    effect: float,
    *,
    participants: Sequence[int],
    items: int,
    lists: int,
    alpha: float,
    test: str,
    conditions: int,
    correlation: float,
    epsilon: float,
) -> dict[str, Any]:
    """Return the power of each number of participants, with the keys of a simulated plan."""
    if conditions < 2 or not -1 < correlation < 1 or not 0 < epsilon <= 1 or not 0 <= effect < np.inf:
        raise BadInput(
            "the design of the analysis of variance is not valid.",
            remedy="Give f of 0 or more, two or more conditions, a correlation between -1 and 1 and an "
            "epsilon above 0 and at most 1.",
        )
    if min(participants, default=0) < 2 or min(items, lists) < 1:
        raise BadInput(
            "a number of participants, items or lists is too small.",
            remedy="Give at least 2 participants, 1 item and 1 list.",
        )
    settings: dict[str, Any] = {"conditions": conditions}
    if test == "anova":
        settings |= {"correlation": correlation, "epsilon": epsilon}
    blank = {"mc_error": 0.0, "type_s": None, "type_m": None, "true_difference": None, "ci_width": None}
    trials = items if test == "anova_between" else ceil(items * conditions / lists)
    designs = [
        {"effect": effect, "participants": n, "items": items, "lists": lists,
         "power": anova_power(n, effect, test=test, alpha=alpha, **settings), **blank,
         "trials_per_participant": trials}
        for n in participants
    ]  # fmt: skip
    return {
        "effect": effect,
        "eta_squared": effect**2 / (1 + effect**2),
        "analysis": "analysis of variance "
        f"{'between' if test == 'anova_between' else 'within'} participants, "
        "over these items only",
        **settings,
        "designs": designs,
        "noise": None,
        "conventions": {
            "detection": f"F with p < {alpha:g}",
            "effect": "Cohen's f: SD of the condition means over the SD within conditions",
            "target": f"power of at least {POWER_TARGET:g}",
        },
    }
