"""Further rounds of a study: other lists from the same materials, with or without the items shown before."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from analysis.errors import BadInput
from experiments.design.plan import DesignSpec, Extras, planned_lists
from experiments.design.trials import PlannedTrial, Stimulus, by_paradigm
from experiments.design.tuples import member_keys

Items = Literal["any", "new", "same"]


@dataclass(frozen=True)
class RoundSpec:
    """The specification of one round.

    Parameters
    ----------
    spec : DesignSpec
        Contains the seed of the round.
    items : {"any", "new", "same"}
        ``new``: items that no earlier round shows, as far as there are enough; ``same``: only items that
        an earlier round shows.
    without : collection of str
        Paradigms that this round excludes, such as those discarded after an earlier round.
    """

    spec: DesignSpec
    items: Items = "any"
    without: Collection[str] = ()


def planned_rounds(
    targets: Sequence[Stimulus],
    rounds: Sequence[RoundSpec],
    *,
    extras: Extras = Extras(),  # noqa: B008 (frozen)
) -> list[list[list[PlannedTrial]]]:
    """Make the lists of every round.

    Notes
    -----
    If a sample requires new items and a paradigm has too few, the new ones are used first, then earlier ones.
    Schemes that show every item exclude the earlier ones from each paradigm that has others.

    References
    ----------
    Xiang, Yang, Li, Warstadt & Kann (2021), "CLiMP", EACL: a first round of 100 pairs of one paradigm for
    each annotator, a second one of 15 pairs of every paradigm that was kept.

    Examples
    --------
    >>> pairs = [Stimulus(f"{p}{i}", f"{p}{i}", paradigm=p) for p in ("ba", "bei") for i in range(6)]
    >>> first = RoundSpec(DesignSpec(forced_choice=True, per_paradigm=4, one_paradigm=True, n_blocks=1))
    >>> second = RoundSpec(DesignSpec(forced_choice=True, per_paradigm=2, n_blocks=1, seed=2), items="new")
    >>> lists = planned_rounds(pairs, [first, second])
    >>> [[len(trials) for trials in round_lists] for round_lists in lists]
    [[4, 4, 4, 4], [4, 4]]
    >>> {t.key for trials in lists[0] for t in trials} & {t.key for trials in lists[1] for t in trials}
    set()
    """
    item_of = {target.key: target.item for target in targets}
    shown_items: set[str] = set()
    rounds_lists = []
    for number, round_spec in enumerate(rounds, start=1):
        spec = round_spec.spec
        if round_spec.items == "new":
            spec = replace(spec, later=frozenset(shown_items))
        try:
            lists = planned_lists(
                _eligible(targets, round_spec, shown_items=shown_items),
                spec,
                extras=extras,
            )
        except BadInput as error:
            if len(rounds) == 1:
                raise
            raise BadInput(f"round {number}: {error}") from error
        rounds_lists.append(lists)
        shown_items |= items_shown(lists, item_of)
    return rounds_lists


def items_shown(lists: Sequence[Sequence[PlannedTrial]], item_of: dict[str, str]) -> set[str]:
    """Return the items that lists show as targets."""
    return {
        item_of[key]
        for trials in lists
        for trial in trials
        if trial.kind == "target"
        for key in member_keys(trial)
        if key in item_of
    }


def _eligible(
    targets: Sequence[Stimulus], round_spec: RoundSpec, *, shown_items: Collection[str]
) -> list[Stimulus]:
    """Return the stimuli that a round may show."""
    groups = by_paradigm(targets)
    if unknown := sorted(set(round_spec.without) - set(groups)):
        raise BadInput(
            f"there is no paradigm {unknown[0]!r} to exclude.",
            remedy=f"There are: {', '.join(sorted(groups)[:20])}.",
        )
    eligible = []
    for paradigm, members in groups.items():
        if paradigm in round_spec.without:
            continue
        fresh = [stimulus for stimulus in members if stimulus.item not in shown_items]
        if round_spec.items == "same":
            eligible += [stimulus for stimulus in members if stimulus.item in shown_items]
        elif round_spec.items == "new" and round_spec.spec.per_paradigm is None and fresh:
            eligible += fresh
        else:
            eligible += members
    if not eligible:
        raise BadInput("no items are left to show.", remedy="Exclude fewer paradigms, or allow other items.")
    return eligible
