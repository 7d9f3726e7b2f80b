"""The whole way from stimuli to ordered lists, as one function of a specification and a seed."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil

import numpy as np

from experiments.design.fillers import led_by, shuffled, spread_catch, with_fillers
from experiments.design.latin_square import complete_lists, forced_choice_lists, latin_square_lists
from experiments.design.ordering import OrderRules, fitting_rules, ordered
from experiments.design.sampling import sampled_blocks
from experiments.design.trials import PlannedTrial, Stimulus, by_paradigm, numbered
from experiments.design.tuples import tuple_lists


@dataclass(frozen=True)
class DesignSpec:
    """How lists are made.

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
        Items of each paradigm per list; all when left out.
    one_paradigm : bool
        Every list has items of a single paradigm, ``per_paradigm`` of them.
    later : collection of str
        In samples: items dealt only after all others of their paradigm.
    n_blocks : int, optional
        Samples of items, each of which becomes a balanced group of lists; as many as show every
        item when left out.
    n_lists : int, optional
        Lists per block, a multiple of the smallest balanced number; that number when left out.
    n_fillers : int, optional
        Fillers per list; by the ratio when left out.
    filler_ratio : float, optional
        Fillers for each target of the longest list; all fillers when left out.
    anchors_in_order : bool
        Anchors come in the given order; otherwise each list has its own random order of them.
    rules : OrderRules, optional
        What the order must keep; the usual rules that can be kept when left out.
    seed : int
        The same specification, stimuli and seed give the same lists.
    """

    forced_choice: bool = False
    complete: bool = False
    set_size: int = 0
    showings: int = 0
    per_paradigm: int | None = None
    one_paradigm: bool = False
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
        Anchors span the scale and stand between practice and the rest.
    """

    fillers: Sequence[Stimulus] = field(default_factory=tuple)
    catch: Sequence[Stimulus] = field(default_factory=tuple)
    practice: Sequence[Stimulus] = field(default_factory=tuple)
    anchors: Sequence[Stimulus] = field(default_factory=tuple)


def _dealt(
    targets: Sequence[Stimulus], spec: DesignSpec, rng: np.random.Generator
) -> list[list[PlannedTrial]]:
    """Targets of each list, not yet ordered."""
    if spec.set_size:
        n_lists = spec.n_lists or 1
        return tuple_lists(targets, rng, size=spec.set_size, showings=spec.showings, n_lists=n_lists)
    rating = complete_lists if spec.complete else latin_square_lists
    deal = forced_choice_lists if spec.forced_choice else rating
    if spec.per_paradigm is None:
        return deal(targets, rng, n_lists=spec.n_lists)
    decks = list(by_paradigm(targets).values()) if spec.one_paradigm else [list(targets)]
    return [
        one
        for deck in decks
        for block in sampled_blocks(
            deck, rng, per_paradigm=spec.per_paradigm, n_blocks=spec.n_blocks, later=spec.later
        )
        for one in deal(block, rng, n_lists=spec.n_lists)
    ]


def _n_fillers(spec: DesignSpec, dealt: Sequence[Sequence[PlannedTrial]]) -> int | None:
    """Fillers of every list: the same number in all, so that all share their fillers."""
    if spec.n_fillers is not None or spec.filler_ratio is None:
        return spec.n_fillers
    return ceil(spec.filler_ratio * max((len(one) for one in dealt), default=0))


def planned_lists(
    targets: Sequence[Stimulus],
    spec: DesignSpec,
    *,
    extras: Extras = Extras(),  # noqa: B008 (frozen)
) -> list[list[PlannedTrial]]:
    """Make the lists of a study.

    Parameters
    ----------
    targets : sequence of Stimulus
        Sentences (items × conditions), or minimal pairs when ``spec.forced_choice``.
    spec : DesignSpec
    extras : Extras
        Fillers, catch and practice stimuli, anchors.

    Returns
    -------
    list of lists of PlannedTrial
        Practice and anchors first, then targets and fillers in an order that keeps the rules, with
        catch trials spread among them; positions from 1.

    Raises
    ------
    BadInput
        If the stimuli do not make a balanced design or no order keeps the rules.

    See Also
    --------
    latin_square_lists, forced_choice_lists, sampled_blocks, ordered
    experiments.design.rounds.planned_rounds : further rounds of the same study.

    Examples
    --------
    >>> pairs = [Stimulus(f"{p}{i}", f"{p}{i}", paradigm=p) for p in ("npi", "wh") for i in range(4)]
    >>> lists = planned_lists(pairs, DesignSpec(forced_choice=True, per_paradigm=2))
    >>> len(lists), [trial.position for trial in lists[0]]
    (4, [1, 2, 3, 4])
    """
    rng = np.random.default_rng(spec.seed)
    lists = []
    all_dealt = _dealt(targets, spec, rng)
    n_fillers = _n_fillers(spec, all_dealt)
    for dealt in all_dealt:
        main = with_fillers(dealt, extras.fillers, rng, n=n_fillers, sided=spec.forced_choice)
        rules = spec.rules if spec.rules is not None else fitting_rules(main)
        sequence = ordered(main, rng, rules=rules)
        sequence = spread_catch(sequence, extras.catch, rng, sided=spec.forced_choice)
        anchors = extras.anchors if spec.anchors_in_order else shuffled(extras.anchors, rng)
        sequence = led_by(sequence, anchors, rng, kind="anchor", sided=spec.forced_choice)
        sequence = led_by(sequence, extras.practice, rng, kind="practice", sided=spec.forced_choice)
        lists.append(numbered(sequence))
    return lists
