"""Everything the power page shows, as one document: before any data, and from a pilot, each beside its
cost."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import pandas as pd

from analysis.effects.choice_power import choice_power
from analysis.effects.planned import Noise, expected_share
from analysis.effects.power import ALPHA, TARGET, conventions, enough_participants
from analysis.effects.prospective import DRAWS, prospective_power
from analysis.effects.resampling import (
    pilot_matrix,
    powered_by_size,
    resampled_power,
    sample_words,
)
from analysis.errors import BadInput, UnknownName

SIZES = (10, 15, 20, 25, 30, 40, 50, 75, 100)
MODELS = {
    "forced_choice": "forced_choice",
    "likert": "likert",
    "slider": "likert",
    "magnitude_estimation": "likert",
    "best_worst": "likert",
    "yes_no": "likert",
}
"""How a task is simulated: as choices, or as ratings on a continuous scale; yes-no as ratings cut in two."""
FEW, LEAST_PILOTS = 30, 100


@dataclass(frozen=True)
class Price:
    """What one participant costs: the reward in minor units, and the platform's fee on it as a share."""

    reward_minor: int = 0
    fee: float = 0.0

    def __post_init__(self) -> None:
        """Refuse what no platform asks."""
        if self.reward_minor < 0 or not 0 <= self.fee <= 2:
            raise BadInput(
                "a reward is not negative and a fee lies between 0 and 200 %.",
                column="fee",
                remedy="Give the fee in percent of the reward.",
            )

    def of(self, participants: int) -> dict[str, int]:
        """Give reward, fees and their sum for so many participants; fees are rounded up."""
        reward = participants * self.reward_minor
        fees = ceil(round(reward * self.fee, 6))
        return {"reward_minor": reward, "fees_minor": fees, "cost_minor": reward + fees}


def prospective_report(
    task: str,
    effect: float,
    *,
    participants: Sequence[int] = SIZES,
    items: Sequence[int] = (8,),
    lists: int = 2,
    noise: Noise | None = None,
    alpha: float = ALPHA,
    draws: int = DRAWS,
    seed: int = 0,
    analysis: str = "participants",
    price: Price | None = None,
) -> dict[str, Any]:
    """Report power, Type S, Type M, interval width and cost of planned studies.

    Parameters
    ----------
    task : str
        A task of the platform; :data:`MODELS` says how each is simulated.
    effect : float
        Difference in standard deviations of a participant's ratings, for any task.
    participants, items, lists, noise, alpha, draws, seed, analysis
        As in :func:`analysis.effects.prospective.prospective_power`.
    price : Price, optional

    Returns
    -------
    dict
        JSON-ready: that of :func:`~analysis.effects.prospective.prospective_power`, each design with
        ``reward_minor``, ``fees_minor`` and ``cost_minor``; ``smallest`` is the cheapest design whose
        power reaches .8, None where none does; ``expected_share`` and
        ``enough_participants_one_choice_each`` for choices.

    Raises
    ------
    UnknownName, BadInput
        If a word or a number is out of range.

    Examples
    --------
    >>> price = Price(150, 1 / 3)
    >>> report = prospective_report("forced_choice", 0.5, participants=[20], draws=200, price=price)
    >>> report["designs"][0]["cost_minor"], round(report["expected_share"], 3)
    (4000, 0.819)
    """
    if task not in MODELS:
        raise UnknownName("task", task, sorted(MODELS))
    settings = noise or Noise()
    if task == "yes_no":
        settings = replace(settings, points=2)
    document = prospective_power(
        MODELS[task], effect, participants=participants, items=items, lists=lists, noise=settings,
        alpha=alpha, draws=draws, seed=seed, analysis=analysis,
    )  # fmt: skip
    cost = price or Price()
    designs = [_told(design, task) | cost.of(design["participants"]) for design in document["designs"]]
    powered = [design for design in designs if design["power"] >= TARGET]
    document |= {
        "mode": "prospective",
        "task": task,
        "designs": designs,
        "smallest": min(powered, key=lambda one: (one["participants"], one["items"]), default=None),
        "price": {"reward_minor": cost.reward_minor, "fee": cost.fee},
        "expected_share": None,
        "enough_participants_one_choice_each": None,
    }
    if task == "forced_choice":
        share = expected_share(effect, noise=settings)
        document["expected_share"] = share
        enough = enough_participants("forced_choice", share, alpha=alpha)
        document["enough_participants_one_choice_each"] = enough
    document["conventions"] |= {
        "model": _model(task),
        "cost": "participants times reward, plus the fee on it; excluded participants are paid too",
    }
    return document


def _told(design: dict[str, Any], task: str) -> dict[str, Any]:
    if task == "yes_no":  # the stated effect is on the scale behind the answers, not on theirs
        return design | {"task": task, "type_m": None, "ci_width": None}
    return design | {"task": task}


def _model(task: str) -> str:
    if task == "forced_choice":
        return "choices: P(expected) = phi(gain * effect / (sqrt(2) * residual))"
    if task == "yes_no":
        return "answers: ratings cut in the middle; Type M and width are of another scale and left out"
    return "ratings: z within participants, Latin square"


def pilot_report(
    judgments: pd.DataFrame,
    *,
    participants: Sequence[int] = SIZES,
    by: str = "phenomenon",
    transform: str = "z",
    criterion: str = "t",
    alpha: float = ALPHA,
    draws: int = DRAWS,
    seed: int = 0,
    pilots: int = 0,
    price: Price | None = None,
) -> dict[str, Any]:
    """Report the power of other numbers of participants, by drawing a pilot's again.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment of one task
        The pilot; see :func:`analysis.effects.resampling.pilot_matrix`.
    participants : sequence of int
        Sizes.
    by, transform, criterion, alpha, draws, seed, pilots
        As in :func:`analysis.effects.resampling.resampled_power`; a pilot of fewer than 30 participants is
        itself drawn again 100 times at least.
    price : Price, optional

    Returns
    -------
    dict
        JSON-ready: ``sizes`` (share of phenomena with power of at least .8, also at the lower end over pilots
        where that is known, and cost), ``phenomena`` (power by phenomenon and size), ``few_in_pilot`` and
        ``conventions``.

    Raises
    ------
    BadInput, UnknownName, NotEnoughData
        If the pilot is of several tasks, has no contrast, or a choice is another word.

    Notes
    -----
    The pilot stands for the population: below 30 participants power comes out too high. Never the power of
    the study that gave the data.

    References
    ----------
    Sprouse & Almeida (2017), Glossa 2(1):14.

    Examples
    --------
    >>> rows = [(p, i, float((p + i) % 4 > 0)) for p in range(12) for i in range(3)]
    >>> frame = pd.DataFrame(rows, columns=["participant", "item", "value"])
    >>> report = pilot_report(frame.assign(phenomenon="islands", task="forced_choice"), participants=[10])
    >>> len(report["sizes"]), report["few_in_pilot"]
    (1, True)
    """
    matrix, task = pilot_matrix(judgments, by=by, transform=transform)
    whole = (matrix.isna() | matrix.isin([0.0, 1.0])).to_numpy().all()
    single = task == "forced_choice" and bool(whole)
    if single:
        table = choice_power(matrix, participants, alpha=alpha, criterion=criterion)
    else:
        shifted = matrix - 0.5 if task == "forced_choice" else matrix
        pilots = max(pilots, LEAST_PILOTS) if len(matrix) < FEW else pilots
        table = resampled_power(
            shifted, participants, draws=draws, seed=seed, alpha=alpha, criterion=criterion, pilots=pilots
        )
    cost = price or Price()
    sizes = [row | cost.of(int(row["n"])) for row in powered_by_size(table).to_dict("records")]
    return {
        "mode": "resample",
        "task": task,
        "test": _test(task, criterion, single=single),
        "by": by,
        "pilot_participants": len(matrix),
        "few_in_pilot": len(matrix) < FEW,
        "sizes": [{**row, "n": int(row["n"]), "phenomena": int(row["phenomena"])} for row in sizes],
        "phenomena": table.astype(object).where(table.notna(), None).to_dict("records"),
        "price": {"reward_minor": cost.reward_minor, "fee": cost.fee},
        "conventions": conventions(alpha=alpha, seed=seed, draws=draws)
        | {
            "criterion": "a Bayes factor above 3" if criterion == "bayes" else f"p < {alpha:g}, two-tailed",
            "share_powered": "share of phenomena with power of at least .8, not the mean power",
            "share_sure": "the same at the lower end of each power's 95 % interval over pilots"
            + (": power at the ends of the share's Wilson interval" if single else f", {pilots} drawn"),
            "participants": sample_words(table),
            "pilot": "drawn with replacement: it stands for the population, and below 30 participants "
            "power comes out too high",
        },
    }


def _test(task: str, criterion: str, *, single: bool) -> str:
    if single:
        return "Bayes factor of the share" if criterion == "bayes" else "exact sign test"
    return "t of participants' shares" if task == "forced_choice" else "paired t of participants"
