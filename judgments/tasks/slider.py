"""Slider: one sentence on a visual analogue scale from 0 to 100 with words at its ends."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from analysis.errors import BadInput
from judgments.tasks.base import (
    Answer,
    BadResponse,
    Datum,
    Message,
    Option,
    Parameter,
    Task,
    attentive,
    felt_share,
)
from judgments.tasks.numerals import decimal_of

LOW, HIGH = 0, 100


class Slider(Task):
    """A line without ticks, and without a thumb until first touched; a number where there is no script."""

    name = "slider"
    label = "Slider"
    right_answer = "right range, such as 60-100"
    parameters = (
        Parameter(
            "question", "How natural does this sentence sound to you?", "The question above the sentence."
        ),
        Parameter("low_label", "Completely unnatural", "Words at the low end, 0."),
        Parameter("high_label", "Completely natural", "Words at the high end, 100."),
        Parameter(
            "high_first",
            False,
            "Whether the high end stands where reading begins; the value stays high for natural.",
        ),
    )
    data = (
        Datum("response", "The number as the slider sent it or as it was typed."),
        Datum("value", "The place on the line, 0 to 100; higher is more acceptable."),
        Datum("scale_low", "0."),
        Datum("scale_high", "100."),
    )
    messages = (
        Message("slider_how", "Touch or click the line, or press an arrow key."),
        Message("slider_missing", "Please choose a place on the line."),
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
            If an end has no words, or the direction is no yes or no.
        """
        settings = super().settings(given)
        for name in ("low_label", "high_label"):
            if not str(settings[name]).strip():
                raise BadInput(f"the slider has no {name}.", remedy="Without words an end means nothing.")
        return settings

    def scale(self, settings: Mapping[str, Any]) -> tuple[float | None, float | None]:
        """0 and 100."""
        return float(LOW), float(HIGH)

    def screen(self, settings: Mapping[str, Any], *, shown: Mapping[str, Any]) -> dict[str, Any]:
        """Give the ends in the order in which they stand.

        Parameters
        ----------
        settings, shown : mapping

        Returns
        -------
        dict
            ``ends``: value and label of the first and the last; ``low``, ``high`` and ``high_first``.
        """
        low = {"value": LOW, "label": str(settings["low_label"])}
        high = {"value": HIGH, "label": str(settings["high_label"])}
        ends = [high, low] if settings["high_first"] else [low, high]
        return {"ends": ends, "low": LOW, "high": HIGH, "high_first": settings["high_first"]}

    def parse(self, response: str, settings: Mapping[str, Any], *, options: Sequence[Option]) -> Answer:
        """Read a place on the line; keep it as typed.

        Parameters
        ----------
        response : str
            A number from 0 to 100, with a point or a comma.
        settings : mapping
        options : sequence of Option
            Not needed.

        Returns
        -------
        Answer

        Raises
        ------
        BadResponse
            If it is empty, no number or beyond an end.

        Examples
        --------
        >>> Slider().parse("62,5", {}, options=()).value
        62.5
        """
        if not response.strip():
            raise BadResponse("Please choose a place on the line.")
        value = decimal_of(response)
        if value is None or not LOW <= value <= HIGH:
            raise BadResponse("Please give a number from %(low)s to %(high)s.", low=LOW, high=HIGH)
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
        """Rate a sentence: its latent z with noise of sd 0.5, two and a half sd to each side of the middle.

        Parameters
        ----------
        rng : numpy Generator
        settings : mapping
        options : sequence of Option
        acceptability : float
            Latent z of the sentence.
        profile : str
            A left-biased participant stays at the low end when not reading.

        Returns
        -------
        str
            A whole number from 0 to 100.
        """
        if attentive(rng, profile):
            share = felt_share(rng, acceptability)
            return str(int(np.clip(round(share * HIGH), LOW, HIGH)))
        return str(LOW if profile == "left-biased" else int(rng.integers(LOW, HIGH + 1)))
