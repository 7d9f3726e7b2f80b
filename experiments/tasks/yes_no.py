"""Yes or no: is this sentence acceptable."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from experiments.tasks.base import (
    BETWEEN,
    CONFIRM,
    Answer,
    BadResponse,
    Datum,
    Options,
    Parameter,
    Scale,
    Settings,
    Task,
    prefers,
)

if TYPE_CHECKING:
    from numpy.random import Generator


class YesNo(Task):
    """Two buttons whose sides are fixed for a participant and alternate between participants of a list."""

    name = "yes_no"
    label = "Yes or no"
    has_points = True
    right_answer = "yes or no"
    parameters = (
        Parameter("question", "Is this an acceptable sentence?", "The question above the sentence."),
        Parameter("yes_label", "Yes", "Label of the button for yes."),
        Parameter("no_label", "No", "Label of the button for no."),
        CONFIRM,
        *BETWEEN,
    )
    data = (
        Datum("response", "yes or no."),
        Datum("value", "1 for yes, 0 for no."),
        Datum("answers", "The two answers in the order of the screen, stored with the trial."),
    )

    def scale(self, settings: Settings) -> Scale:
        return 0.0, 1.0

    def possible_answers(self, settings: Settings) -> str:
        return "yes and no"

    def arrange(self, settings: Settings, *, turn: int) -> dict[str, Any]:
        """Put yes first for every second participant of a list."""
        return {"answers": ["no", "yes"] if turn % 2 else ["yes", "no"]}

    def screen(self, settings: Settings, *, arrangement: Mapping[str, Any]) -> dict[str, Any]:
        order = arrangement.get("answers", ["yes", "no"])
        buttons = [{"value": answer, "label": settings[f"{answer}_label"]} for answer in order]
        return {"buttons": buttons, "confirm": settings["confirm"]}

    def parse(self, response: str, settings: Settings, *, options: Options) -> Answer:
        """Parse yes or no.

        Examples
        --------
        >>> YesNo().parse("yes", {}, options=()).value
        1.0
        """
        if response not in {"yes", "no"}:
            raise BadResponse("Please choose one of the two answers.")
        return Answer(response, float(response == "yes"))

    def attentive_response(
        self, rng: "Generator", settings: Settings, options: Options, acceptability: float
    ) -> str:
        return "yes" if prefers(rng, 2 * acceptability) else "no"

    def first_response(self, settings: Settings, options: Options) -> str:
        return "yes"

    def random_response(self, rng: "Generator", settings: Settings, options: Options) -> str:
        return "yes" if rng.random() < 0.5 else "no"
