"""Slider: one sentence on a visual analogue scale from 0 to 100 with words at its ends."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from analysis.errors import BadInput
from experiments.tasks.base import (
    BETWEEN,
    Answer,
    BadResponse,
    Datum,
    Message,
    Options,
    Parameter,
    Scale,
    Settings,
    Task,
    latent_point,
    parse_decimal,
)

if TYPE_CHECKING:
    from numpy.random import Generator

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
        Parameter("low_label", "Completely unnatural", "Label of the low end, 0."),
        Parameter("high_label", "Completely natural", "Label of the high end, 100."),
        Parameter(
            "high_first",
            False,
            "Whether the high end comes first in reading direction; the value stays high for natural.",
            title="Put the high end first",
        ),
        *BETWEEN,
    )
    data = (
        Datum("response", "The number as the slider sent it or as it was typed."),
        Datum("value", "The position on the line, 0 to 100; higher is more acceptable."),
        Datum("scale_low", "0."),
        Datum("scale_high", "100."),
    )
    messages = (
        Message("slider_how", "Touch or click the line, or press an arrow key or a digit."),
        Message("slider_missing", "Please choose a place on the line."),
    )

    def validate(self, settings: Settings) -> None:
        for name in ("low_label", "high_label"):
            if not str(settings[name]).strip():
                raise BadInput(f"the slider has no {name}.", remedy="Give both ends of the scale a label.")

    def scale(self, settings: Settings) -> Scale:
        return float(LOW), float(HIGH)

    def screen(self, settings: Settings, *, arrangement: Mapping[str, Any]) -> dict[str, Any]:
        low = {"value": LOW, "label": str(settings["low_label"])}
        high = {"value": HIGH, "label": str(settings["high_label"])}
        ends = [high, low] if settings["high_first"] else [low, high]
        return {"ends": ends, "low": LOW, "high": HIGH, "high_first": settings["high_first"]}

    def parse(self, response: str, settings: Settings, *, options: Options) -> Answer:
        """Parse a position on the line; the response keeps it as typed.

        Examples
        --------
        >>> Slider().parse("62,5", {}, options=()).value
        62.5
        """
        if not response.strip():
            raise BadResponse("Please choose a place on the line.")
        value = parse_decimal(response)
        if value is None or not LOW <= value <= HIGH:
            raise BadResponse("Please give a number from %(low)s to %(high)s.", low=LOW, high=HIGH)
        return Answer(response, value)

    def attentive_response(
        self, rng: "Generator", settings: Settings, options: Options, acceptability: float
    ) -> str:
        return str(LOW + latent_point(rng, acceptability, n_points=HIGH - LOW + 1))

    def first_response(self, settings: Settings, options: Options) -> str:
        return str(LOW)

    def random_response(self, rng: "Generator", settings: Settings, options: Options) -> str:
        return str(int(rng.integers(LOW, HIGH + 1)))
