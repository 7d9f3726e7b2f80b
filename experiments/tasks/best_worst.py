"""Best–worst scaling: of a few sentences, which is the best and which the worst."""

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
    chosen_option,
    is_integer,
)

if TYPE_CHECKING:
    from numpy.random import Generator

SMALLEST, LARGEST = 3, 6
NOTHING = "-"  # in a response: a mark that was not made


class BestWorst(Task):
    """A set of sentences; one is marked as the best, another as the worst."""

    name = "best_worst"
    label = "Best–worst scaling"
    shows = "set"
    parameters = (
        Parameter(
            "question",
            "Which of these sentences sounds best to you, and which worst?",
            "The question above the sentences.",
        ),
        Parameter("best_label", "Best", "Label above the marks for the best."),
        Parameter("worst_label", "Worst", "Label above the marks for the worst."),
        Parameter("size", 4, f"Number of sentences in a set, {SMALLEST} to {LARGEST}."),
        Parameter("showings", 8, "Number of sets that contain each sentence, over all lists together."),
        *BETWEEN,
    )
    data = (
        Datum("response", "Opaque ids of the best and of the worst sentence, as the form sent them."),
        Datum("value", "Position of the best sentence on the screen; in frames 1 best, -1 worst, 0 neither."),
        Datum("options", "The sentences of the set in the order of the screen, stored with the trial."),
    )
    messages = (Message("best_worst_missing", "Please choose the best and the worst sentence."),)

    def validate(self, settings: Settings) -> None:
        for name, low, high in (("size", SMALLEST, LARGEST), ("showings", 1, 100)):
            value = settings[name]
            if not is_integer(value) or not low <= value <= high:
                raise BadInput(f"{name} is {value!r}.", remedy=f"Set it to a whole number, {low} to {high}.")

    def scale(self, settings: Settings) -> Scale:
        return 1.0, float(settings["size"])

    def screen(self, settings: Settings, *, arrangement: Mapping[str, Any]) -> dict[str, Any]:
        return {"marks": [{"value": mark, "label": settings[f"{mark}_label"]} for mark in ("best", "worst")]}

    def read_response(self, form: Mapping[str, str]) -> str:
        return f"{form.get('best') or NOTHING} {form.get('worst') or NOTHING}"

    def form_fields(self, response: str) -> dict[str, str]:
        """Return the two marks of a plain form.

        Examples
        --------
        >>> BestWorst().form_fields("k7 -")
        {'best': 'k7', 'worst': ''}
        """
        best, _, worst = response.partition(" ")
        return {"best": "" if best == NOTHING else best, "worst": "" if worst == NOTHING else worst}

    def parse(self, response: str, settings: Settings, *, options: Options) -> Answer:
        marked = response.split()
        if len(marked) != 2 or NOTHING in marked:
            raise BadResponse("Please choose the best and the worst sentence.")
        best, worst = marked
        if best == worst:
            raise BadResponse("Please choose two different sentences, one as the best and one as the worst.")
        position, _ = chosen_option(options, best)
        chosen_option(options, worst)
        return Answer(response, float(position), option_id=best, details={"worst": worst})

    def attentive_response(
        self, rng: "Generator", settings: Settings, options: Options, acceptability: float
    ) -> str:
        """Mark the highest and lowest of each option's latent z with noise of sd 0.5."""
        latent = [(option.acceptability or 0.0) + rng.normal(0, 0.5) for option in options]
        return f"{options[latent.index(max(latent))].id} {options[latent.index(min(latent))].id}"

    def first_response(self, settings: Settings, options: Options) -> str:
        return f"{options[0].id} {options[-1].id}"

    def random_response(self, rng: "Generator", settings: Settings, options: Options) -> str:
        best, worst = rng.permutation(len(options))[:2]
        return f"{options[best].id} {options[worst].id}"
