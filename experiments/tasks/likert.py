"""Likert: one sentence on a scale of numbered points with words at its ends."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from analysis.errors import BadInput
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
    is_integer,
    latent_point,
)

if TYPE_CHECKING:
    from numpy.random import Generator

MAX_POINTS = 101
ROW = "row"
MAX_ROW_POINTS = 11  # at 320 px each is 24 px wide, the smallest target of WCAG 2.2


class Likert(Task):
    """A scale of any length; nothing is chosen beforehand."""

    name = "likert"
    label = "Likert scale"
    has_points = True
    right_answer = "right answer, such as 6-7"
    parameters = (
        Parameter(
            "question", "How natural does this sentence sound to you?", "The question above the sentence."
        ),
        Parameter("points", 7, f"Number of points, 2 to {MAX_POINTS}."),
        Parameter("lowest", 1, "Number of the first point; 0 gives a scale such as 0 to 10."),
        Parameter("low_label", "Completely unnatural", "Label of the lowest point."),
        Parameter("high_label", "Completely natural", "Label of the highest point."),
        Parameter(
            "labels",
            [],
            "A label for every point, from the lowest up; they replace the two end labels.",
        ),
        Parameter(
            "orientation",
            ROW,
            "Direction of the scale, the same on every screen; labels for every point make a column.",
            choices=(
                (ROW, "one row, also on phones (rows of ten above eleven points)"),
                ("column", "one below the other, also on wide screens"),
            ),
            title="Direction of the scale",
        ),
        Parameter(
            "high_first",
            False,
            "Whether the highest point comes first in reading direction; the value stays high for natural.",
            title="Put the high end first",
        ),
        CONFIRM,
        *BETWEEN,
    )
    data = (
        Datum("response", "The chosen point, as the form sent it."),
        Datum("value", "The chosen point as a number; higher is more acceptable."),
        Datum("scale_low", "Lowest point of the scale."),
        Datum("scale_high", "Highest point of the scale."),
    )

    def validate(self, settings: Settings) -> None:
        points, labels = settings["points"], settings["labels"]
        if not is_integer(points) or not 2 <= points <= MAX_POINTS:
            raise BadInput(
                f"a scale of {points!r} points is impossible.", remedy=f"Set points to 2 to {MAX_POINTS}."
            )
        if not is_integer(settings["lowest"]):
            raise BadInput(
                f"the lowest point {settings['lowest']!r} is not a whole number.",
                remedy="Set lowest to 1 or 0.",
            )
        if not isinstance(labels, list | tuple) or (labels and len(labels) != points):
            raise BadInput(
                f"labels has to be a list of {points} words, or empty.",
                remedy="Give every point a label, or none.",
            )

    def scale(self, settings: Settings) -> Scale:
        return float(settings["lowest"]), float(settings["lowest"] + settings["points"] - 1)

    def screen(self, settings: Settings, *, arrangement: Mapping[str, Any]) -> dict[str, Any]:
        """Return ``points`` in the order of the screen, their ``ends``, ``layout`` and ``confirm``.

        Notes
        -----
        The layout is ``list`` where every point has a label, ``column`` where the study asks for it, ``row``
        for up to eleven points, else ``grid``. None depends on the width of the screen.
        """
        labels = list(settings["labels"])
        if not labels:
            labels = [settings["low_label"], *[""] * (settings["points"] - 2), settings["high_label"]]
        points = [
            {"value": settings["lowest"] + index, "label": str(label)} for index, label in enumerate(labels)
        ]
        if settings["high_first"]:
            points.reverse()
        layout = ROW if settings["points"] <= MAX_ROW_POINTS else "grid"
        if settings["labels"]:
            layout = "list"
        elif settings["orientation"] == "column":
            layout = "column"
        return {
            "points": points,
            "ends": [points[0], points[-1]],
            "layout": layout,
            "confirm": settings["confirm"],
        }

    def parse(self, response: str, settings: Settings, *, options: Options) -> Answer:
        """Parse a point of the scale.

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

    def attentive_response(
        self, rng: "Generator", settings: Settings, options: Options, acceptability: float
    ) -> str:
        point = latent_point(rng, acceptability, n_points=settings["points"])
        return str(settings["lowest"] + point)

    def first_response(self, settings: Settings, options: Options) -> str:
        return str(settings["lowest"])

    def random_response(self, rng: "Generator", settings: Settings, options: Options) -> str:
        return str(settings["lowest"] + int(rng.integers(settings["points"])))
