"""The rounds of a study: the design's own scheme first, then further ones with their own lists and targets.

A further round is stored in ``Design.rounds`` as an object with

- ``kind``, ``n_lists``, ``items_per_paradigm``: its scheme, as the design's own;
- ``items``: ``any``; ``new``, those that no earlier round shows, as far as there are enough; ``same``, only
  those that an earlier round shows;
- ``without``: names of paradigms that it leaves out;
- ``participants``: ``new`` (who took an earlier round has done their part), ``same`` (only they may take
  it) or ``any``;
- ``target_judgments`` and ``max_participants``: its own; the study's where they are null;
- ``seed``: of its lists.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from analysis.errors import BadInput
from experiments.models import Design, Experiment, PresentationList

ITEMS = {
    "any": "any items",
    "new": "new items, as far as there are enough",
    "same": "items of earlier rounds",
}
PARTICIPANTS = {
    "any": "anybody, also those of an earlier round",
    "new": "new people",
    "same": "people of an earlier round",
}
MOST_ROUNDS, MOST_LISTS, MOST = 20, 200, 2**31 - 1


@dataclass(frozen=True)
class Round:
    """One round as it is planned."""

    number: int = 1
    kind: str = Design.Kind.SAMPLE
    n_lists: int = 2
    items_per_paradigm: int | None = None
    items: str = "any"
    without: tuple[str, ...] = ()
    participants: str = "new"
    target_judgments: int | None = None
    max_participants: int | None = None
    seed: int = 0

    def as_dict(self) -> dict[str, Any]:
        """As it is stored."""
        return {**asdict(self), "without": list(self.without)}

    @property
    def told(self) -> str:
        """Who may take it and what it shows, in words."""
        return f"{ITEMS[self.items]}; for {PARTICIPANTS[self.participants]}"


def rounds_of(design: Design, experiment: Experiment) -> list[Round]:
    """Every round; the first is the design itself, with the study's limits."""
    first = Round(
        kind=design.kind,
        n_lists=design.n_lists,
        items_per_paradigm=design.items_per_paradigm,
        target_judgments=experiment.target_judgments,
        max_participants=experiment.max_participants,
        seed=design.seed or experiment.seed,
    )
    return [
        first,
        *(_round(row, number) for number, row in enumerate(checked_rounds(design.rounds), start=2)),
    ]


def round_now(experiment: Experiment) -> Round:
    """The round that takes participants, with the study's limits where it has none of its own."""
    number = experiment.current_round
    design = Design.objects.filter(experiment=experiment).first() if number > 1 else None
    stored = design.rounds[number - 2] if design and len(design.rounds) > number - 2 else {}
    one = _round(_checked(stored, number), number) if stored else Round(number=number, participants="any")
    return replace(
        one,
        target_judgments=_or(one.target_judgments, experiment.target_judgments),
        max_participants=_or(one.max_participants, experiment.max_participants),
    )


def check_round(experiment: Experiment, number: int) -> None:
    """Refuse a round that the study does not have."""
    known = listed_rounds(experiment)
    if number not in known:
        told = "one round" if len(known) == 1 else f"rounds {known[0]} to {known[-1]}"
        raise BadInput(
            f"there is no round {number}.", column="round", remedy=f"{experiment.slug} has {told}."
        )


def listed_rounds(experiment: Experiment) -> list[int]:
    """Numbers of the rounds that have lists; imported judgments are the first."""
    lists = PresentationList.objects.filter(experiment=experiment, version__is_preview=False).order_by()
    return sorted({1, *lists.values_list("round", flat=True).distinct()})


def _or(own: int | None, usual: int | None) -> int | None:
    return usual if own is None else own


def checked_rounds(rows: Any) -> list[dict[str, Any]]:
    """The rounds as stored, with every field; the first that cannot be used is named."""
    if not isinstance(rows, Sequence) or isinstance(rows, str):
        raise BadInput("rounds are a list of objects.", remedy='Write [{"kind": "sample", …}].')
    if len(rows) > MOST_ROUNDS:
        raise BadInput(f"there are {len(rows)} further rounds.", remedy=f"Take at most {MOST_ROUNDS}.")
    return [_checked(row, number) for number, row in enumerate(rows, start=2)]


def _checked(row: Any, number: int) -> dict[str, Any]:
    known = {one.name: one.default for one in fields(Round)}
    if not isinstance(row, Mapping):
        raise BadInput(f"round {number} is no object.", remedy='Write {"kind": "sample", …}.')
    if unknown := sorted(set(row) - set(known)):
        raise BadInput(
            f"round {number} has an unknown key {unknown[0]!r}.",
            remedy=f"There are: {', '.join(sorted(set(known) - {'number'}))}.",
        )
    found = {**known, **row, "number": number, "without": list(row.get("without") or [])}
    _choose(found, "kind", Design.Kind.values, number)
    _choose(found, "items", ITEMS, number)
    _choose(found, "participants", PARTICIPANTS, number)
    _count(found, "n_lists", number, most=MOST_LISTS)
    _count(found, "seed", number, least=0, most=2**63 - 1)
    for name, least in (("items_per_paradigm", 1), ("target_judgments", 0), ("max_participants", 1)):
        if found[name] is not None:
            _count(found, name, number, least=least)
    if not all(isinstance(name, str) for name in found["without"]):
        raise BadInput(f"round {number} leaves out something that is no name of a paradigm.")
    return found


def _choose(found: Mapping[str, Any], name: str, known: Any, number: int) -> None:
    if found[name] not in list(known):
        raise BadInput(
            f"round {number} has {name} {found[name]!r}.", remedy=f"Choose from {', '.join(known)}."
        )


def _count(found: Mapping[str, Any], name: str, number: int, *, least: int = 1, most: int = MOST) -> None:
    given = found[name]
    if not isinstance(given, int) or isinstance(given, bool) or not least <= given <= most:
        raise BadInput(
            f"round {number} has {name} {given!r}.", remedy=f"Write a whole number from {least} to {most}."
        )


def _round(row: Mapping[str, Any], number: int) -> Round:
    return Round(**{**row, "number": number, "without": tuple(row["without"])})
