"""Balance of lists: counts per list, and claims about all lists with the numbers behind them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from experiments.design.trials import PlannedTrial
from experiments.design.tuples import member_keys, most_meetings


@dataclass(frozen=True)
class ListCounts:
    """Counts of one list.

    Parameters
    ----------
    n_trials, n_targets, n_fillers, n_catch, n_practice, n_anchors : int
        All trials, and those of each kind.
    conditions : dict of str to int
        Targets in each condition.
    n_expected_first : int
        Forced choice: targets whose expected member is shown first.
    n_repeated : int
        Targets whose item occurs earlier in the list.
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
    """Return the trials that are analysed."""
    return [trial for trial in trials if trial.kind == "target"]


def list_counts(trials: Sequence[PlannedTrial]) -> ListCounts:
    """Count the trials of one list.

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
    """Check the balance of lists.

    Notes
    -----
    Each item at most once per list, conditions even within lists, showings even over lists, sides even. For
    sets: showings even over and within lists, and how often two sentences are in one set. Where there are
    anchors or fillers: all lists share them, anchors before the rest.

    "Even" means that counts differ by at most one, which is the best possible where the number of items is
    not a multiple of the number of conditions.

    Examples
    --------
    >>> [claim.holds for claim in claims([[PlannedTrial("a", "1")], [PlannedTrial("a", "1")]])]
    [True, True]
    """
    if any(member_keys(trial)[1:] for trials in lists for trial in targets(trials)):
        return [*_set_claims(lists), *_check_shared_trials(lists)]
    counts = [list_counts(trials) for trials in lists]
    results = [
        _claim(
            "No list shows an item twice",
            0,
            [count.n_repeated for count in counts],
            quantity="repeated items",
        ),
        _even(
            "Every sentence or pair that the lists show is shown equally often",
            _showings(lists),
            quantity="showings",
        ),
    ]
    spreads = [_spread(count.conditions) for count in counts if len(count.conditions) > 1]
    if spreads:
        results.append(
            _claim("Every list has its conditions equally often", 1, spreads, quantity="difference")
        )
    if any(trial.expected_first is not None for trials in lists for trial in targets(trials)):
        results.append(_sides(lists, counts))
    return [*results, *_check_shared_trials(lists)]


def _check_shared_trials(lists: Sequence[Sequence[PlannedTrial]]) -> list[Claim]:
    """Check that lists share their anchors and fillers, anchors first."""
    results = []
    for kind, text in (
        ("anchor", "Every list begins, after practice, with the same anchors"),
        ("filler", "Every list has the same fillers"),
    ):
        keys = [sorted(trial.key for trial in trials if trial.kind == kind) for trials in lists]
        if any(keys):
            holds = all(key == keys[0] for key in keys)
            if kind == "anchor":
                holds = holds and all(_anchors_first(trials) for trials in lists)
            sizes = sorted({len(key) for key in keys})
            results.append(Claim(text, holds, f"{kind}s: {' or '.join(str(size) for size in sizes)}"))
    return results


def _anchors_first(trials: Sequence[PlannedTrial]) -> bool:
    """Whether practice comes first, then the anchors, then the rest."""
    ranks = [{"practice": 0, "anchor": 1}.get(trial.kind, 2) for trial in trials]
    return ranks == sorted(ranks)


def _set_claims(lists: Sequence[Sequence[PlannedTrial]]) -> list[Claim]:
    """Check lists of sets, within each paradigm."""
    sets = [(trial.paradigm, member_keys(trial)) for trials in lists for trial in targets(trials)]
    meetings = Counter(pair for _, members in sets for pair in combinations(sorted(members), 2))
    in_lists = [
        _spread(Counter(key for trial in targets(trials) for key in member_keys(trial)))
        for trials in lists
        if trials
    ]
    needed = 0
    for paradigm in {name for name, _ in sets}:
        members = [keys for name, keys in sets if name == paradigm]
        names = {key for member in members for key in member}
        showings = sum(len(member) for member in members) // len(names)
        needed = max(needed, most_meetings(len(names), size=len(members[0]), showings=showings))
    most = max(meetings.values(), default=0)
    return [
        _even(
            "Every sentence that the lists show is shown equally often",
            list(Counter(key for _, members in sets for key in members).values()),
            quantity="showings",
        ),
        _claim("Every list shows its sentences equally often", 1, in_lists, quantity="difference"),
        Claim(
            "No two sentences meet more often than needed, or once more",
            most <= needed + 1,
            f"meetings: at most {most}; {needed} would be the least",
        ),
    ]


def _showings(lists: Sequence[Sequence[PlannedTrial]]) -> list[int]:
    return list(Counter(trial.key for trials in lists for trial in targets(trials)).values())


def _spread(counts: Mapping[str, int]) -> int:
    return max(counts.values()) - min(counts.values())


def _claim(text: str, most: int, numbers: Sequence[int], *, quantity: str) -> Claim:
    worst = max(numbers, default=0)
    return Claim(text, worst <= most, f"{quantity}: {f'at most {worst} in a list' if worst else 'none'}")


def _even(text: str, numbers: Sequence[int], *, quantity: str) -> Claim:
    low, high = min(numbers, default=0), max(numbers, default=0)
    values = f"{low}" if low == high else f"{low} to {high}"
    return Claim(text, high - low <= 1, f"{quantity}: {values}")


def _sides(lists: Sequence[Sequence[PlannedTrial]], counts: Sequence[ListCounts]) -> Claim:
    gaps = [abs(2 * count.n_expected_first - count.n_targets) for count in counts]
    firsts = Counter(trial.key for trials in lists for trial in targets(trials) if trial.expected_first)
    showings = Counter(trial.key for trials in lists for trial in targets(trials))
    gap = max(gaps, default=0)
    worst = max((abs(2 * firsts[key] - times) for key, times in showings.items()), default=0)
    return Claim(
        "The expected sentence stands first as often as second, in each list and for each pair",
        gap <= 1 and worst <= 1,
        f"difference: at most {gap} in a list, {worst} for a pair" if gap or worst else "difference: none",
    )
