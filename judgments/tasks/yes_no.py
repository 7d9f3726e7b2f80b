"""Yes or no: is this sentence acceptable."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from judgments.tasks.base import CONFIRM, Answer, BadResponse, Datum, Option, Parameter, Task, attentive


class YesNo(Task):
    """Two buttons whose sides are fixed for a participant and alternate between participants of a list."""

    name = "yes_no"
    label = "Yes or no"
    right_answer = "yes or no"
    parameters = (
        Parameter("question", "Is this an acceptable sentence?", "The question above the sentence."),
        Parameter("yes_label", "Yes", "Words on the button for yes."),
        Parameter("no_label", "No", "Words on the button for no."),
        CONFIRM,
    )
    data = (
        Datum("response", "yes or no."),
        Datum("value", "1 for yes, 0 for no."),
        Datum("answers", "The two answers in the order they stood on the screen, kept with the trial."),
    )

    def scale(self, settings: Mapping[str, Any]) -> tuple[float | None, float | None]:
        """0 and 1."""
        return 0.0, 1.0

    def arrange(self, settings: Mapping[str, Any], *, turn: int) -> dict[str, Any]:
        """Put yes first for every second participant of a list.

        Parameters
        ----------
        settings : mapping
        turn : int
            Participants of the list before this one.

        Returns
        -------
        dict
            ``answers``, in order.
        """
        return {"answers": ["no", "yes"] if turn % 2 else ["yes", "no"]}

    def screen(self, settings: Mapping[str, Any], *, shown: Mapping[str, Any]) -> dict[str, Any]:
        """Give the two buttons in this participant's order.

        Parameters
        ----------
        settings, shown : mapping

        Returns
        -------
        dict
            ``buttons``: value and label; ``confirm``.
        """
        order = shown.get("answers", ["yes", "no"])
        buttons = [{"value": one, "label": settings[f"{one}_label"]} for one in order]
        return {"buttons": buttons, "confirm": settings["confirm"]}

    def parse(self, response: str, settings: Mapping[str, Any], *, options: Sequence[Option]) -> Answer:
        """Read yes or no.

        Parameters
        ----------
        response : {"yes", "no"}
        settings : mapping
        options : sequence of Option
            Not needed.

        Returns
        -------
        Answer

        Raises
        ------
        BadResponse
            If it is neither.

        Examples
        --------
        >>> YesNo().parse("yes", {}, options=()).value
        1.0
        """
        if response not in {"yes", "no"}:
            raise BadResponse("Please choose one of the two answers.")
        return Answer(response, float(response == "yes"))

    def simulate(
        self,
        rng: np.random.Generator,
        settings: Mapping[str, Any],
        *,
        options: Sequence[Option],
        acceptability: float,
        profile: str,
    ) -> str:
        """Say yes with logistic probability of twice the latent z.

        Parameters
        ----------
        rng : numpy Generator
        settings : mapping
        options : sequence of Option
        acceptability : float
            Latent z of the sentence.
        profile : str
            A left-biased participant says yes when not reading.

        Returns
        -------
        str
            yes or no.
        """
        if attentive(rng, profile):
            return "yes" if rng.random() < 1 / (1 + np.exp(-2 * acceptability)) else "no"
        if profile == "left-biased":
            return "yes"
        return "yes" if rng.random() < 0.5 else "no"
