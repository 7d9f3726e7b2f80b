"""A task: thumb up or thumb down."""

from numpy.random import Generator

from experiments.tasks.base import (
    BETWEEN,
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


class ExampleTask(Task):
    """Two buttons; the page is the template ``judgments/tasks/example.html``."""

    name = "example"
    label = "Example"
    has_points = True
    right_answer = "up or down"
    parameters = (
        Parameter("question", "Thumb up or thumb down?", "The question above the sentence."),
        *BETWEEN,
    )
    data = (Datum("response", "up or down."), Datum("value", "1 for up, 0 for down."))

    def scale(self, settings: Settings) -> Scale:
        """The lowest and the highest value."""
        return 0.0, 1.0

    def parse(self, response: str, settings: Settings, *, options: Options) -> Answer:
        """The value of an answer; ``BadResponse`` has a text for the participant."""
        if response not in {"up", "down"}:
            raise BadResponse("Please choose one of the two answers.")
        return Answer(response, float(response == "up"))

    # For `manage.py simulate`

    def attentive_response(
        self, rng: Generator, settings: Settings, options: Options, acceptability: float
    ) -> str:
        """The answer of somebody who reads the sentence."""
        return "up" if prefers(rng, 2 * acceptability) else "down"

    def first_response(self, settings: Settings, options: Options) -> str:
        """The answer that comes first on the screen."""
        return "up"

    def random_response(self, rng: Generator, settings: Settings, options: Options) -> str:
        """An answer without reading."""
        return "up" if rng.random() < 0.5 else "down"
