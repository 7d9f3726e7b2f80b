"""Magnitude estimation: how acceptable, as a number against a reference sentence."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from analysis.errors import BadInput
from judgments.tasks.base import Answer, BadResponse, Datum, Option, Parameter, Task, attentive
from judgments.tasks.numerals import decimal_of

LARGEST = 1e12
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
            "Whether people choose the number of the reference sentence themselves, once, before the trials.",
        ),
        Parameter(
            "training",
            False,
            "Whether people first estimate the lengths of six lines, in at most two attempts.",
        ),
        Parameter(
            "pass_mark",
            0.9,
            "Correlation of log estimates with log lengths from which an attempt is passed.",
        ),
        Parameter(
            "training_failure",
            GO_ON,
            "What follows two failed attempts.",
            choices=((GO_ON, "go on, and flag it"), ("screen_out", "end kindly")),
        ),
    )
    data = (
        Datum("response", "The number exactly as typed."),
        Datum("value", "The number: any positive decimal, with a point or a comma."),
        Datum("modulus", "Number of the reference sentence, given or the person's own, kept with the trial."),
        Datum("reference", "Text of the reference sentence, kept with the trial."),
    )

    def settings(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Fill the defaults in.

        Parameters
        ----------
        given : mapping

        Returns
        -------
        dict

        Raises
        ------
        BadInput
            If there is no reference sentence, its number is not positive, or the pass mark is no
            correlation above 0.
        """
        settings = super().settings(given)
        modulus = settings["modulus"]
        if not str(settings["reference"]).strip():
            raise BadInput(
                "magnitude estimation needs a reference sentence.", remedy="Set reference to its text."
            )
        if isinstance(modulus, bool) or not isinstance(modulus, int | float) or not 0 < modulus < LARGEST:
            raise BadInput(
                f"the modulus {modulus!r} is no positive number.", remedy="Set modulus, for example to 100."
            )
        mark = settings["pass_mark"]
        if isinstance(mark, bool) or not isinstance(mark, int | float) or not 0 < mark <= 1:
            raise BadInput(
                f"the pass mark {mark!r} is no such correlation.",
                remedy="Set pass_mark above 0 and at most 1, for example to 0.9.",
            )
        return settings

    def warm_up(self, settings: Mapping[str, Any]) -> tuple[str, ...]:
        """Lines before sentences, then the person's own number, where the study asks for them.

        Parameters
        ----------
        settings : mapping

        Returns
        -------
        tuple of str
        """
        asked = (("training", settings["training"]), ("modulus", settings["own_modulus"]))
        return tuple(name for name, is_asked in asked if is_asked)

    def scale(self, settings: Mapping[str, Any]) -> tuple[float | None, float | None]:
        """Above zero, without end."""
        return 0.0, None

    def arrange(self, settings: Mapping[str, Any], *, turn: int) -> dict[str, Any]:
        """Keep the reference and its number with the trial.

        Parameters
        ----------
        settings : mapping
        turn : int

        Returns
        -------
        dict
            ``reference`` and ``modulus``.
        """
        return {"reference": settings["reference"], "modulus": settings["modulus"]}

    def screen(self, settings: Mapping[str, Any], *, shown: Mapping[str, Any]) -> dict[str, Any]:
        """Give the reference, its number, and the numbers of twice and half as good.

        Parameters
        ----------
        settings, shown : mapping

        Returns
        -------
        dict
        """
        modulus = shown.get("modulus", settings["modulus"])
        return {
            "reference": shown.get("reference", settings["reference"]),
            "modulus": _plain(modulus),
            "twice": _plain(modulus * 2),
            "half": _plain(modulus / 2),
        }

    def parse(self, response: str, settings: Mapping[str, Any], *, options: Sequence[Option]) -> Answer:
        """Read a positive number; keep it as typed.

        Parameters
        ----------
        response : str
            Digits of any script with at most one decimal point or comma; spaces around are allowed.
        settings : mapping
        options : sequence of Option
            Not needed.

        Returns
        -------
        Answer

        Raises
        ------
        BadResponse
            If it is empty, no plain number (see :func:`~judgments.tasks.numerals.decimal_of`), zero, or
            beyond 10¹².

        Examples
        --------
        >>> MagnitudeEstimation().parse("62,5", {}, options=()).value
        62.5
        """
        if not response.strip():
            raise BadResponse("Please type a number.")
        value = decimal_of(response)
        if value is None:
            raise BadResponse("Please type one number in digits, such as 80 or 62.5, without signs or words.")
        if value <= 0:
            raise BadResponse(
                "Please type a number above 0. However bad a sentence is, there is a small number for it."
            )
        if not math.isfinite(value) or value >= LARGEST:
            raise BadResponse("That number is too large to store. Please type a smaller one.")
        return Answer(response, value)

    def simulate(
        self,
        rng: np.random.Generator,
        settings: Mapping[str, Any],
        *,
        options: Sequence[Option],
        acceptability: float,
        profile: str,
    ) -> str:
        """Type modulus · 2^(z + noise), rounded to two figures as people do.

        Parameters
        ----------
        rng : numpy Generator
        settings : mapping
        options : sequence of Option
        acceptability : float
            Latent z of the sentence; the reference stands at 0.
        profile : str
            A left-biased participant types the modulus when not reading.

        Returns
        -------
        str
            A positive number.
        """
        modulus = float(settings["modulus"])
        if attentive(rng, profile):
            return _plain(_two_figures(modulus * 2 ** (acceptability + rng.normal(0, 0.4))))
        if profile == "left-biased":
            return _plain(modulus)
        return _plain(_two_figures(modulus * 2 ** rng.uniform(-3, 3)))


def _two_figures(number: float) -> float:
    return float(round(number, 1 - math.floor(math.log10(number))))


def _plain(number: float) -> str:
    """Write a number without exponent or needless zeros."""
    return f"{number:.10f}".rstrip("0").rstrip(".")
