"""Forced choice: which of two sentences sounds better."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from analysis.undecided import TREATMENTS
from judgments.tasks.base import CONFIRM, Answer, BadResponse, Datum, Option, Parameter, Task, attentive

OFFERED = ("both", "neither")
UNDECIDED = "disagreement"  # the usual way to count them
NEITHER_WON = 0.5  # stored for both and neither: no member was preferred; studies say how it counts
CLOSE = 0.5  # felt difference within which a simulated participant sees none


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
        Parameter("offer_both", False, "Whether people may answer that both sentences are good."),
        Parameter("offer_neither", False, "Whether people may answer that neither sentence is good."),
        Parameter("both_label", "Both sound good", "Words of the answer for both."),
        Parameter("neither_label", "Neither sounds good", "Words of the answer for neither."),
        Parameter(
            "undecided",
            UNDECIDED,
            "How both and neither count in the analysis.",
            choices=tuple((name, one.words) for name, one in TREATMENTS.items()),
        ),
        CONFIRM,
    )
    data = (
        Datum("response", "Opaque id of the chosen sentence, as the form sent it; or both, or neither."),
        Datum(
            "value",
            "1 when the expected member was chosen, 0 when the other was; both and neither as declared.",
        ),
        Datum("sentence_id", "The chosen sentence; empty for both and neither."),
        Datum("shown_first", "The sentence that stood first; sides are balanced within and across lists."),
        Datum("expected_first", "Whether the expected member stood first."),
    )

    def scale(self, settings: Mapping[str, Any]) -> tuple[float | None, float | None]:
        """0 and 1."""
        return 0.0, 1.0

    def screen(self, settings: Mapping[str, Any], *, shown: Mapping[str, Any]) -> dict[str, Any]:
        """Give the answers beside the two sentences, and say whether a choice is confirmed.

        Parameters
        ----------
        settings, shown : mapping

        Returns
        -------
        dict
            ``buttons``: value and label of both and neither where they are offered; ``confirm``.
        """
        buttons = [{"value": one, "label": settings[f"{one}_label"]} for one in offered(settings)]
        return {"buttons": buttons, "confirm": settings["confirm"]}

    def parse(self, response: str, settings: Mapping[str, Any], *, options: Sequence[Option]) -> Answer:
        """Find the chosen sentence among those that were shown.

        Parameters
        ----------
        response : str
            Id of an option, or both or neither where they are offered.
        settings : mapping
        options : sequence of Option
            The two sentences of the trial.

        Returns
        -------
        Answer
            Without an option for both and neither; their value says that no member was preferred.

        Raises
        ------
        BadResponse
            If nothing, or nothing of this trial, was chosen.
        """
        if not response:
            raise BadResponse("Please choose one of the two sentences.")
        if response in offered(settings):
            return Answer(response, NEITHER_WON)
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
            Latent z of the expected member over the other. Where both or neither is offered, a felt
            difference within half a z of none gives that answer.
        profile : str

        Returns
        -------
        str
            Id of the chosen option, or both or neither.
        """
        beside = offered(settings)
        if attentive(rng, profile):
            if beside:
                felt = acceptability + rng.logistic()
                if abs(felt) < CLOSE:
                    return beside[int(rng.integers(len(beside)))]
                takes_expected = felt > 0
            else:
                takes_expected = rng.random() < 1 / (1 + np.exp(-acceptability))
            return next(option.id for option in options if bool(option.expected) == takes_expected)
        if profile == "left-biased":
            return options[0].id
        return [*(option.id for option in options), *beside][int(rng.integers(len(options) + len(beside)))]


def offered(settings: Mapping[str, Any]) -> list[str]:
    """The answers beside the two sentences, in the order in which they stand.

    Parameters
    ----------
    settings : mapping

    Returns
    -------
    list of str

    Examples
    --------
    >>> offered({"offer_both": True, "offer_neither": False})
    ['both']
    """
    return [one for one in OFFERED if settings.get(f"offer_{one}")]
