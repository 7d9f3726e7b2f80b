"""The rounds of a study: the scheme of the design, then further rounds with lists and targets of their own.

A further round is stored in ``Design.rounds`` as an object with

- ``kind``, ``n_lists``, ``items_per_paradigm``: its scheme, as in the design;
- ``items``: ``any``; ``new``, those that no earlier round shows, as far as there are enough; ``same``, only
  those that an earlier round shows;
- ``without``: names of paradigms that it excludes;
- ``participants``: ``new`` (none of earlier rounds), ``same`` (only participants of earlier
  rounds) or ``any``;
- ``target_judgments`` and ``max_participants``: those of the study where they are null;
- ``seed``: of its lists.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from django.db.models import Count, QuerySet, Subquery

from analysis.errors import BadInput
from experiments.design.rounds import Items
from experiments.models import Design, Experiment, PlannedTrial, PresentationList, Sentence, TrialKind

ITEMS = {
    "any": "any items",
    "new": "new items, as far as there are enough",
    "same": "items of earlier rounds",
}
PARTICIPANTS = {
    "any": "all participants, including those of earlier rounds",
    "new": "new participants",
    "same": "participants of an earlier round",
}
MOST_ROUNDS, MOST_LISTS = 20, 200
MOST = 2**31 - 1  # of a PositiveIntegerField on all databases


@dataclass(frozen=True)
class Round:
    """One planned round."""

    number: int = 1
    kind: str = Design.Kind.SAMPLE
    n_lists: int = 2
    items_per_paradigm: int | None = None
    items: Items = "any"
    without: tuple[str, ...] = ()
    participants: str = "new"
    target_judgments: int | None = None
    max_participants: int | None = None
    seed: int = 0

    def as_dict(self) -> dict[str, Any]:
        """Return the round as it is stored."""
        return {**asdict(self), "without": list(self.without)}

    @property
    def description(self) -> str:
        """Which items it shows and which participants it admits."""
        return f"{ITEMS[self.items]}; for {PARTICIPANTS[self.participants]}"


def list_rounds(design: Design, experiment: Experiment) -> list[Round]:
    """Return all rounds; the first is the design itself, with the study's limits."""
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


def current_round(experiment: Experiment) -> Round:
    """Return the round that takes participants; its limits default to those of the study."""
    number = experiment.current_round
    design = Design.objects.filter(experiment=experiment).first() if number > 1 else None
    stored = design.rounds[number - 2] if design and len(design.rounds) > number - 2 else {}
    round_ = (
        _round(_check_row(stored, number), number) if stored else Round(number=number, participants="any")
    )
    return replace(
        round_,
        target_judgments=_or(round_.target_judgments, experiment.target_judgments),
        max_participants=_or(round_.max_participants, experiment.max_participants),
    )


def check_round(experiment: Experiment, number: int) -> None:
    """Raise :class:`BadInput` for a round that the study does not have."""
    numbers = round_numbers(experiment)
    if number not in numbers:
        existing = "one round" if len(numbers) == 1 else f"rounds {numbers[0]} to {numbers[-1]}"
        raise BadInput(
            f"there is no round {number}.", column="round", remedy=f"{experiment.slug} has {existing}."
        )


def round_numbers(experiment: Experiment) -> list[int]:
    """Return the numbers of the rounds that have lists; imported judgments belong to round 1."""
    lists = PresentationList.objects.filter(experiment=experiment, version__is_preview=False).order_by()
    return sorted({1, *lists.values_list("round", flat=True).distinct()})


def _or(value: int | None, default: int | None) -> int | None:
    return default if value is None else value


def checked_rounds(rows: Any) -> list[dict[str, Any]]:
    """Validate stored rounds and fill in all fields; the error names the first invalid round."""
    if not isinstance(rows, Sequence) or isinstance(rows, str):
        raise BadInput("rounds have to be a list of objects.", remedy='Write [{"kind": "sample", …}].')
    if len(rows) > MOST_ROUNDS:
        raise BadInput(f"there are {len(rows)} further rounds.", remedy=f"Take at most {MOST_ROUNDS}.")
    return [_check_row(row, number) for number, row in enumerate(rows, start=2)]


def _check_row(row: Any, number: int) -> dict[str, Any]:
    defaults = {field.name: field.default for field in fields(Round)}
    if not isinstance(row, Mapping):
        raise BadInput(f"round {number} is not an object.", remedy='Write {"kind": "sample", …}.')
    if unknown := sorted(set(row) - set(defaults)):
        raise BadInput(
            f"round {number} has an unknown key {unknown[0]!r}.",
            remedy=f"There are: {', '.join(sorted(set(defaults) - {'number'}))}.",
        )
    values = {**defaults, **row, "number": number, "without": list(row.get("without") or [])}
    _choose(values, "kind", Design.Kind.values, number)
    _choose(values, "items", ITEMS, number)
    _choose(values, "participants", PARTICIPANTS, number)
    _count(values, "n_lists", number, most=MOST_LISTS)
    _count(values, "seed", number, least=0, most=2**63 - 1)
    for name, least in (("items_per_paradigm", 1), ("target_judgments", 0), ("max_participants", 1)):
        if values[name] is not None:
            _count(values, name, number, least=least)
    if not all(isinstance(name, str) for name in values["without"]):
        raise BadInput(f"round {number} excludes something that is not the name of a paradigm.")
    return values


def _choose(values: Mapping[str, Any], name: str, choices: Any, number: int) -> None:
    if values[name] not in list(choices):
        raise BadInput(
            f"round {number} has {name} {values[name]!r}.", remedy=f"Choose from {', '.join(choices)}."
        )


def _count(values: Mapping[str, Any], name: str, number: int, *, least: int = 1, most: int = MOST) -> None:
    value = values[name]
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise BadInput(
            f"round {number} has {name} {value!r}.", remedy=f"Write a whole number from {least} to {most}."
        )


def _round(row: Mapping[str, Any], number: int) -> Round:
    return Round(**{**row, "number": number, "without": tuple(row["without"])})


Showings = dict[tuple[str, int], dict[int, int]]


def count_showings(lists: Collection[int], *, unit: str = Experiment.TargetUnit.STIMULUS) -> Showings:
    """Return how often each list shows each of its target sentences and pairs, or each of their items."""
    showings: Showings = {}
    targets = PlannedTrial.objects.filter(list__in=lists, kind=TrialKind.TARGET).order_by()
    by_item = unit == Experiment.TargetUnit.ITEM
    columns = ("item",) if by_item else ("pair", "sentence")
    for column in columns:
        rows = targets.filter(**{f"{column}__isnull": False}).values_list(column, "list")
        for pk, list_id in rows.iterator():
            _count_showing(showings, (column, pk), list_id)
    sets = list(targets.filter(item__isnull=True).values_list("payload", "list"))
    members = {pk for payload, _ in sets for pk in payload.get("sentences", ())}
    items: dict[int, int] = {}
    if by_item and members:
        items = dict(Sentence.objects.filter(pk__in=members).values_list("pk", "item"))
    for payload, list_id in sets:
        for pk in payload.get("sentences", ()):
            key = ("item", items[pk]) if by_item else ("sentence", pk)
            _count_showing(showings, key, list_id)
    return showings


def fewest_showings(lists: QuerySet[PresentationList], *, unit: str) -> tuple[int, int]:
    """Return the number of lists, and how often they together show what they show least."""
    columns = ["item"] if unit == Experiment.TargetUnit.ITEM else ["pair", "sentence"]
    n_lists = lists.order_by().values("version").annotate(n=Count("pk")).values("n")
    targets = PlannedTrial.objects.filter(list__in=lists.values("pk"), kind=TrialKind.TARGET).order_by()
    counts = targets.values(*columns).annotate(n=Count("pk"), n_lists=Subquery(n_lists)).order_by("n")
    first = counts.first()
    if first is None:
        return 0, 0
    if all(first[column] is None for column in columns):  # sets: each of their members is shown
        showings = count_showings(list(lists.values_list("pk", flat=True)), unit=unit)
        return first["n_lists"], min(sum(times.values()) for times in showings.values())
    return first["n_lists"], first["n"]


def _count_showing(showings: Showings, key: tuple[str, int], list_id: int) -> None:
    counts = showings.setdefault(key, {})
    counts[list_id] = counts.get(list_id, 0) + 1
