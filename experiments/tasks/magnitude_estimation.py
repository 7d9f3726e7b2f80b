"""Magnitude estimation: how acceptable, as a number against a reference sentence."""

import math
import random
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from analysis.errors import BadInput
from experiments.tasks.base import (
    BETWEEN,
    NUMBER_RULES,
    Answer,
    BadResponse,
    Datum,
    Options,
    Parameter,
    Scale,
    Settings,
    Task,
    is_number,
    parse_decimal,
)

if TYPE_CHECKING:
    from numpy.random import Generator

LARGEST = 1e12  # no estimate in use is near; sums of squares of larger numbers lose all others
GO_ON = "go_on"


class MagnitudeEstimation(Task):
    """Any positive number; the reference sentence and its number stay in view on every screen."""

    name = "magnitude_estimation"
    label = "Magnitude estimation"
    caution = (
        "Magnitude estimates scatter more than Likert ratings without carrying more information (Weskott & "
        "Fanselow 2011). Choose them when the size of ratios matters."
    )
    right_answer = "right range, such as 100-1000"
    parameters = (
        Parameter(
            "question",
            "Compared with the reference, how acceptable is this sentence?",
            "The question above the sentence.",
        ),
        Parameter(
            "reference", "", "The reference sentence (the standard), in view on every screen. Required."
        ),
        Parameter("modulus", 100, "The number given to the reference sentence, and to the reference line."),
        Parameter(
            "own_modulus",
            False,
            "Whether participants choose the number of the reference sentence, once, before the trials.",
        ),
        Parameter(
            "training",
            False,
            "Whether participants first estimate the lengths of six lines, in at most two attempts.",
        ),
        Parameter(
            "pass_mark",
            0.9,
            "Lowest correlation of log estimates with log lengths that passes an attempt.",
        ),
        Parameter(
            "training_failure",
            GO_ON,
            "What happens after two failed attempts.",
            choices=((GO_ON, "continue and flag the session"), ("screen_out", "end the session")),
        ),
        *BETWEEN,
    )
    data = (
        Datum("response", "The number exactly as typed."),
        Datum(
            "value",
            "The number: any positive decimal, with a point or a comma; 1,000 and 1.000 are asked again.",
        ),
        Datum(
            "modulus",
            "Number of the reference sentence, given or chosen, stored with the trial.",
        ),
        Datum("reference", "Text of the reference sentence, stored with the trial."),
    )

    def validate(self, settings: Settings) -> None:
        modulus = settings["modulus"]
        if not str(settings["reference"]).strip():
            raise BadInput(
                "magnitude estimation needs a reference sentence.", remedy="Set reference to its text."
            )
        if not is_number(modulus) or not 0 < modulus < LARGEST:
            raise BadInput(
                f"the modulus {modulus!r} is not a positive number.",
                remedy="Set modulus, for example to 100.",
            )
        mark = settings["pass_mark"]
        if not is_number(mark) or not 0 < mark <= 1:
            raise BadInput(
                f"the pass mark {mark!r} is not a correlation between 0 and 1.",
                remedy="Set pass_mark above 0 and at most 1, for example to 0.9.",
            )

    def warm_up(self, settings: Settings) -> tuple[str, ...]:
        screens = (("training", settings["training"]), ("modulus", settings["own_modulus"]))
        return tuple(name for name, is_shown in screens if is_shown)

    def scale(self, settings: Settings) -> Scale:
        return 0.0, None

    def can_answer(self, low: float, high: float, settings: Settings) -> bool:
        return low >= 0 and 0 < high < LARGEST

    def possible_answers(self, settings: Settings) -> str:
        return "numbers above 0"

    def arrange(self, settings: Settings, *, turn: int) -> dict[str, Any]:
        return {"reference": settings["reference"], "modulus": settings["modulus"]}

    def screen(self, settings: Settings, *, arrangement: Mapping[str, Any]) -> dict[str, Any]:
        modulus = arrangement.get("modulus", settings["modulus"])
        return {
            "reference": arrangement.get("reference", settings["reference"]),
            "modulus": _plain(modulus),
            "twice": _plain(modulus * 2),
            "half": _plain(modulus / 2),
            "number": NUMBER_RULES,
        }

    def parse(self, response: str, settings: Settings, *, options: Options) -> Answer:
        """Parse a positive number; the response keeps it as typed.

        Examples
        --------
        >>> MagnitudeEstimation().parse("62,5", {}, options=()).value
        62.5
        """
        if not response.strip():
            raise BadResponse("Please type a number.")
        value = parse_decimal(response)
        if value is None:
            raise BadResponse("Please type one number in digits, such as 80 or 62.5, without signs or words.")
        if value <= 0:
            raise BadResponse(
                "Please type a number above 0. However bad a sentence is, there is a small number for it."
            )
        if not math.isfinite(value) or value >= LARGEST:
            raise BadResponse("That number is too large to store. Please type a smaller one.")
        return Answer(response, value)

    def attentive_response(
        self, rng: "Generator", settings: Settings, options: Options, acceptability: float
    ) -> str:
        """Return modulus · 2^(z + noise of sd 0.4), rounded to two figures as participants do."""
        return _estimate(settings, acceptability + rng.normal(0, 0.4))

    def first_response(self, settings: Settings, options: Options) -> str:
        return _plain(float(settings["modulus"]))

    def random_response(self, rng: "Generator", settings: Settings, options: Options) -> str:
        return _estimate(settings, rng.uniform(-3, 3))


# The exercise before the trials: lengths of lines in units of the reference line.
ATTEMPTS = 2
LENGTHS = ((0.25, 0.5, 0.75, 1.5, 2.0, 3.0), (0.3, 0.6, 0.9, 1.25, 2.5, 2.8))
REFERENCE_PX = 100  # the longest line is then 300 px, which fits a phone


def line_lengths(attempt: int, *, seed: int) -> list[float]:
    """Return the lines of an attempt, in an order that depends on the session's seed.

    Examples
    --------
    >>> sorted(line_lengths(1, seed=7)) == sorted(LENGTHS[0])
    True
    """
    lengths = list(LENGTHS[(attempt - 1) % len(LENGTHS)])
    random.Random(f"{seed}-lines-{attempt}").shuffle(lengths)  # noqa: S311 - a seeded order
    return lengths


def _estimate(settings: Settings, doublings: float) -> str:
    """Return the modulus times 2^doublings, rounded to two figures."""
    number = float(settings["modulus"]) * 2**doublings
    return _plain(float(round(number, 1 - math.floor(math.log10(number)))))


def _plain(number: float) -> str:
    """Format a number without exponent or trailing zeros."""
    return f"{number:.10f}".rstrip("0").rstrip(".")
