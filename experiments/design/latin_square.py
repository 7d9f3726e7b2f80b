"""Items × conditions → balanced lists; pairs × sides → balanced lists."""

from collections.abc import Iterable, Sequence
from math import lcm

import numpy as np

from analysis.errors import BadInput
from experiments.design.trials import PlannedTrial, Stimulus, by_paradigm, planned


def _square(
    paradigm: str, stimuli: Sequence[Stimulus]
) -> tuple[list[str], list[str], dict[tuple[str, str], Stimulus]]:
    """Items, conditions and cells of one paradigm; every item must have every condition once."""
    items = sorted({one.item for one in stimuli})
    conditions = sorted({one.condition for one in stimuli})
    cells: dict[tuple[str, str], Stimulus] = {}
    for one in stimuli:
        if (one.item, one.condition) in cells:
            raise BadInput(
                f"item {one.item!r} of {paradigm!r} has condition {one.condition!r} twice.",
                remedy="Number the lexicalizations apart.",
            )
        cells[one.item, one.condition] = one
    holes = [(item, name) for item in items for name in conditions if (item, name) not in cells]
    if holes:
        item, name = holes[0]
        raise BadInput(
            f"item {item!r} of {paradigm!r} has no sentence in condition {name!r} ({len(holes)} such holes).",
            remedy="Add the sentence or leave the item out: every item needs every condition.",
        )
    return items, conditions, cells


def _checked_number(n_lists: int | None, *, base: int, what: str) -> int:
    """The number of lists, which must be a multiple of the smallest balanced number."""
    number = base if n_lists is None else n_lists
    if number < base or number % base:
        raise BadInput(
            f"{number} lists cannot balance {what}.",
            remedy=f"Take a multiple of {base}: {base}, {2 * base}, …",
        )
    return number


def latin_square_lists(
    stimuli: Iterable[Stimulus], rng: np.random.Generator, *, n_lists: int | None = None
) -> list[list[PlannedTrial]]:
    """Deal the conditions of each item over lists, one condition of each item per list.

    Parameters
    ----------
    stimuli : iterable of Stimulus
        Every item of a paradigm in every condition of that paradigm, each once.
    rng : numpy Generator
        Decides which items share a row of the square.
    n_lists : int, optional
        A multiple of the least common multiple of the paradigms' numbers of conditions; that
        multiple itself when left out.

    Returns
    -------
    list of lists of PlannedTrial
        Unordered (position 0). Each item stands once per list; over the lists each sentence stands equally
        often; within a list and paradigm the conditions' counts differ by at most one, and by none where the
        number of items is a multiple of the number of conditions.

    Raises
    ------
    BadInput
        If an item lacks a condition or has one twice, a key repeats, or ``n_lists`` cannot balance.

    Notes
    -----
    Item *i* of a paradigm with *C* conditions gets condition (*i* + *l*) mod *C* in list *l*. Counting *i* on
    over paradigms keeps the remainders of uneven paradigms from gathering in one list.

    Examples
    --------
    >>> cells = [Stimulus(f"{i}{c}", str(i), c) for i in range(4) for c in "ab"]
    >>> lists = latin_square_lists(cells, np.random.default_rng(1))
    >>> [sorted(trial.condition for trial in one) for one in lists]
    [['a', 'a', 'b', 'b'], ['a', 'a', 'b', 'b']]
    """
    squares = [_square(paradigm, members) for paradigm, members in by_paradigm(stimuli).items()]
    if not squares:
        raise BadInput(
            "a design needs at least one item.", remedy="Choose a material set that holds sentences."
        )
    base = lcm(*(len(conditions) for _, conditions, _ in squares))
    number = _checked_number(n_lists, base=base, what="these conditions")
    lists: list[list[PlannedTrial]] = [[] for _ in range(number)]
    row = 0
    for items, conditions, cells in squares:
        for index in rng.permutation(len(items)):
            for place, one in enumerate(lists):
                condition = conditions[(row + place) % len(conditions)]
                one.append(planned(cells[items[index], condition]))
            row += 1
    return lists


def forced_choice_lists(
    pairs: Iterable[Stimulus], rng: np.random.Generator, *, n_lists: int | None = None
) -> list[list[PlannedTrial]]:
    """Give every list one pair of each item, with the side of the expected member balanced both ways.

    Parameters
    ----------
    pairs : iterable of Stimulus
        One stimulus per minimal pair. Where items have several pairs, ``condition`` names them, and
        every item of a paradigm has the same ones.
    rng : numpy Generator
        Decides which pairs begin with the expected member first.
    n_lists : int, optional
        A multiple of twice the number of pairs per item; that number, usually 2, when left out.

    Returns
    -------
    list of lists of PlannedTrial
        Unordered (position 0). Each pair has its expected member first in half of its lists; with one pair
        per item, the two sides differ by at most one within a list, and within a paradigm of a list.

    Raises
    ------
    BadInput
        If there is no pair, a key repeats, an item lacks a pair, or ``n_lists`` cannot balance.

    Notes
    -----
    In the released BLiMP batch every pair was shown in one order only, so side and item are confounded there;
    this design keeps them apart.

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
            "a design needs at least one pair.", remedy="Choose a material set that holds minimal pairs."
        )
    base = 2 * lcm(*(len(conditions) for _, conditions, _ in squares))
    number = _checked_number(n_lists, base=base, what="the side of the expected member")
    lists: list[list[PlannedTrial]] = [[] for _ in range(number)]
    row = int(rng.integers(2)) * max(len(conditions) for _, conditions, _ in squares)
    for items, conditions, cells in squares:
        size = len(conditions)
        for index in rng.permutation(len(items)):
            for place, one in enumerate(lists):
                pair = cells[items[index], conditions[(row + place) % size]]
                one.append(planned(pair, expected_first=(row // size + place // size) % 2 == 0))
            row += 1
    return lists


def complete_lists(
    sentences: Iterable[Stimulus], rng: np.random.Generator, *, n_lists: int | None = None
) -> list[list[PlannedTrial]]:
    """Give every list every sentence, for designs within participants and items.

    Parameters
    ----------
    sentences : iterable of Stimulus
    rng : numpy Generator
        Not used: the lists differ by their order only. Taken so that all schemes are called alike.
    n_lists : int, optional
        1 when left out.

    Returns
    -------
    list of lists of PlannedTrial
        Unordered (position 0).
    """
    whole = [planned(one) for members in by_paradigm(sentences).values() for one in members]
    if not whole:
        raise BadInput(
            "a design needs at least one item.", remedy="Choose a material set that holds sentences."
        )
    return [list(whole) for _ in range(n_lists or 1)]
