"""Power reports with costs: prospective, by simulation, and from a pilot."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import pandas as pd

from ..choices import POWER_MODELS, POWER_SIZES, POWER_TARGET, POWER_TESTS
from ..errors import BadInput, UnknownName
from .anova import anova_document
from .exact import ALPHA, conventions, enough_participants
from .pilot import FEW_PARTICIPANTS, PilotPower, describe_sample, pilot_power, powered_by_size
from .simulation import DRAWS, Noise, expected_share, prospective_power
from .simulation import TESTS as SIMULATED_TESTS


@dataclass(frozen=True)
class Price:
    """Cost of one participant: reward in minor currency units, and the platform fee as a share of it."""

    reward_minor: int = 0
    fee: float = 0.0

    def __post_init__(self) -> None:
        """Validate reward and fee."""
        if self.reward_minor < 0 or not 0 <= self.fee <= 2:
            raise BadInput(
                "the reward must not be negative and the fee must be between 0 and 200 %.",
                column="fee",
                remedy="Give the fee in percent of the reward.",
            )

    def of(self, participants: int) -> dict[str, int]:
        """Compute reward, fees and total for a number of participants; fees are rounded up."""
        reward = participants * self.reward_minor
        # Rounded to 1e-6 first, so that floating-point error cannot add a minor unit.
        fees = ceil(round(reward * self.fee, 6))
        return {"reward_minor": reward, "fees_minor": fees, "cost_minor": reward + fees}


def prospective_report(
    task: str,
    effect: float,
    *,
    participants: Sequence[int] = POWER_SIZES,
    items: Sequence[int] = (8,),
    lists: int | None = None,
    noise: Noise | None = None,
    alpha: float = ALPHA,
    draws: int | None = None,
    seed: int = 0,
    analysis: str = "mixed",
    test: str = "t",
    rule: str = "blimp",
    conditions: int = 3,
    correlation: float = 0.5,
    epsilon: float = 1.0,
    price: Price | None = None,
) -> dict[str, Any]:
    """Report power, Type S, Type M, interval width and cost of planned studies.

    Parameters
    ----------
    task : str
        Task of the planned study; :data:`MODELS` lists the tasks and how each is simulated.
    effect : float
        True difference between acceptable and unacceptable sentences in standard deviations of a
        participant's ratings, for every task; 0 or more.
    participants : sequence of int
        Numbers of participants; every combination with ``items`` is simulated.
    items : sequence of int
        Numbers of items, that is lexicalizations of the contrast over all lists; at least ``lists``.
    lists : int, optional
        Number of lists of the Latin square; by default as many as conditions, so that each participant sees
        each item once. With 1, all sentences; with as many as items, one sentence of each condition. Choices:
        each participant judges the items of one list.
    noise : Noise, optional
        Variance components, for example of a pilot; the defaults are those of published acceptability data.
    alpha : float
        Two-tailed significance level.
    draws : int, optional
        Number of simulated studies per design; by default 10,000 (``participants``, ``inclusion``: 1,000).
    seed : int
        Seed of the simulation.
    analysis : {"mixed", "participants"}
        Planned test: the mixed model over participants and items, which pages and reports show; or a t test
        over participants' means (or shares), which holds for these items only.
    test : {"t", "interaction", "inclusion", "anova", "anova_between"}
        Two conditions, the difference of differences of a 2×2 design (``effect`` is its size) or the
        inclusion of a paradigm of choices by ``rule``; or the F test of several conditions within or between
        participants (:func:`~analysis.power.anova.anova_power`), for which ``effect`` is Cohen's f of
        participants' means.
    rule : str
        Of the test ``inclusion``: ``blimp``, ``climp``, M/N or a share, as in
        :func:`~analysis.agreement.inclusion.parse_rule`.
    conditions : int
        Number of conditions of the F test.
    correlation : float
        Correlation among conditions, of the F test within participants.
    epsilon : float
        Sphericity, of the F test within participants; 1 where it holds.
    price : Price, optional
        Reward of one participant in minor units of the currency (cents) and the platform's fee; by default 0.

    Returns
    -------
    dict
        JSON-ready: the document of :func:`~obelus.power.simulation.prospective_power`, each design with
        ``reward_minor``, ``fees_minor`` and ``cost_minor``; ``smallest`` is the design with fewest
        participants whose power is at least .8, or None; ``expected_share`` and
        ``enough_participants_one_choice_each`` for choices.

    Raises
    ------
    UnknownName, BadInput
        If a name is unknown or a number is out of range.

    Examples
    --------
    >>> price = Price(150, 1 / 3)
    >>> report = prospective_report("forced_choice", 0.5, participants=[20], draws=200, price=price)
    >>> report["designs"][0]["cost_minor"], round(report["expected_share"], 3)
    (4000, 0.777)
    """
    if task not in POWER_MODELS:
        raise UnknownName("task", task, sorted(POWER_MODELS))
    if test not in POWER_TESTS:
        raise UnknownName("test", test, POWER_TESTS)
    is_simulated = test in SIMULATED_TESTS
    if is_simulated:
        document = prospective_power(
            POWER_MODELS[task], effect, participants=participants, items=items, lists=lists, noise=noise,
            alpha=alpha, draws=draws, seed=seed, analysis=analysis, test=test, rule=rule,
        )  # fmt: skip
    elif task == "forced_choice":
        raise BadInput("choices have no F test.", column="test", remedy="Use the test t.")
    else:
        document = anova_document(
            effect, participants=participants, items=max(items), lists=lists or 2, alpha=alpha, test=test,
            conditions=conditions, correlation=correlation, epsilon=epsilon,
        )  # fmt: skip
    cost = price or Price()
    designs = [_design_row(design, task) | cost.of(design["participants"]) for design in document["designs"]]
    powered = [design for design in designs if design["power"] >= POWER_TARGET]
    document |= {
        "mode": "prospective",
        "task": task,
        "test": test,
        "designs": designs,
        "smallest": min(powered, key=lambda design: (design["participants"], design["items"]), default=None),
        "price": {"reward_minor": cost.reward_minor, "fee": cost.fee},
        "expected_share": None,
        "enough_participants_one_choice_each": None,
    }
    if task == "forced_choice":
        share = expected_share(effect, noise=Noise(**document["noise"]))
        document["expected_share"] = share
        enough = enough_participants("forced_choice", share, alpha=alpha)
        document["enough_participants_one_choice_each"] = enough
    document["conventions"] |= {
        **({"model": _model(task)} if is_simulated else {}),
        "cost": "participants times reward, plus the fee on it; excluded participants are paid too",
    }
    return document


def _design_row(design: dict[str, Any], task: str) -> dict[str, Any]:
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
    participants: Sequence[int] = POWER_SIZES,
    by: str = "phenomenon",
    transform: str = "z",
    criterion: str = "t",
    alpha: float = ALPHA,
    draws: int | None = None,
    seed: int = 0,
    pilots: int = 0,
    analysis: str = "mixed",
    price: Price | None = None,
) -> dict[str, Any]:
    """Report the power of other numbers of participants from a pilot.

    Parameters
    ----------
    judgments : DataFrame, one row per judgment of one task
        The pilot's judgments after exclusion; needs ``participant``, ``item`` and ``value``, and
        ``expected`` for ratings and yes-no.
    participants : sequence of int
        Numbers of participants for which power is estimated.
    by : {"phenomenon", "paradigm"}
        Column that defines the contrasts.
    transform : {"z", "z-log", "raw", "robust-z", "rank-normal"}
        Scale of ratings, as in :func:`obelus.aggregation.ratings.ratings_report`; choices ignore it.
    criterion : {"t", "bayes"}
        Detection in the predicted direction: p < ``alpha`` two-tailed, or a Bayes factor above 3.
    alpha : float
        Two-tailed significance level.
    draws : int, optional
        Number of studies drawn per number of participants; by default 1,000.
    seed : int
        Seed of the resampling.
    pilots : int
        Number of times the pilot itself is resampled, for ``pilot_low`` and ``pilot_high``; 0 omits them,
        except that a pilot of fewer than 30 participants is resampled at least 100 times. Not of ``mixed``.
    analysis : {"mixed", "participants"}
        The mixed model that pages and reports show, at each contrast's estimate and with the pilot's
        variation over participants and items; or the test by participants, by resampling, which holds for
        these items only. The criterion ``bayes`` is always of the latter.
    price : Price, optional
        Reward of one participant in minor units of the currency (cents) and the platform's fee; by default 0.

    Returns
    -------
    dict
        JSON-ready: ``sizes`` (share of phenomena with power of at least .8, also at the lower end over pilots
        if it was computed, and cost), ``phenomena`` (power by phenomenon and size), ``left_out`` (contrasts
        whose power is unknown, with the reason), ``few_in_pilot`` and ``conventions``.

    Raises
    ------
    BadInput, UnknownName, NotEnoughData
        If the pilot is of several tasks or has no contrast, or a parameter has an unknown value.

    Notes
    -----
    The pilot is treated as the population: resampling overestimates power below 30 participants, and an
    estimate from few participants is uncertain. Not applicable to the power of the pilot itself.

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
    power = pilot_power(
        judgments, by=by, sizes=participants, transform=transform, criterion=criterion, alpha=alpha,
        draws=draws, seed=seed, pilots=pilots, analysis=analysis,
    )  # fmt: skip
    cost, table = price or Price(), power.table.drop(columns=["task", "test"])
    sizes = [row | cost.of(int(row["n"])) for row in powered_by_size(table).to_dict("records")]
    has_ends = "pilot_low" in table.columns
    return {
        "mode": "resample",
        "task": power.task,
        "test": power.test,
        "by": by,
        "pilot_participants": power.participants,
        "few_in_pilot": power.participants < FEW_PARTICIPANTS,
        "few_note": few_note(power),
        "left_out": list(power.left_out),
        "variation": power.variation,
        "sizes": [{**row, "n": int(row["n"]), "phenomena": int(row["phenomena"])} for row in sizes],
        "phenomena": table.astype(object).where(table.notna(), None).to_dict("records"),
        "price": {"reward_minor": cost.reward_minor, "fee": cost.fee},
        "conventions": conventions(alpha=alpha, seed=seed, draws=DRAWS if draws is None else draws)
        | {
            "criterion": "a Bayes factor above 3" if criterion == "bayes" else f"p < {alpha:g}, two-tailed",
            "share_powered": "share of phenomena with power of at least .8, not the mean power",
            "share_sure": f"the same at the lower end of each power's 95 % interval over pilots: {power.ends}"
            if has_ends
            else None,
            "participants": describe_sample(table),
            "pilot": "each contrast at its estimate, with the mean variance of effects over participants and "
            "over items"
            if power.variation
            else "drawn with replacement: it stands for the population, and below 30 participants "
            "power comes out too high",
        },
    }


def few_note(power: PilotPower) -> str:
    """Say what a pilot of few participants means for its power; empty for larger ones."""
    if power.participants >= FEW_PARTICIPANTS:
        return ""
    if power.variation:
        return f"Fewer than {FEW_PARTICIPANTS} participants in the pilot: its estimates are uncertain."
    return f"Fewer than {FEW_PARTICIPANTS} participants in the pilot: these figures are too high."
