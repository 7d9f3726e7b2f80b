"""Ordered lists from stimuli, as one function of a specification and a seed."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil

import numpy as np

from experiments.design.fillers import insert_catch, prepend_trials, shuffle, spread_catch, with_fillers
from experiments.design.latin_square import complete_lists, forced_choice_lists, latin_square_lists
from experiments.design.ordering import ATTEMPTS, OrderRules, default_rules, order_trials
from experiments.design.sampling import sampled_blocks, split_blocks
from experiments.design.trials import PlannedTrial, Stimulus, by_paradigm, number_trials
from experiments.design.tuples import tuple_lists


@dataclass(frozen=True)
class DesignSpec:
    """Options of list generation.

    Parameters
    ----------
    forced_choice : bool
        Stimuli are minimal pairs whose sides are balanced; otherwise sentences in a Latin square.
    complete : bool
        Rating tasks: every list has every sentence, instead of one condition of each item.
    set_size, showings : int
        Best–worst scaling: sentences per set, and sets per sentence over all lists; 0 where single
        sentences or pairs are shown.
    per_paradigm : int, optional
        Items of each paradigm per list; all by default.
    one_paradigm : bool
        Every list has items of a single paradigm, ``per_paradigm`` of them.
    split : bool
        All items are split over ``n_blocks`` parts, each of which becomes a balanced group of lists.
    later : collection of str
        In samples: items used only after all others of their paradigm.
    n_blocks : int, optional
        Samples of items, each of which becomes a balanced group of lists; by default as many as
        show every item.
    n_lists : int, optional
        Lists per block, a multiple of the smallest balanced number, which is the default.
    n_fillers : int, optional
        Fillers per list; by default from the ratio.
    filler_ratio : float, optional
        Fillers per target of the longest list; all fillers by default.
    anchors_in_order : bool
        Anchors come in the given order; otherwise in a random order, like the other trials.
    rules : OrderRules, optional
        Constraints on the order; by default the default rules that can be satisfied.
    seed : int
        The same specification, stimuli and seed give the same lists.
    """

    forced_choice: bool = False
    complete: bool = False
    set_size: int = 0
    showings: int = 0
    per_paradigm: int | None = None
    one_paradigm: bool = False
    split: bool = False
    later: frozenset[str] = frozenset()
    n_blocks: int | None = None
    n_lists: int | None = None
    n_fillers: int | None = None
    filler_ratio: float | None = None
    anchors_in_order: bool = True
    rules: OrderRules | None = None
    seed: int = 0


@dataclass(frozen=True)
class Extras:
    """Stimuli around the targets, shared by all lists.

    Parameters
    ----------
    fillers, catch, practice, anchors : sequence of Stimulus
        Anchors span the scale and come between practice and the rest.
    """

    fillers: Sequence[Stimulus] = field(default_factory=tuple)
    catch: Sequence[Stimulus] = field(default_factory=tuple)
    practice: Sequence[Stimulus] = field(default_factory=tuple)
    anchors: Sequence[Stimulus] = field(default_factory=tuple)


def _deal(
    targets: Sequence[Stimulus], spec: DesignSpec, rng: np.random.Generator
) -> list[list[PlannedTrial]]:
    """Distribute the targets over lists, not yet ordered."""
    if spec.set_size:
        n_lists = spec.n_lists or 1
        return tuple_lists(targets, rng, size=spec.set_size, showings=spec.showings, n_lists=n_lists)
    rating = complete_lists if spec.complete else latin_square_lists
    deal = forced_choice_lists if spec.forced_choice else rating
    if spec.split:
        parts = split_blocks(targets, rng, n_blocks=spec.n_blocks or 1)
        return [trials for part in parts for trials in deal(part, rng, n_lists=spec.n_lists)]
    if spec.per_paradigm is None:
        return deal(targets, rng, n_lists=spec.n_lists)
    decks = list(by_paradigm(targets).values()) if spec.one_paradigm else [list(targets)]
    return [
        trials
        for deck in decks
        for block in sampled_blocks(
            deck, rng, per_paradigm=spec.per_paradigm, n_blocks=spec.n_blocks, later=spec.later
        )
        for trials in deal(block, rng, n_lists=spec.n_lists)
    ]


def _n_fillers(spec: DesignSpec, target_lists: Sequence[Sequence[PlannedTrial]]) -> int | None:
    """Return the number of fillers per list: the same for all, so that lists share their fillers."""
    if spec.n_fillers is not None or spec.filler_ratio is None:
        return spec.n_fillers
    return ceil(spec.filler_ratio * max((len(trials) for trials in target_lists), default=0))


def planned_lists(
    targets: Sequence[Stimulus],
    spec: DesignSpec,
    *,
    extras: Extras = Extras(),  # noqa: B008 (frozen)
) -> list[list[PlannedTrial]]:
    """Make the lists of a study.

    Notes
    -----
    Practice and anchors come first, then targets and fillers in an order that satisfies the rules, with
    catch trials spread among them; positions count from 1.

    Examples
    --------
    >>> pairs = [Stimulus(f"{p}{i}", f"{p}{i}", paradigm=p) for p in ("npi", "wh") for i in range(4)]
    >>> lists = planned_lists(pairs, DesignSpec(forced_choice=True, per_paradigm=2))
    >>> len(lists), [trial.position for trial in lists[0]]
    (4, [1, 2, 3, 4])
    """
    rng = np.random.default_rng(spec.seed)
    lists = []
    target_lists = _deal(targets, spec, rng)
    n_fillers = _n_fillers(spec, target_lists)
    for list_targets in target_lists:
        main = with_fillers(list_targets, extras.fillers, rng, n=n_fillers, sided=spec.forced_choice)
        rules = spec.rules if spec.rules is not None else default_rules(main)
        sequence = order_trials(main, rng, rules=rules)
        sequence = spread_catch(sequence, extras.catch, rng, sided=spec.forced_choice)
        anchors = extras.anchors if spec.anchors_in_order else shuffle(extras.anchors, rng)
        sequence = prepend_trials(sequence, anchors, rng, kind="anchor", sided=spec.forced_choice)
        sequence = prepend_trials(sequence, extras.practice, rng, kind="practice", sided=spec.forced_choice)
        lists.append(number_trials(sequence))
    return lists


def reorder_trials(
    trials: Sequence[PlannedTrial],
    rng: np.random.Generator,
    *,
    rules: OrderRules | None = None,
    anchors_in_order: bool = True,
    attempts: int = ATTEMPTS,
) -> list[PlannedTrial]:
    """Return the trials of a list in another random order under the same rules, as one participant sees them.

    Practice and anchors stay in front, and catch trials are spread anew; each trial keeps its position in the
    list. Raises :class:`BadInput` if no order is found.

    Examples
    --------
    >>> pairs = [Stimulus(str(i), str(i)) for i in range(6)]
    >>> trials = planned_lists(pairs, DesignSpec(forced_choice=True))[0]
    >>> [trial.position for trial in reorder_trials(trials, np.random.default_rng(1))]
    [4, 6, 2, 3, 1, 5]
    """
    kinds: dict[str, list[PlannedTrial]] = {}
    for trial in trials:
        kinds.setdefault("main" if trial.kind in {"target", "filler"} else trial.kind, []).append(trial)
    main = kinds.get("main", [])
    sequence = order_trials(
        main, rng, rules=rules if rules is not None else default_rules(main), attempts=attempts
    )
    sequence = insert_catch(sequence, shuffle(kinds.get("catch", []), rng), rng)
    anchors = kinds.get("anchor", [])
    return [
        *kinds.get("practice", []),
        *(anchors if anchors_in_order else shuffle(anchors, rng)),
        *sequence,
    ]
