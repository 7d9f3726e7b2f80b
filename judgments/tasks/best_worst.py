"""Best–worst scaling: of a few sentences, which is the best and which the worst."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from analysis.errors import BadInput
from judgments.tasks.base import Answer, BadResponse, Datum, Message, Option, Parameter, Task, attentive

SMALLEST, LARGEST = 3, 6
NOTHING = "-"  # stands in a response for a side that was left open


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
        Parameter("best_label", "Best", "Words above the marks for the best."),
        Parameter("worst_label", "Worst", "Words above the marks for the worst."),
        Parameter("size", 4, f"Sentences in a set, {SMALLEST} to {LARGEST}."),
        Parameter("showings", 8, "Sets that each sentence stands in, over all lists together."),
    )
    data = (
        Datum("response", "Opaque ids of the best and of the worst sentence, as the form sent them."),
        Datum("value", "Place of the best sentence on the screen; in frames 1 best, -1 worst, 0 neither."),
        Datum("options", "The sentences of the set in the order of the screen, kept with the trial."),
    )
    messages = (
        Message("best_worst_missing", "Please choose the best and the worst sentence."),
        Message(
            "best_worst_same", "Please choose two different sentences, one as the best and one as the worst."
        ),
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
            If sets are too small or too large, or sentences are never shown.
        """
        settings = super().settings(given)
        for name, low, high in (("size", SMALLEST, LARGEST), ("showings", 1, 100)):
            value = settings[name]
            if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
                raise BadInput(f"{name} is {value!r}.", remedy=f"Set it to a whole number, {low} to {high}.")
        return settings

    def scale(self, settings: Mapping[str, Any]) -> tuple[float | None, float | None]:
        """First and last place of a set."""
        return 1.0, float(settings["size"])

    def screen(self, settings: Mapping[str, Any], *, shown: Mapping[str, Any]) -> dict[str, Any]:
        """Give the words of the two marks.

        Parameters
        ----------
        settings, shown : mapping

        Returns
        -------
        dict
            ``marks``: value and label of best and worst.
        """
        return {"marks": [{"value": one, "label": settings[f"{one}_label"]} for one in ("best", "worst")]}

    def sent(self, form: Mapping[str, str]) -> str:
        """Read the two marks of a plain form.

        Parameters
        ----------
        form : mapping
            Its fields ``best`` and ``worst``.

        Returns
        -------
        str
        """
        return f"{form.get('best') or NOTHING} {form.get('worst') or NOTHING}"

    def fields(self, response: str) -> dict[str, str]:
        """Give the fields of a plain form that make this response.

        Parameters
        ----------
        response : str

        Returns
        -------
        dict

        Examples
        --------
        >>> BestWorst().fields("k7 -")
        {'best': 'k7', 'worst': ''}
        """
        best, _, worst = response.partition(" ")
        return {"best": "" if best == NOTHING else best, "worst": "" if worst == NOTHING else worst}

    def parse(self, response: str, settings: Mapping[str, Any], *, options: Sequence[Option]) -> Answer:
        """Find the two sentences among those that were shown.

        Parameters
        ----------
        response : str
            Ids of the best and of the worst option, parted by a space.
        settings : mapping
        options : sequence of Option
            The sentences of the set.

        Returns
        -------
        Answer
            The option is the best one; ``details`` names the worst.

        Raises
        ------
        BadResponse
            If one is missing, both are the same, or one does not belong to this set.
        """
        marked = response.split()
        if len(marked) != 2 or NOTHING in marked:
            raise BadResponse("Please choose the best and the worst sentence.")
        best, worst = marked
        if best == worst:
            raise BadResponse("Please choose two different sentences, one as the best and one as the worst.")
        places = {option.id: place for place, option in enumerate(options, start=1)}
        if best not in places or worst not in places:
            raise BadResponse("That answer does not belong to this screen. Please choose again.")
        return Answer(response, float(places[best]), option_id=best, details={"worst": worst})

    def simulate(
        self,
        rng: np.random.Generator,
        settings: Mapping[str, Any],
        *,
        options: Sequence[Option],
        acceptability: float,
        profile: str,
    ) -> str:
        """Mark the ends of the felt order: each option's latent z with noise of sd 0.5.

        Parameters
        ----------
        rng : numpy Generator
        settings : mapping
        options : sequence of Option
            With ``acceptability``.
        acceptability : float
            Not needed.
        profile : str
            A left-biased participant marks the first and the last when not reading.

        Returns
        -------
        str
        """
        if attentive(rng, profile):
            felt = [(option.acceptability or 0.0) + rng.normal(0, 0.5) for option in options]
            best, worst = int(np.argmax(felt)), int(np.argmin(felt))
        elif profile == "left-biased":
            best, worst = 0, len(options) - 1
        else:
            best, worst = (int(place) for place in rng.permutation(len(options))[:2])
        return f"{options[best].id} {options[worst].id}"
