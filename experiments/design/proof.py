"""The proof that lists are balanced: counts to look at, and the claims they support or refute."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from experiments.design.trials import PlannedTrial
from experiments.design.tuples import members_of, most_meetings


@dataclass(frozen=True)
class ListCounts:
    """What one list holds.

    Parameters
    ----------
    n_trials, n_targets, n_fillers, n_catch, n_practice, n_anchors : int
        All trials, and those of each kind.
    conditions : dict of str to int
        Targets in each condition.
    n_expected_first : int
        Forced choice: targets whose expected member is shown first.
    n_repeated : int
        Targets whose item stands in the list already.
    """

    n_trials: int
    n_targets: int
    n_fillers: int
    n_catch: int
    n_practice: int
    n_anchors: int
    conditions: dict[str, int]
    n_expected_first: int
    n_repeated: int


@dataclass(frozen=True)
class Claim:
    """One statement about all lists, whether it holds, and the numbers behind it.

    Parameters
    ----------
    text : str
    holds : bool
    numbers : str
    """

    text: str
    holds: bool
    numbers: str


def targets(trials: Sequence[PlannedTrial]) -> list[PlannedTrial]:
    """The trials that are analysed.

    Parameters
    ----------
    trials : sequence of PlannedTrial

    Returns
    -------
    list of PlannedTrial
    """
    return [trial for trial in trials if trial.kind == "target"]


def list_counts(trials: Sequence[PlannedTrial]) -> ListCounts:
    """Count what one list holds.

    Parameters
    ----------
    trials : sequence of PlannedTrial

    Returns
    -------
    ListCounts

    Examples
    --------
    >>> list_counts([PlannedTrial("a", "1", "x"), PlannedTrial("b", "2", "y")]).conditions
    {'x': 1, 'y': 1}
    """
    kinds, main = Counter(trial.kind for trial in trials), targets(trials)
    conditions = Counter(trial.condition for trial in main if trial.condition)
    return ListCounts(
        n_trials=len(trials),
        n_targets=len(main),
        n_fillers=kinds["filler"],
        n_catch=kinds["catch"],
        n_practice=kinds["practice"],
        n_anchors=kinds["anchor"],
        conditions=dict(sorted(conditions.items())),
        n_expected_first=sum(trial.expected_first is True for trial in main),
        n_repeated=len(main) - len({trial.item for trial in main}),
    )


def claims(lists: Sequence[Sequence[PlannedTrial]]) -> list[Claim]:
    """State what the lists keep, with the numbers.

    Parameters
    ----------
    lists : sequence of lists of PlannedTrial

    Returns
    -------
    list of Claim
        Items once per list, conditions even within lists, showings even over lists, sides even; of sets,
        showings even over and within lists, and how often two sentences meet; where there are anchors
        or fillers, that all lists share them, anchors before the rest.

    Notes
    -----
    "Even" means that counts differ by at most one: no more is possible where the number of items is no
    multiple of the number of conditions.

    Examples
    --------
    >>> [claim.holds for claim in claims([[PlannedTrial("a", "1")], [PlannedTrial("a", "1")]])]
    [True, True]
    """
    if any(members_of(trial)[1:] for one in lists for trial in targets(one)):
        return [*_set_claims(lists), *_shared(lists)]
    counted = [list_counts(one) for one in lists]
    found = [
        _claim("No list shows an item twice", 0, [one.n_repeated for one in counted], what="repeated items"),
        _even(
            "Every sentence or pair is shown equally often over the lists", _showings(lists), what="showings"
        ),
    ]
    spreads = [value for one in counted if len(one.conditions) > 1 for value in (_spread(one.conditions),)]
    if spreads:
        found.append(_claim("Every list has its conditions equally often", 1, spreads, what="difference"))
    if any(trial.expected_first is not None for one in lists for trial in targets(one)):
        found.append(_sides(lists, counted))
    return [*found, *_shared(lists)]


def _shared(lists: Sequence[Sequence[PlannedTrial]]) -> list[Claim]:
    """What lists keep of the trials around their targets: the same for all, anchors first."""
    found = []
    for kind, text in (
        ("anchor", "Every list begins, after practice, with the same anchors"),
        ("filler", "Every list has the same fillers"),
    ):
        keys = [sorted(trial.key for trial in one if trial.kind == kind) for one in lists]
        if any(keys):
            holds = all(one == keys[0] for one in keys)
            if kind == "anchor":
                holds = holds and all(_leads(one) for one in lists)
            sizes = sorted({len(one) for one in keys})
            found.append(Claim(text, holds, f"{kind}s: {' or '.join(str(size) for size in sizes)}"))
    return found


def _leads(trials: Sequence[PlannedTrial]) -> bool:
    """Whether practice comes first, then the anchors, then the rest."""
    places = [{"practice": 0, "anchor": 1}.get(trial.kind, 2) for trial in trials]
    return places == sorted(places)


def _set_claims(lists: Sequence[Sequence[PlannedTrial]]) -> list[Claim]:
    """What lists of sets keep, within each paradigm."""
    sets = [(trial.paradigm, members_of(trial)) for one in lists for trial in targets(one)]
    meetings = Counter(pair for _, members in sets for pair in combinations(sorted(members), 2))
    in_lists = [
        _spread(Counter(key for trial in targets(one) for key in members_of(trial))) for one in lists if one
    ]
    needed = 0
    for paradigm in {name for name, _ in sets}:
        members = [one for name, one in sets if name == paradigm]
        names = {key for one in members for key in one}
        showings = sum(len(one) for one in members) // len(names)
        needed = max(needed, most_meetings(len(names), size=len(members[0]), showings=showings))
    most = max(meetings.values(), default=0)
    return [
        _even(
            "Every sentence is shown equally often over the lists",
            list(Counter(key for _, members in sets for key in members).values()),
            what="showings",
        ),
        _claim("Every list shows its sentences equally often", 1, in_lists, what="difference"),
        Claim(
            "No two sentences meet more often than needed, or once more",
            most <= needed + 1,
            f"meetings: at most {most}; {needed} would be the least",
        ),
    ]


def _showings(lists: Sequence[Sequence[PlannedTrial]]) -> list[int]:
    return list(Counter(trial.key for one in lists for trial in targets(one)).values())


def _spread(counts: Mapping[str, int]) -> int:
    return max(counts.values()) - min(counts.values())


def _claim(text: str, most: int, numbers: Sequence[int], *, what: str) -> Claim:
    worst = max(numbers, default=0)
    return Claim(text, worst <= most, f"{what}: {f'at most {worst} in a list' if worst else 'none'}")


def _even(text: str, numbers: Sequence[int], *, what: str) -> Claim:
    low, high = min(numbers, default=0), max(numbers, default=0)
    return Claim(text, high - low <= 1, f"{what}: {low}" if low == high else f"{what}: {low} to {high}")


def _sides(lists: Sequence[Sequence[PlannedTrial]], counted: Sequence[ListCounts]) -> Claim:
    gaps = [abs(2 * one.n_expected_first - one.n_targets) for one in counted]
    firsts = Counter(trial.key for one in lists for trial in targets(one) if trial.expected_first)
    shown = Counter(trial.key for one in lists for trial in targets(one))
    gap = max(gaps, default=0)
    worst = max((abs(2 * firsts[key] - times) for key, times in shown.items()), default=0)
    return Claim(
        "The expected sentence stands first as often as second, in each list and for each pair",
        gap <= 1 and worst <= 1,
        f"difference: at most {gap} in a list, {worst} for a pair" if gap or worst else "difference: none",
    )
