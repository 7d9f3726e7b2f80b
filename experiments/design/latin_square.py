"""Balanced lists of items × conditions (Latin square), and of pairs × sides."""

from collections.abc import Iterable, Sequence
from math import lcm

import numpy as np

from analysis.errors import BadInput
from experiments.design.trials import PlannedTrial, Stimulus, by_paradigm, plan_trial


def _square(
    paradigm: str, stimuli: Sequence[Stimulus]
) -> tuple[list[str], list[str], dict[tuple[str, str], Stimulus]]:
    """Return items, conditions and cells of one paradigm; every item must have every condition once."""
    items = sorted({stimulus.item for stimulus in stimuli})
    conditions = sorted({stimulus.condition for stimulus in stimuli})
    cells: dict[tuple[str, str], Stimulus] = {}
    for stimulus in stimuli:
        if (stimulus.item, stimulus.condition) in cells:
            raise BadInput(
                f"item {stimulus.item!r} of {paradigm!r} has condition {stimulus.condition!r} twice.",
                remedy="Give each lexicalization its own item.",
            )
        cells[stimulus.item, stimulus.condition] = stimulus
    holes = [(item, name) for item in items for name in conditions if (item, name) not in cells]
    if holes:
        item, name = holes[0]
        raise BadInput(
            f"item {item!r} of {paradigm!r} has no sentence in condition {name!r} ({len(holes)} such holes).",
            remedy="Add the sentence or leave the item out: every item needs every condition.",
        )
    return items, conditions, cells


def _validated_number(n_lists: int | None, *, base: int, purpose: str) -> int:
    """Return the number of lists, which must be a multiple of the smallest balanced number."""
    number = base if n_lists is None else n_lists
    if number < base or number % base:
        raise BadInput(
            f"{number} lists cannot balance {purpose}.",
            remedy=f"Take a multiple of {base}: {base}, {2 * base}, …",
        )
    return number


def latin_square_lists(
    stimuli: Iterable[Stimulus], rng: np.random.Generator, *, n_lists: int | None = None
) -> list[list[PlannedTrial]]:
    """Distribute the conditions of each item over lists, one condition of each item per list.

    Notes
    -----
    Trials are unordered (position 0). Each item occurs once per list; over all lists, sentences occur equally
    often; within a list and paradigm the conditions' counts differ by at most one, and not at all where the
    number of items is a multiple of the number of conditions.

    Item *i* of a paradigm with *C* conditions gets condition (*i* + *l*) mod *C* in list *l*. Counting *i*
    across paradigms keeps the remainders of uneven paradigms from accumulating in one list.

    Examples
    --------
    >>> cells = [Stimulus(f"{i}{c}", str(i), c) for i in range(4) for c in "ab"]
    >>> lists = latin_square_lists(cells, np.random.default_rng(1))
    >>> [sorted(trial.condition for trial in one) for one in lists]
    [['a', 'a', 'b', 'b'], ['a', 'a', 'b', 'b']]
    """
    squares = [_square(paradigm, members) for paradigm, members in by_paradigm(stimuli).items()]
    if not squares:
        raise BadInput("a design needs at least one item.", remedy="Choose a material set with sentences.")
    base = lcm(*(len(conditions) for _, conditions, _ in squares))
    number = _validated_number(n_lists, base=base, purpose="these conditions")
    lists: list[list[PlannedTrial]] = [[] for _ in range(number)]
    row = 0
    for items, conditions, cells in squares:
        for index in rng.permutation(len(items)):
            for list_index, trials in enumerate(lists):
                condition = conditions[(row + list_index) % len(conditions)]
                trials.append(plan_trial(cells[items[index], condition]))
            row += 1
    return lists


def forced_choice_lists(
    pairs: Iterable[Stimulus], rng: np.random.Generator, *, n_lists: int | None = None
) -> list[list[PlannedTrial]]:
    """Give every list one pair of each item, with the side of the expected member balanced.

    Notes
    -----
    Trials are unordered (position 0). Each pair has its expected member first in half of its lists; with one
    pair per item, the two sides differ by at most one within a list, and within a paradigm of a list.

    In the released BLiMP batch every pair was shown in one order only, which confounds side and item; this
    design does not.

    References
    ----------
    Warstadt et al. (2020), "BLiMP", TACL 8: 377-392 (the task).

    Examples
    --------
    >>> lists = forced_choice_lists([Stimulus("a", "a"), Stimulus("b", "b")], np.random.default_rng(1))
    >>> [sorted((trial.key, trial.expected_first) for trial in one) for one in lists]
    [[('a', True), ('b', False)], [('a', False), ('b', True)]]
    """
    squares = [_square(paradigm, members) for paradigm, members in by_paradigm(pairs).items()]
    if not squares:
        raise BadInput(
            "a design needs at least one pair.", remedy="Choose a material set with minimal pairs."
        )
    base = 2 * lcm(*(len(conditions) for _, conditions, _ in squares))
    number = _validated_number(n_lists, base=base, purpose="the side of the expected member")
    lists: list[list[PlannedTrial]] = [[] for _ in range(number)]
    row = int(rng.integers(2)) * max(len(conditions) for _, conditions, _ in squares)
    for items, conditions, cells in squares:
        size = len(conditions)
        for index in rng.permutation(len(items)):
            for list_index, trials in enumerate(lists):
                pair = cells[items[index], conditions[(row + list_index) % size]]
                trials.append(plan_trial(pair, expected_first=(row // size + list_index // size) % 2 == 0))
            row += 1
    return lists


def complete_lists(
    sentences: Iterable[Stimulus], rng: np.random.Generator, *, n_lists: int | None = None
) -> list[list[PlannedTrial]]:
    """Give every list all sentences, for designs within participants and items."""
    trials = [plan_trial(member) for members in by_paradigm(sentences).values() for member in members]
    if not trials:
        raise BadInput("a design needs at least one item.", remedy="Choose a material set with sentences.")
    return [list(trials) for _ in range(n_lists or 1)]
