"""Forced choice: which of two sentences sounds better."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from analysis.aggregation.treatments import TREATMENTS
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
    chosen_option,
    prefers,
)

if TYPE_CHECKING:
    from numpy.random import Generator

OFFERED = ("both", "neither")
UNDECIDED = "disagreement"  # default treatment of both and neither in the analysis
NEITHER_WON = 0.5  # stored for both and neither; the study's treatment decides how it counts
CLOSE = 0.5  # latent difference below which a simulated participant answers both or neither


class ForcedChoice(Task):
    """Two sentences on one screen; one is chosen. A study may offer "both" and "neither" beside them."""

    name = "forced_choice"
    label = "Forced choice"
    shows = "pair"
    parameters = (
        Parameter(
            "question",
            "Which of the two sentences sounds better to you?",
            "The question above the sentences.",
        ),
        Parameter("offer_both", False, "Whether participants may answer that both sentences are good."),
        Parameter("offer_neither", False, "Whether participants may answer that neither sentence is good."),
        Parameter("both_label", "Both sound good", "Label of the answer for both."),
        Parameter("neither_label", "Neither sounds good", "Label of the answer for neither."),
        Parameter(
            "undecided",
            UNDECIDED,
            "How both and neither count in the analysis.",
            choices=tuple((name, treatment.words) for name, treatment in TREATMENTS.items()),
        ),
        CONFIRM,
        *BETWEEN,
    )
    data = (
        Datum("response", "Opaque id of the chosen sentence, as the form sent it; or both, or neither."),
        Datum(
            "value",
            "1 when the expected member was chosen, 0 for the other; see undecided for both and neither.",
        ),
        Datum("sentence_id", "The chosen sentence; empty for both and neither."),
        Datum("shown_first", "The sentence shown first; sides are balanced within and across lists."),
        Datum("expected_first", "Whether the expected member was shown first."),
    )

    def scale(self, settings: Settings) -> Scale:
        return 0.0, 1.0

    def screen(self, settings: Settings, *, arrangement: Mapping[str, Any]) -> dict[str, Any]:
        buttons = [
            {"value": answer, "label": settings[f"{answer}_label"]} for answer in answer_options(settings)
        ]
        return {"buttons": buttons, "confirm": settings["confirm"]}

    def parse(self, response: str, settings: Settings, *, options: Options) -> Answer:
        if not response:
            raise BadResponse("Please choose one of the two sentences.")
        if response in answer_options(settings):
            return Answer(response, NEITHER_WON)
        _, option = chosen_option(options, response)
        return Answer(response, float(bool(option.expected)), option_id=option.id)

    def attentive_response(
        self, rng: "Generator", settings: Settings, options: Options, acceptability: float
    ) -> str:
        """Choose the expected member with logistic probability of the latent difference."""
        beside = answer_options(settings)
        if beside:
            difference = acceptability + rng.logistic()
            if abs(difference) < CLOSE:
                return beside[int(rng.integers(len(beside)))]
            takes_expected = difference > 0
        else:
            takes_expected = prefers(rng, acceptability)
        return next(option.id for option in options if bool(option.expected) == takes_expected)

    def first_response(self, settings: Settings, options: Options) -> str:
        return options[0].id

    def random_response(self, rng: "Generator", settings: Settings, options: Options) -> str:
        responses = [*(option.id for option in options), *answer_options(settings)]
        return responses[int(rng.integers(len(responses)))]


def answer_options(settings: Settings) -> list[str]:
    """Return the answers offered beside the two sentences, in the order of the screen.

    Examples
    --------
    >>> answer_options({"offer_both": True, "offer_neither": False})
    ['both']
    """
    return [answer for answer in OFFERED if settings.get(f"offer_{answer}")]
