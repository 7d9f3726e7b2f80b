"""Balanced sets of k sentences for best–worst scaling."""

from collections.abc import Iterable, Sequence
from itertools import combinations
from math import ceil, gcd

import numpy as np
import numpy.typing as npt

from analysis.errors import BadInput
from experiments.design.trials import PlannedTrial, Stimulus, by_paradigm

ATTEMPTS, SWAPS = 3, 200
PATIENCE = 25  # swaps without improvement after which an attempt ends
SMALLEST, LARGEST = 3, 6
Sets = list[list[int]]
Counts = npt.NDArray[np.int64]


def most_meetings(n_sentences: int, *, size: int, showings: int) -> int:
    """Return a lower bound on the number of sets that the most frequent pair of sentences shares.

    Notes
    -----
    A sentence shares sets with ``showings · (size − 1)`` others, of which there are ``n_sentences − 1``: some
    pair shares at least ⌈showings (size − 1) / (n − 1)⌉ sets. The bound cannot always be reached.

    Examples
    --------
    >>> most_meetings(40, size=4, showings=8), most_meetings(7, size=3, showings=3)
    (1, 1)
    """
    return ceil(showings * (size - 1) / (n_sentences - 1))


def balanced_tuples(n_sentences: int, rng: np.random.Generator, *, size: int = 4, showings: int = 8) -> Sets:
    """Distribute sentences over sets, each equally often, no pair together more often than necessary.

    Notes
    -----
    Returns ``n_sentences · showings / size`` sets of numbers from 0, in rounds, each of which shows every
    sentence once. Of several attempts, the one whose most frequent pair shares fewest sets is returned, and
    among these the one with the fewest such pairs.

    References
    ----------
    Louviere, Flynn & Marley (2015), *Best-Worst Scaling*, CUP. Kiritchenko & Mohammad (2017), "Best-worst
    scaling more reliable than rating scales", ACL (sets of four, 1.5 to 2 sets per item).

    Examples
    --------
    >>> sets = balanced_tuples(8, np.random.default_rng(1), size=4, showings=3)
    >>> len(sets), sorted(number for members in sets for number in members)[:6]
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
    """Fill sets one by one with the least shown sentences that share fewest sets; then swap."""
    meetings = np.zeros((n_sentences, n_sentences), dtype=np.int64)
    n_shown = np.zeros(n_sentences, dtype=np.int64)
    sets: Sets = []
    for _ in range(n_sentences * showings // size):
        chosen: list[int] = []
        while len(chosen) < size:
            # Fewest showings first, then fewest meetings with any member, then fewest in sum.
            rank = n_shown * showings + meetings[chosen].max(axis=0, initial=0)
            rank = rank * showings * size + meetings[chosen].sum(axis=0)
            rank[chosen] = np.iinfo(np.int64).max // 2
            chosen.append(int(np.argmin(rank + rng.random(n_sentences))))
        n_shown[chosen] += 1
        _count(meetings, chosen, by=1)
        sets.append(chosen)
    _repair(sets, meetings, rng, most=most_meetings(n_sentences, size=size, showings=showings))
    return [[members[place] for place in rng.permutation(size)] for members in sets], meetings


def _count(meetings: Counts, chosen: Sequence[int], *, by: int) -> None:
    for first, second in combinations(chosen, 2):
        meetings[first, second] += by
        meetings[second, first] += by


def _repair(sets: Sets, meetings: Counts, rng: np.random.Generator, *, most: int) -> None:
    """Swap sentences between sets of one round until no pair is too frequent, or nothing improves."""
    per_round = max(2, round(len(meetings) / len(sets[0])))
    fewest, in_vain = len(sets) + 1, 0
    for _ in range(SWAPS):
        most_frequent = [meetings[np.ix_(members, members)].max() for members in sets]
        crowded = [number for number, frequency in enumerate(most_frequent) if frequency > most]
        in_vain = in_vain + 1 if len(crowded) >= fewest else 0
        fewest = min(fewest, len(crowded))
        if not crowded or in_vain > PATIENCE:
            return
        number = crowded[int(rng.integers(len(crowded)))]
        start = number // per_round * per_round
        near = [other for other in range(start, min(start + per_round, len(sets))) if other != number]
        swaps = [
            (_gain(sets[number], sets[other], out, into, meetings=meetings), other, out, into)
            for other in near
            for out in sets[number]
            for into in sets[other]
            if out not in sets[other] and into not in sets[number]
        ]
        if not swaps:
            continue
        best = min(swap[0] for swap in swaps)
        if best <= 0:
            equal = [swap for swap in swaps if swap[0] == best]
            _, other, outgoing, incoming = equal[int(rng.integers(len(equal)))]
            _swap(sets[number], sets[other], outgoing, incoming, meetings=meetings)


def _gain(first: list[int], second: list[int], outgoing: int, incoming: int, *, meetings: Counts) -> int:
    """Return half the change in the sum of squared meetings after a swap; negative is better."""
    stay = [name for name in first if name != outgoing and name not in second]
    wait = [name for name in second if name != incoming and name not in first]
    left = meetings[incoming, stay].sum() - meetings[outgoing, stay].sum() + len(stay)
    right = meetings[outgoing, wait].sum() - meetings[incoming, wait].sum() + len(wait)
    return int(left + right)


def _swap(first: list[int], second: list[int], outgoing: int, incoming: int, *, meetings: Counts) -> None:
    for chosen in (first, second):
        _count(meetings, chosen, by=-1)
    first[first.index(outgoing)], second[second.index(incoming)] = incoming, outgoing
    for chosen in (first, second):
        _count(meetings, chosen, by=1)


def tuple_lists(
    sentences: Iterable[Stimulus],
    rng: np.random.Generator,
    *,
    size: int = 4,
    showings: int = 8,
    n_lists: int = 1,
) -> list[list[PlannedTrial]]:
    """Make sets of each paradigm's sentences and distribute them over lists.

    Examples
    --------
    >>> eight = [Stimulus(str(n), str(n)) for n in range(8)]
    >>> lists = tuple_lists(eight, np.random.default_rng(1), size=4, showings=4, n_lists=2)
    >>> [len(trials) for trials in lists], len(lists[0][0].key.split(","))
    ([4, 4], 4)
    """
    groups = by_paradigm(sentences)
    if not groups:
        raise BadInput(
            "a design needs at least one sentence.", remedy="Choose a material set with sentences."
        )
    lists: list[list[PlannedTrial]] = [[] for _ in range(n_lists)]
    for paradigm, members in groups.items():
        sets = balanced_tuples(len(members), rng, size=size, showings=showings)
        if len(sets) % n_lists:
            of_which = f" of {paradigm!r}" if paradigm else ""
            raise BadInput(
                f"{len(sets)} sets{of_which} cannot be distributed over {n_lists} lists.",
                remedy=f"Choose a number of lists that divides {len(sets)}.",
            )
        share = len(sets) // n_lists
        for number, trials in enumerate(lists):
            trials += [
                _plan_set(paradigm, members, chosen) for chosen in sets[number * share : (number + 1) * share]
            ]
    return lists


def member_keys(trial: PlannedTrial) -> list[str]:
    """Return the keys of the sentences that a planned trial shows: several for a set.

    Examples
    --------
    >>> member_keys(PlannedTrial("12,4,7,9", "")), member_keys(PlannedTrial("12", "one"))
    (['12', '4', '7', '9'], ['12'])
    """
    return trial.key.split(",")


def _plan_set(paradigm: str, members: Sequence[Stimulus], chosen: Sequence[int]) -> PlannedTrial:
    return PlannedTrial(",".join(members[number].key for number in chosen), "", paradigm=paradigm)
