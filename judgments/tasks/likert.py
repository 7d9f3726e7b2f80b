"""Likert: one sentence on a scale of numbered points with words at its ends."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from analysis.errors import BadInput
from judgments.tasks.base import (
    CONFIRM,
    Answer,
    BadResponse,
    Datum,
    Option,
    Parameter,
    Task,
    attentive,
    felt_share,
)

LONGEST = 101


class Likert(Task):
    """A scale of any length; nothing is chosen beforehand."""

    name = "likert"
    label = "Likert scale"
    right_answer = "right answer, such as 6-7"
    parameters = (
        Parameter(
            "question", "How natural does this sentence sound to you?", "The question above the sentence."
        ),
        Parameter("points", 7, f"Number of points, 2 to {LONGEST}."),
        Parameter("lowest", 1, "Number of the first point; 0 gives a scale such as 0 to 10."),
        Parameter("low_label", "Completely unnatural", "Words at the lowest point."),
        Parameter("high_label", "Completely natural", "Words at the highest point."),
        Parameter(
            "labels",
            [],
            "Words under every point, from the lowest up, as many as there are points; they replace the two "
            "end labels.",
        ),
        Parameter(
            "high_first",
            False,
            "Whether the highest point stands where reading begins; the value stays high for natural.",
        ),
        CONFIRM,
    )
    data = (
        Datum("response", "The chosen point, as the form sent it."),
        Datum("value", "The chosen point as a number; higher is more acceptable."),
        Datum("scale_low", "Lowest point of the scale."),
        Datum("scale_high", "Highest point of the scale."),
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
            If the scale is too short or too long, or has labels for other than all its points.
        """
        settings = super().settings(given)
        points, labels = settings["points"], settings["labels"]
        if not _is_whole(points) or not 2 <= points <= LONGEST:
            raise BadInput(
                f"a scale of {points!r} points is impossible.", remedy=f"Set points to 2 to {LONGEST}."
            )
        if not _is_whole(settings["lowest"]):
            raise BadInput(
                f"the lowest point {settings['lowest']!r} is no whole number.", remedy="Set lowest to 1 or 0."
            )
        if not isinstance(labels, list | tuple) or (labels and len(labels) != points):
            raise BadInput(
                f"labels has to be a list of {points} words, or empty.",
                remedy="Give every point a label, or none.",
            )
        return settings

    def scale(self, settings: Mapping[str, Any]) -> tuple[float | None, float | None]:
        """First and last point."""
        return float(settings["lowest"]), float(settings["lowest"] + settings["points"] - 1)

    def screen(self, settings: Mapping[str, Any], *, shown: Mapping[str, Any]) -> dict[str, Any]:
        """Give the points with their words.

        Parameters
        ----------
        settings, shown : mapping

        Returns
        -------
        dict
            ``points`` (value, label) in the order in which they stand, ``ends`` (the first and the last of
            them), ``layout``: ``row`` for up to eleven unlabelled points, ``list`` where every point has
            words, ``grid`` beyond; ``confirm``.
        """
        labels = list(settings["labels"])
        if not labels:
            labels = [settings["low_label"], *[""] * (settings["points"] - 2), settings["high_label"]]
        points = [
            {"value": settings["lowest"] + place, "label": str(label)} for place, label in enumerate(labels)
        ]
        if settings["high_first"]:
            points.reverse()
        layout = "list" if settings["labels"] else "row" if settings["points"] <= 11 else "grid"
        return {
            "points": points,
            "ends": [points[0], points[-1]],
            "layout": layout,
            "confirm": settings["confirm"],
        }

    def parse(self, response: str, settings: Mapping[str, Any], *, options: Sequence[Option]) -> Answer:
        """Read a point of the scale.

        Parameters
        ----------
        response : str
        settings : mapping
        options : sequence of Option
            Not needed.

        Returns
        -------
        Answer

        Raises
        ------
        BadResponse
            If it is no point of the scale.

        Examples
        --------
        >>> Likert().parse("5", Likert().settings({}), options=()).value
        5.0
        """
        low, high = settings["lowest"], settings["lowest"] + settings["points"] - 1
        if not response:
            raise BadResponse("Please choose a point on the scale.")
        if response not in {str(point) for point in range(low, high + 1)}:
            raise BadResponse("Please choose a point from %(low)s to %(high)s.", low=low, high=high)
        return Answer(response, float(response))

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

        Returns
        -------
        str
            A point.
        """
        low, n_points = settings["lowest"], settings["points"]
        if attentive(rng, profile):
            share = felt_share(rng, acceptability)
            return str(low + int(np.clip(round(share * (n_points - 1)), 0, n_points - 1)))
        if profile == "left-biased":
            return str(low)
        return str(low + int(rng.integers(n_points)))


def _is_whole(number: object) -> bool:
    return isinstance(number, int) and not isinstance(number, bool)
