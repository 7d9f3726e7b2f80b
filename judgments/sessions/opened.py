"""The version that newcomers are asked to consent to; a server reads it once for all who come together."""

from copy import copy
from time import monotonic

from experiments.lifecycle import FROZEN_FIELDS
from experiments.models import Experiment, ExperimentVersion
from judgments.sessions.begun import beginnings
from judgments.sessions.compiled import Compiled

MOMENT_S = 0.5
MOST_STUDIES = 200
_recent: dict[str, tuple[float, ExperimentVersion]] = {}
# Texts come from the version's protocol; whatever else is left out here is read when it is asked for.
_newest = Compiled(
    lambda slug: (
        ExperimentVersion.objects.filter(
            experiment__slug=slug, experiment__origin=Experiment.Origin.COLLECTED, is_preview=False
        )
        .select_related("experiment")
        .defer(
            "snapshot", *(f"experiment__{name}" for name in FROZEN_FIELDS if name not in {"slug", "title"})
        )
        .order_by("-number")[:1]
    )
)


def opened(slug: str) -> ExperimentVersion | None:
    """The newest version of a study and the study, or None where it was never opened.

    In a server, a study that takes participants is what it was up to half a second ago: whoever consents is
    given a place only after its state was read again (see :mod:`~judgments.sessions.take_places`).
    """
    if not beginnings.waits:
        return _newest.first(slug)
    now = monotonic()
    read_at, version = _recent.get(slug, (-MOMENT_S, None))
    if version is None or now - read_at >= MOMENT_S:
        version = _newest.first(slug)
        if version is None or not version.experiment.is_taking_participants:
            return version
        if len(_recent) >= MOST_STUDIES:
            _recent.clear()
        _recent[slug] = (now, version)
    own = copy(version)
    own.experiment = copy(version.experiment)
    return own


def forget() -> None:
    """Read every study again."""
    _recent.clear()
