"""Forced choice: which of two sentences sounds better."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from analysis.errors import BadInput
from judgments.tasks.base import Answer, BadResponse, Datum, Option, Parameter, Task, attentive


class ForcedChoice(Task):
    """Two sentences on one screen; one is chosen. No tie is offered."""

    name = "forced_choice"
    label = "Forced choice"
    shows = "pair"
    parameters = (
        Parameter(
            "question",
            "Which of the two sentences sounds better to you?",
            "The question above the sentences.",
        ),
        Parameter(
            "confirm",
            False,
            "Whether a choice counts only once Next is pressed; without JavaScript it always does.",
        ),
    )
    data = (
        Datum("response", "Opaque id of the chosen sentence, as the form sent it."),
        Datum("value", "1 when the expected member was chosen, 0 when the other was."),
        Datum("sentence_id", "The chosen sentence."),
        Datum("shown_first", "The sentence that stood first; sides are balanced within and across lists."),
        Datum("expected_first", "Whether the expected member stood first."),
    )

    def scale(self, settings: Mapping[str, Any]) -> tuple[float | None, float | None]:
        """0 and 1."""
        return 0.0, 1.0

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
            If confirm is neither true nor false.
        """
        settings = super().settings(given)
        if not isinstance(settings["confirm"], bool):
            raise BadInput(f"confirm is {settings['confirm']!r}.", remedy="Set it to true or false.")
        return settings

    def screen(self, settings: Mapping[str, Any], *, shown: Mapping[str, Any]) -> dict[str, Any]:
        """Say whether a choice is confirmed.

        Parameters
        ----------
        settings, shown : mapping

        Returns
        -------
        dict
            ``confirm``.
        """
        return {"confirm": settings["confirm"]}

    def parse(self, response: str, settings: Mapping[str, Any], *, options: Sequence[Option]) -> Answer:
        """Find the chosen sentence among those that were shown.

        Parameters
        ----------
        response : str
            Id of an option.
        settings : mapping
        options : sequence of Option
            The two sentences of the trial.

        Returns
        -------
        Answer

        Raises
        ------
        BadResponse
            If nothing, or nothing of this trial, was chosen.
        """
        if not response:
            raise BadResponse("Please choose one of the two sentences.")
        for option in options:
            if option.id == response:
                return Answer(response, float(bool(option.expected)), option_id=option.id)
        raise BadResponse("That answer does not belong to this screen. Please choose again.")

    def simulate(
        self,
        rng: np.random.Generator,
        settings: Mapping[str, Any],
        *,
        options: Sequence[Option],
        acceptability: float,
        profile: str,
    ) -> str:
        """Choose a member: the expected one with logistic probability of the latent difference.

        Parameters
        ----------
        rng : numpy Generator
        settings : mapping
        options : sequence of Option
        acceptability : float
            Latent z of the expected member over the other.
        profile : str

        Returns
        -------
        str
            Id of the chosen option.
        """
        if attentive(rng, profile):
            takes_expected = rng.random() < 1 / (1 + np.exp(-acceptability))
            return next(option.id for option in options if bool(option.expected) == takes_expected)
        if profile == "left-biased":
            return options[0].id
        return options[int(rng.integers(len(options)))].id
