"""A design becomes stored lists, frozen when the study opens.

Practice, anchor and catch trials are written in the study itself, as JSON lists of

- ``{"options": [{"text": "..."}, {"text": "..."}], "correct": 0}`` where the task shows pairs:
  ``correct`` is the place of the intended option in this list, whichever side it is shown on;
- the same with three to six options where it shows sets, ``correct`` being the place of the best;
- ``{"text": "...", "correct": 7}`` (or ``"correct": [6, 7]``, lowest and highest right answer) where it
  shows sentences;

each with an optional ``"feedback"``. Practice and anchors may go without ``correct``; catch trials may not.
A planned trial carries as ``payload`` what a session shows: ``good`` and ``bad``, ``sentence``, or of a set
the ids of its ``sentences`` or the texts of a ``set`` written in the study.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from django.db import transaction

from analysis.errors import BadInput
from experiments.design.ordering import TARGET, OrderRules
from experiments.design.plan import DesignSpec, Extras
from experiments.design.rounds import RoundSpec, planned_rounds
from experiments.design.trials import PlannedTrial as PlannedPlace
from experiments.design.trials import Stimulus
from experiments.extras import CHECK, checked_trials
from experiments.materials.markup import COLUMN
from experiments.models import (
    Design,
    Experiment,
    ExperimentVersion,
    MinimalPair,
    PlannedTrial,
    PresentationList,
    Sentence,
    TrialKind,
)
from experiments.rounds import Round, rounds_of
from experiments.stimuli import fillers_of, one_condition_each, targets_of
from judgments.tasks.registry import get_task

LONGEST_LIST = 2000


def order_rules(constraints: dict[str, Any]) -> OrderRules | None:
    """Read a design's constraints; None (the usual rules) when there are none."""
    known = {"no_adjacent", "min_distance", "longest_run", "fillers_between"}
    if unknown := sorted(set(constraints) - known):
        raise BadInput(
            f"unknown order constraint {unknown[0]!r}.", remedy=f"There are: {', '.join(sorted(known))}."
        )
    if not constraints:
        return None
    apart = dict.fromkeys(constraints.get("no_adjacent", []), 2)
    for name, distance in constraints.get("min_distance", {}).items():
        apart[name] = max(apart.get(name, 0), _whole(distance, "min_distance"))
    longest = {name: _whole(most, "longest_run") for name, most in constraints.get("longest_run", {}).items()}
    attributes = {"paradigm", "condition", "item", "kind"}
    if wrong := sorted({*apart, *longest} - attributes):
        raise BadInput(
            f"order cannot be constrained by {wrong[0]!r}.",
            remedy=f"Choose from {', '.join(sorted(attributes))}.",
        )
    if between := _whole(constraints.get("fillers_between", 0), "fillers_between", least=0):
        apart[TARGET] = between + 1
    return OrderRules(apart=apart, longest_run=longest)


def _whole(given: Any, name: str, *, least: int = 1) -> int:
    if not isinstance(given, int) or isinstance(given, bool) or not least <= given <= LONGEST_LIST:
        raise BadInput(f"{name} is {given!r}.", remedy=f"Write a whole number from {least} on.")
    return given


def design_of(experiment: Experiment) -> Design:
    """The study's design; the default one, not yet stored, when none was chosen."""
    return Design.objects.filter(experiment=experiment).first() or Design(experiment=experiment)


def design_spec(
    experiment: Experiment, design: Design, one: Round, targets: Sequence[Stimulus]
) -> DesignSpec:
    """What the pure planner needs for one round, from a stored design."""
    task = get_task(experiment.task)
    pairs, settings = task.shows == "pair", task.settings(experiment.parameters)
    sampled = one.kind in Design.Kind.sampling()
    if sampled and task.shows == "set":
        raise BadInput("sets are made of all sentences.", remedy="Choose another scheme than a sample.")
    if sampled and not one.items_per_paradigm:
        raise BadInput(
            "a sample design needs the number of items per paradigm.", remedy="Set items_per_paradigm."
        )
    per_block = _lists_per_block(targets, pairs=pairs) if sampled else None
    n_decks = 1
    if one.kind == Design.Kind.PARADIGM:
        n_decks = len({stimulus.paradigm for stimulus in targets} - set(one.without)) or 1
    if per_block and one.n_lists % (per_block * n_decks):
        raise BadInput(
            f"{one.n_lists} lists cannot balance this design.",
            remedy=f"Take a multiple of {per_block * n_decks}.",
        )
    return DesignSpec(
        forced_choice=pairs,
        complete=one.kind == Design.Kind.ALL,
        set_size=settings["size"] if task.shows == "set" else 0,
        showings=settings["showings"] if task.shows == "set" else 0,
        per_paradigm=one.items_per_paradigm if sampled else None,
        one_paradigm=one.kind == Design.Kind.PARADIGM,
        n_blocks=one.n_lists // (per_block * n_decks) if per_block else None,
        n_lists=per_block or one.n_lists,
        filler_ratio=design.filler_ratio,
        anchors_in_order=design.anchor_order == Design.AnchorOrder.FIXED,
        rules=order_rules(design.constraints),
        seed=one.seed,
    )


def _lists_per_block(targets: Sequence[Stimulus], *, pairs: bool) -> int:
    """Smallest balanced number of lists: the conditions of an item, times two sides for pairs."""
    most = max(Counter(one.item for one in targets).values(), default=1)
    return 2 * most if pairs else most


def checked_extras(experiment: Experiment) -> dict[str, list[dict[str, Any]]]:
    """Practice, anchor and catch trials as written, options marked as expected or not."""
    task = get_task(experiment.task)
    written = {
        "practice": experiment.practice,
        "anchor": experiment.anchors,
        "catch": experiment.catch_trials,
    }
    return {
        kind: [_marked(entry) for entry in checked_trials(entries, task=task, kind=kind)]
        for kind, entries in written.items()
    }


def _marked(entry: dict[str, Any]) -> dict[str, Any]:
    if "options" not in entry:
        return entry
    expected = entry.get("correct") or 0
    options = [{**one, "expected": place == expected} for place, one in enumerate(entry["options"])]
    return {**entry, "options": options}


def payload_of(entry: dict[str, Any]) -> dict[str, Any]:
    """What a session shows: ``good`` and ``bad``, or ``sentence`` with the range of right answers."""
    kept = {name: entry[name] for name in ("feedback", "language", COLUMN, CHECK) if entry.get(name)}
    if len(entry.get("options", ())) > 2:
        return {**kept, "set": [one["text"] for one in entry["options"]], "correct": entry.get("correct")}
    if "options" in entry:
        good, bad = sorted(entry["options"], key=lambda one: not one["expected"])
        if entry.get("correct") is None:
            kept["open"] = True  # either answer is as good
        return {**kept, "good": good["text"], "bad": bad["text"]}
    if (correct := entry.get("correct")) is not None:
        kept["correct"] = correct if isinstance(correct, list) else [correct, correct]
    return {**kept, "sentence": entry["text"]}


def planned(experiment: Experiment) -> list[list[PlannedPlace]]:
    """The lists the design makes now, of every round, without storing them."""
    return [one for lists in planned_by_round(experiment) for one in lists]


def planned_by_round(experiment: Experiment) -> list[list[list[PlannedPlace]]]:
    """The lists the design makes now, round by round, without storing them."""
    targets, design, entries = targets_of(experiment), design_of(experiment), checked_extras(experiment)
    if get_task(experiment.task).shows == "sentence" and any(not one.condition for one in targets):
        targets = one_condition_each(targets)
    rounds = [
        RoundSpec(design_spec(experiment, design, one, targets), items=one.items, without=one.without)
        for one in rounds_of(design, experiment)
    ]
    n_items = len({one.item for one in targets})
    if n_items > LONGEST_LIST and any(one.spec.per_paradigm is None for one in rounds):
        raise BadInput(
            f"a list would have more than {LONGEST_LIST} trials.",
            remedy="Choose a sample of items per paradigm.",
        )
    n_catch = design.catch_per_list or len(entries["catch"])
    extras = {
        kind: [Stimulus(str(place), f"{kind}:{place}") for place in range(len(listed))]
        for kind, listed in entries.items()
    }
    return planned_rounds(
        targets,
        rounds,
        extras=Extras(
            fillers=fillers_of(experiment, design),
            catch=extras["catch"][:n_catch],
            practice=extras["practice"],
            anchors=extras["anchor"],
        ),
    )


@transaction.atomic
def make_lists(version: ExperimentVersion) -> list[PresentationList]:
    """Store the lists of a frozen version; asked again, give the same ones."""
    if stored := list(version.lists.all()):
        return stored
    experiment = version.experiment
    per_block = design_of(experiment).trials_per_block or 50
    made = []
    for round_number, lists in enumerate(planned_by_round(experiment), start=1):
        for number, places in enumerate(lists, start=1):
            one = PresentationList.objects.create(
                experiment=experiment,
                version=version,
                label=label_of(number, round_number),
                round=round_number,
                n_trials=len(places),
            )
            PlannedTrial.objects.bulk_create(_rows(one, places, per_block=per_block), batch_size=1000)
            made.append(one)
    return made


def label_of(number: int, round_number: int) -> str:
    """Name of a list: its number, in further rounds after that of the round."""
    return str(number) if round_number == 1 else f"R{round_number}-{number}"


def _rows(one: PresentationList, places: Sequence[PlannedPlace], *, per_block: int) -> list[PlannedTrial]:
    """Rows of one list; practice and anchors belong to the first block."""
    experiment = one.experiment
    shows = get_task(experiment.task).shows
    entries = checked_extras(experiment)
    items = _items(experiment, places)
    lead = sum(place.kind in (TrialKind.PRACTICE, TrialKind.ANCHOR) for place in places)
    rows = []
    for place in places:
        content: dict[str, Any] = {}
        if place.kind in entries:
            content["payload"] = payload_of(entries[place.kind][int(place.key)])
        elif shows == "set":
            content["payload"] = {"sentences": [int(key) for key in place.key.split(",")]}
        else:
            content["pair_id" if shows == "pair" else "sentence_id"] = int(place.key)
            content["item_id"] = items[int(place.key)]
        block = 1 + max(0, place.position - lead - 1) // per_block
        rows.append(
            PlannedTrial(
                list=one,
                position=place.position,
                kind=place.kind,
                block=block,
                expected_first=place.expected_first,
                **content,
            )
        )
    return rows


def _items(experiment: Experiment, places: Sequence[PlannedPlace]) -> dict[int, int]:
    """Item of each pair or sentence in a list."""
    if get_task(experiment.task).shows == "set":
        return {}
    keys = [int(place.key) for place in places if place.kind in (TrialKind.TARGET, TrialKind.FILLER)]
    if get_task(experiment.task).shows == "pair":
        return dict(MinimalPair.objects.filter(pk__in=keys).values_list("pk", "good__item"))
    return dict(Sentence.objects.filter(pk__in=keys).values_list("pk", "item"))
