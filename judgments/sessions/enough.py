"""Whether a study has recruited enough: every item will have the judgments wanted, live sessions included.

The door closes before consent. Who was asked for consent while it was open may still begin, so nobody is
turned away after a yes; the limit of participants, which is money, holds for all newcomers.
"""

from functools import lru_cache

from experiments.design.balance import fewest_planned
from experiments.models import Experiment, PresentationList
from experiments.rounds import round_now
from experiments.showings import showings_of
from judgments.sessions.compiled import Compiled
from judgments.sessions.places import StudyClosed, filled, is_test_run, newest_version

Showings = tuple[dict[int, int], ...]


def check_wanted(experiment: Experiment) -> None:
    """Raise :class:`~judgments.sessions.places.StudyClosed` when nobody more is needed."""
    if has_enough(experiment):
        raise StudyClosed("full")


def has_enough(experiment: Experiment) -> bool:
    """Whether every item has (complete and live) at least the judgments wanted; a pilot never has.

    Judgments under earlier versions count for the items that the newest one still shows; those of other
    rounds do not.
    """
    here = round_now(experiment)
    if not here.target_judgments or is_test_run(experiment):
        return False
    version = newest_version(experiment)
    known = tuple(_shown(experiment.pk, here.number))
    if version is None or not known:
        return False
    counts = filled([pk for pk, *_ in known], is_test=False)
    return fewest_planned(showings(known, version.pk), counts) >= here.target_judgments


_shown = Compiled(
    lambda experiment, number: (
        PresentationList.objects.filter(experiment=experiment, version__is_preview=False, round=number)
        .order_by("pk")
        .values_list("pk", "version", "version__sha256", "n_trials")
    )
)


@lru_cache(maxsize=200)
def showings(lists: tuple[tuple[int, int, str, int], ...], version_id: int) -> Showings:
    """Which lists show an item how often, each pattern once; lists never change, so each is read once."""
    shown = showings_of([pk for pk, *_ in lists])
    current = {pk for pk, version, *_ in lists if version == version_id}
    patterns = {frozenset(times.items()) for times in shown.values() if current & times.keys()}
    return tuple(dict(pattern) for pattern in patterns)
