"""Further rounds of a study: other lists from the same materials, with or without the items shown before."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from analysis.errors import BadInput
from experiments.design.plan import DesignSpec, Extras, planned_lists
from experiments.design.trials import PlannedTrial, Stimulus, by_paradigm
from experiments.design.tuples import members_of

Items = Literal["any", "new", "same"]


@dataclass(frozen=True)
class RoundSpec:
    """How the lists of one round are made.

    Parameters
    ----------
    spec : DesignSpec
        With the round's own seed.
    items : {"any", "new", "same"}
        ``new``: items that no earlier round shows, as far as there are enough; ``same``: only items that
        an earlier round shows.
    without : collection of str
        Paradigms that this round leaves out, such as those an earlier round has discarded.
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

    Parameters
    ----------
    targets : sequence of Stimulus
    rounds : sequence of RoundSpec
        In their order; what a round may show depends on those before it, never on those after.
    extras : Extras
        Shared by all rounds.

    Returns
    -------
    list of rounds, each a list of lists of PlannedTrial

    Raises
    ------
    BadInput
        If a round names an unknown paradigm, has nothing left to show, or cannot be balanced; the
        message says which round.

    See Also
    --------
    experiments.design.plan.planned_lists : one round.

    Notes
    -----
    Where a sample asks for new items and a paradigm has too few, the new ones are dealt first and earlier
    ones fill up. Schemes that show every item leave the earlier ones out of each paradigm that has others.

    References
    ----------
    Xiang, Yang, Li, Warstadt & Kann (2021), "CLiMP", EACL: a first round of 100 pairs of one paradigm for
    each annotator, a second one of 15 pairs of every paradigm that was kept.

    Examples
    --------
    >>> pairs = [Stimulus(f"{p}{i}", f"{p}{i}", paradigm=p) for p in ("ba", "bei") for i in range(6)]
    >>> first = RoundSpec(DesignSpec(forced_choice=True, per_paradigm=4, one_paradigm=True, n_blocks=1))
    >>> second = RoundSpec(DesignSpec(forced_choice=True, per_paradigm=2, n_blocks=1, seed=2), items="new")
    >>> made = planned_rounds(pairs, [first, second])
    >>> [[len(one) for one in lists] for lists in made]
    [[4, 4, 4, 4], [4, 4]]
    >>> {trial.key for one in made[0] for trial in one} & {trial.key for one in made[1] for trial in one}
    set()
    """
    item_of = {one.key: one.item for one in targets}
    used: set[str] = set()
    made = []
    for number, one in enumerate(rounds, start=1):
        try:
            lists = planned_lists(
                _admitted(targets, one, used=used),
                replace(one.spec, later=frozenset(used) if one.items == "new" else one.spec.later),
                extras=extras,
            )
        except BadInput as error:
            if len(rounds) == 1:
                raise
            raise BadInput(f"round {number}: {error}") from error
        made.append(lists)
        used |= items_shown(lists, item_of)
    return made


def items_shown(lists: Sequence[Sequence[PlannedTrial]], item_of: dict[str, str]) -> set[str]:
    """Items that lists show as targets.

    Parameters
    ----------
    lists : sequence of lists of PlannedTrial
    item_of : dict of str to str
        Item of each stimulus, by key.

    Returns
    -------
    set of str
        Of a set, the items of all its members.
    """
    return {
        item_of[key]
        for one in lists
        for trial in one
        if trial.kind == "target"
        for key in members_of(trial)
        if key in item_of
    }


def _admitted(targets: Sequence[Stimulus], one: RoundSpec, *, used: Collection[str]) -> list[Stimulus]:
    """Stimuli that a round may show."""
    groups = by_paradigm(targets)
    if unknown := sorted(set(one.without) - set(groups)):
        raise BadInput(
            f"there is no paradigm {unknown[0]!r} to leave out.",
            remedy=f"There are: {', '.join(sorted(groups)[:20])}.",
        )
    kept = []
    for paradigm, members in groups.items():
        if paradigm in one.without:
            continue
        fresh = [stimulus for stimulus in members if stimulus.item not in used]
        if one.items == "same":
            kept += [stimulus for stimulus in members if stimulus.item in used]
        elif one.items == "new" and one.spec.per_paradigm is None and fresh:
            kept += fresh
        else:
            kept += members
    if not kept:
        raise BadInput("it has nothing to show.", remedy="Leave fewer paradigms out, or allow other items.")
    return kept
