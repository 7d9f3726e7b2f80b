"""Balanced sets of k sentences for best–worst scaling."""

from collections.abc import Iterable, Sequence
from itertools import combinations
from math import ceil, gcd

import numpy as np
import numpy.typing as npt

from analysis.errors import BadInput
from experiments.design.trials import PlannedTrial, Stimulus, by_paradigm

ATTEMPTS, SWAPS, PATIENCE = 3, 200, 25
SMALLEST, LARGEST = 3, 6
Sets = list[list[int]]
Counts = npt.NDArray[np.int64]


def most_meetings(n_sentences: int, *, size: int, showings: int) -> int:
    """Least possible number of sets that the most frequent pair of sentences shares.

    Parameters
    ----------
    n_sentences, size, showings : int

    Returns
    -------
    int

    Notes
    -----
    A sentence meets ``showings · (size − 1)`` others, of which there are ``n_sentences − 1``: some pair
    meets at least ⌈showings (size − 1) / (n − 1)⌉ times. The bound cannot always be reached.

    Examples
    --------
    >>> most_meetings(40, size=4, showings=8), most_meetings(7, size=3, showings=3)
    (1, 1)
    """
    return ceil(showings * (size - 1) / (n_sentences - 1))


def balanced_tuples(n_sentences: int, rng: np.random.Generator, *, size: int = 4, showings: int = 8) -> Sets:
    """Deal sentences into sets, each sentence equally often, no pair more often together than needed.

    Parameters
    ----------
    n_sentences : int
    rng : numpy Generator
    size : int
        Sentences per set, 3 to 6.
    showings : int
        Sets that each sentence stands in.

    Returns
    -------
    list of lists of int
        ``n_sentences · showings / size`` sets of numbers from 0, in rounds: one run of sets after the
        other shows every sentence once. Of several attempts the one whose most frequent pair meets least
        often, and of these the one with the fewest such pairs.

    Raises
    ------
    BadInput
        If there are too few sentences, or the numbers cannot be dealt evenly.

    References
    ----------
    Louviere, Flynn & Marley (2015), *Best-Worst Scaling*, CUP. Kiritchenko & Mohammad (2017), "Best-worst
    scaling more reliable than rating scales", ACL (sets of four, 1.5 to 2 sets per item).

    Examples
    --------
    >>> sets = balanced_tuples(8, np.random.default_rng(1), size=4, showings=3)
    >>> len(sets), sorted(number for one in sets for number in one)[:6]
    (6, [0, 0, 0, 1, 1, 1])
    """
    _check(n_sentences, size=size, showings=showings)
    bound = most_meetings(n_sentences, size=size, showings=showings)
    best, best_cost = None, (n_sentences * showings, 0)
    for _ in range(ATTEMPTS):
        sets, meetings = _attempt(n_sentences, rng, size=size, showings=showings)
        most = int(meetings.max())
        cost = (most, int((meetings == most).sum()))
        if best is None or cost < best_cost:
            best, best_cost = sets, cost
        if most <= bound:
            break
    assert best is not None
    return best


def _check(n_sentences: int, *, size: int, showings: int) -> None:
    if not SMALLEST <= size <= LARGEST:
        raise BadInput(f"sets of {size} are impossible.", remedy=f"Choose {SMALLEST} to {LARGEST} sentences.")
    if n_sentences < size + 1:
        raise BadInput(
            f"{n_sentences} sentences cannot make sets of {size}.",
            remedy=f"Add sentences: there have to be at least {size + 1}.",
        )
    step = size // gcd(n_sentences, size)
    near = max(1, round(showings / step)) * step
    if showings < 1 or showings % step:
        raise BadInput(
            f"{n_sentences} sentences shown {showings} times each do not fill sets of {size}.",
            remedy=f"Show each a multiple of {step} times, for example {near}.",
        )


def _attempt(n_sentences: int, rng: np.random.Generator, *, size: int, showings: int) -> tuple[Sets, Counts]:
    """Fill one set after the other with the least shown sentences that have met least; then swap."""
    meetings = np.zeros((n_sentences, n_sentences), dtype=np.int64)
    shown = np.zeros(n_sentences, dtype=np.int64)
    sets: Sets = []
    for _ in range(n_sentences * showings // size):
        chosen: list[int] = []
        while len(chosen) < size:
            met = meetings[chosen]
            rank = (shown * showings + met.max(axis=0, initial=0)) * showings * size + met.sum(axis=0)
            rank[chosen] = np.iinfo(np.int64).max // 2
            chosen.append(int(np.argmin(rank + rng.random(n_sentences))))
        shown[chosen] += 1
        _count(meetings, chosen, by=1)
        sets.append(chosen)
    _repair(sets, meetings, rng, most=most_meetings(n_sentences, size=size, showings=showings))
    return [[one[place] for place in rng.permutation(size)] for one in sets], meetings


def _count(meetings: Counts, chosen: Sequence[int], *, by: int) -> None:
    for first, second in combinations(chosen, 2):
        meetings[first, second] += by
        meetings[second, first] += by


def _repair(sets: Sets, meetings: Counts, rng: np.random.Generator, *, most: int) -> None:
    """Swap sentences between sets of one round until no pair meets too often, or nothing helps."""
    per_round = max(2, round(len(meetings) / len(sets[0])))
    fewest, in_vain = len(sets) + 1, 0
    for _ in range(SWAPS):
        crowded = [number for number, one in enumerate(sets) if meetings[np.ix_(one, one)].max() > most]
        in_vain = in_vain + 1 if len(crowded) >= fewest else 0
        fewest = min(fewest, len(crowded))
        if not crowded or in_vain > PATIENCE:
            return
        number = crowded[int(rng.integers(len(crowded)))]
        start = number // per_round * per_round
        near = [other for other in range(start, min(start + per_round, len(sets))) if other != number]
        swaps = [
            (_gain(sets[number], sets[other], mine, theirs, meetings=meetings), other, mine, theirs)
            for other in near
            for mine in sets[number]
            for theirs in sets[other]
            if mine not in sets[other] and theirs not in sets[number]
        ]
        if not swaps:
            continue
        best = min(swap[0] for swap in swaps)
        if best <= 0:
            equal = [swap for swap in swaps if swap[0] == best]
            _, other, mine, theirs = equal[int(rng.integers(len(equal)))]
            _swap(sets[number], sets[other], mine, theirs, meetings=meetings)


def _gain(one: list[int], other: list[int], mine: int, theirs: int, *, meetings: Counts) -> int:
    """Change of the sum of squared meetings if two sentences changed places; below 0 is better."""
    stay = [name for name in one if name != mine and name not in other]
    wait = [name for name in other if name != theirs and name not in one]
    left = meetings[theirs, stay].sum() - meetings[mine, stay].sum() + len(stay)
    right = meetings[mine, wait].sum() - meetings[theirs, wait].sum() + len(wait)
    return int(left + right)


def _swap(one: list[int], other: list[int], mine: int, theirs: int, *, meetings: Counts) -> None:
    for chosen in (one, other):
        _count(meetings, chosen, by=-1)
    one[one.index(mine)], other[other.index(theirs)] = theirs, mine
    for chosen in (one, other):
        _count(meetings, chosen, by=1)


def tuple_lists(
    sentences: Iterable[Stimulus],
    rng: np.random.Generator,
    *,
    size: int = 4,
    showings: int = 8,
    n_lists: int = 1,
) -> list[list[PlannedTrial]]:
    """Make sets of each paradigm's sentences and deal them over lists.

    Parameters
    ----------
    sentences : iterable of Stimulus
    rng : numpy Generator
    size, showings : int
        As in :func:`balanced_tuples`.
    n_lists : int
        Has to divide the number of sets of every paradigm.

    Returns
    -------
    list of lists of PlannedTrial
        Unordered (position 0). The key of a trial names its sentences in the order of the screen, parted
        by commas.

    Raises
    ------
    BadInput
        If there is no sentence, or the sets cannot be made or dealt.

    Examples
    --------
    >>> eight = [Stimulus(str(n), str(n)) for n in range(8)]
    >>> lists = tuple_lists(eight, np.random.default_rng(1), size=4, showings=4, n_lists=2)
    >>> [len(one) for one in lists], len(lists[0][0].key.split(","))
    ([4, 4], 4)
    """
    groups = by_paradigm(sentences)
    if not groups:
        raise BadInput(
            "a design needs at least one sentence.", remedy="Choose a material set that holds sentences."
        )
    lists: list[list[PlannedTrial]] = [[] for _ in range(n_lists)]
    for paradigm, members in groups.items():
        sets = balanced_tuples(len(members), rng, size=size, showings=showings)
        if len(sets) % n_lists:
            of_which = f" of {paradigm!r}" if paradigm else ""
            raise BadInput(
                f"{len(sets)} sets{of_which} cannot be dealt over {n_lists} lists.",
                remedy=f"Choose a number of lists that divides {len(sets)}.",
            )
        share = len(sets) // n_lists
        for number, one in enumerate(lists):
            one += [
                _planned(paradigm, members, chosen) for chosen in sets[number * share : (number + 1) * share]
            ]
    return lists


def members_of(trial: PlannedTrial) -> list[str]:
    """Name the sentences that a planned trial shows: several where it is a set.

    Parameters
    ----------
    trial : PlannedTrial

    Returns
    -------
    list of str

    Examples
    --------
    >>> members_of(PlannedTrial("12,4,7,9", "")), members_of(PlannedTrial("12", "one"))
    (['12', '4', '7', '9'], ['12'])
    """
    return trial.key.split(",")


def _planned(paradigm: str, members: Sequence[Stimulus], chosen: Sequence[int]) -> PlannedTrial:
    return PlannedTrial(",".join(members[number].key for number in chosen), "", paradigm=paradigm)
