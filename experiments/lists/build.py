"""Presentation lists from a study's design, stored when the study opens.

Practice, anchor and catch trials are written in the study itself, as JSON lists of

- ``{"options": [{"text": "..."}, {"text": "..."}], "correct": 0}`` where the task shows pairs:
  ``correct`` is the index of the intended option in this list, independent of the side it is shown on;
- the same with three to six options where it shows sets, ``correct`` being the index of the best;
- ``{"text": "...", "correct": 7}`` (or ``"correct": [6, 7]``, lowest and highest right answer) where it
  shows sentences;

each with an optional ``"feedback"``. Only catch trials require ``correct``. The ``payload`` of a
planned trial holds what a session shows: ``good`` and ``bad``, ``sentence``, or for a set the ids of its
``sentences`` or the texts of a ``set`` written in the study.
"""

from collections import Counter
from collections.abc import Sequence
from math import lcm
from typing import Any, cast

from django.db import transaction
from django.db.models import QuerySet

from analysis.errors import BadInput
from experiments.design.ordering import TARGET, OrderRules
from experiments.design.plan import DesignSpec, Extras
from experiments.design.rounds import RoundSpec, planned_rounds
from experiments.design.trials import PlannedTrial as DesignTrial
from experiments.design.trials import Stimulus, by_paradigm
from experiments.lists.extra_trials import CHECK, checked_trials
from experiments.lists.rounds import Round, list_rounds
from experiments.materials.markup import COLUMN
from experiments.materials.schema import CONTEXT
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
from experiments.tasks.registry import get_task


def target_rows(experiment: Experiment) -> "QuerySet[MinimalPair] | QuerySet[Sentence]":
    """Return the pairs or sentences that a study may show.

    Discarded pairs, fillers and the items that the researcher left out are not among them.
    """
    if experiment.materials is None:
        raise BadInput("the study has no materials.", remedy="Choose a material set.")
    keys = items_left_out(experiment)
    if get_task(experiment.task).shows == "pair":
        pairs = experiment.materials.pairs.filter(discard=False)
        return pairs.exclude(good__item__key__in=keys) if keys else pairs
    sentences = experiment.materials.sentences.filter(is_filler=False)
    return sentences.exclude(item__key__in=keys) if keys else sentences


def items_left_out(experiment: Experiment) -> list[str]:
    """Return the items that the researcher left out of the study's lists, for any reason."""
    stored = get_design(experiment).left_out_items(experiment.materials)
    return sorted({key for keys in stored.values() for key in keys})


def target_stimuli(experiment: Experiment) -> list[Stimulus]:
    """Return the study's pairs or sentences as stimuli."""
    return _stimuli(target_rows(experiment))


def dealt_targets(experiment: Experiment) -> list[Stimulus]:
    """Return the targets as lists deal them: sentences without a condition are items of their own."""
    targets = target_stimuli(experiment)
    if get_task(experiment.task).shows == "sentence" and any(not target.condition for target in targets):
        return _with_own_items(targets)
    return targets


def filler_rows(experiment: Experiment, design: Design) -> "QuerySet[MinimalPair] | QuerySet[Sentence]":
    """Return the pairs or sentences of the filler set, without discarded pairs and items left out."""
    keys = sorted({key for keys in design.fillers_left_out.values() for key in keys})
    if get_task(experiment.task).shows == "pair":
        pairs = MinimalPair.objects.filter(material_set=design.filler_materials_id, discard=False)
        return pairs.exclude(good__item__key__in=keys) if keys else pairs
    sentences = Sentence.objects.filter(material_set=design.filler_materials_id)
    return sentences.exclude(item__key__in=keys) if keys else sentences


def _stimuli(rows: "QuerySet[MinimalPair] | QuerySet[Sentence]") -> list[Stimulus]:
    if rows.model is MinimalPair:
        pairs = rows.select_related("good__item", "bad", "paradigm")
        return [
            Stimulus(
                str(pair.pk),
                pair.good.item.key,
                f"{pair.good.condition}|{pair.bad.condition}",
                pair.paradigm.name if pair.paradigm else "",
            )
            for pair in pairs
        ]
    sentences = cast("QuerySet[Sentence]", rows).select_related("item__paradigm")
    return [
        Stimulus(
            str(sentence.pk),
            sentence.item.key,
            sentence.condition,
            sentence.item.paradigm.name if sentence.item.paradigm else "",
        )
        for sentence in sentences
    ]


def filler_stimuli(experiment: Experiment, design: Design) -> list[Stimulus]:
    """Return the fillers as stimuli without paradigm and condition, which order rules ignore.

    They are those of the study's own materials, then those of the chosen set.
    """
    shows = get_task(experiment.task).shows
    fillers: list[Stimulus] = []
    if experiment.materials is not None and shows == "sentence":
        sentences = experiment.materials.sentences.filter(is_filler=True)
        fillers = _stimuli(sentences.exclude(item__key__in=items_left_out(experiment)))
    fillers = [Stimulus(stimulus.key, f"filler:{stimulus.key}") for stimulus in fillers]
    if design.filler_materials is None:
        return fillers
    if design.filler_materials_id == experiment.materials_id:
        raise BadInput(
            "the fillers are the study's own materials.", remedy="Choose another material set for fillers."
        )
    if shows == "set":
        raise BadInput("best–worst scaling has no fillers.", remedy="Remove the fillers.")
    stimuli = _stimuli(filler_rows(experiment, design))
    if not stimuli:
        raise BadInput(
            f"the fillers in {design.filler_materials.name!r} have no {shows}s.",
            remedy="Choose a set that the task can show.",
        )
    return [*fillers, *(Stimulus(stimulus.key, f"filler:{stimulus.key}") for stimulus in stimuli)]


def _with_own_items(targets: Sequence[Stimulus]) -> list[Stimulus]:
    """Make each sentence without a condition its own item, so that every list may show all of them."""
    return [
        target
        if target.condition
        else Stimulus(target.key, f"{target.item}/{target.key}", "", target.paradigm)
        for target in targets
    ]


LONGEST_LIST = 2000  # trials


def order_rules(constraints: dict[str, Any]) -> OrderRules | None:
    """Parse a design's constraints; None (the default rules) if there are none."""
    names = {"no_adjacent", "min_distance", "longest_run", "fillers_between"}
    if unknown := sorted(set(constraints) - names):
        raise BadInput(
            f"unknown order constraint {unknown[0]!r}.", remedy=f"There are: {', '.join(sorted(names))}."
        )
    if not constraints:
        return None
    apart = dict.fromkeys(constraints.get("no_adjacent", []), 2)
    for name, distance in constraints.get("min_distance", {}).items():
        apart[name] = max(apart.get(name, 0), _whole_number(distance, "min_distance"))
    longest = {
        name: _whole_number(limit, "longest_run")
        for name, limit in constraints.get("longest_run", {}).items()
    }
    attributes = {"paradigm", "condition", "item", "kind"}
    if invalid := sorted({*apart, *longest} - attributes):
        raise BadInput(
            f"order cannot be constrained by {invalid[0]!r}.",
            remedy=f"Choose from {', '.join(sorted(attributes))}.",
        )
    if between := _whole_number(constraints.get("fillers_between", 0), "fillers_between", least=0):
        apart[TARGET] = between + 1
    return OrderRules(apart=apart, longest_run=longest)


def _whole_number(value: Any, name: str, *, least: int = 1) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= LONGEST_LIST:
        raise BadInput(f"{name} is {value!r}.", remedy=f"Write a whole number, at least {least}.")
    return value


def get_design(experiment: Experiment) -> Design:
    """Return the study's design, or an unsaved default design."""
    return Design.objects.filter(experiment=experiment).first() or Design(experiment=experiment)


def design_spec(
    experiment: Experiment, design: Design, round_: Round, targets: Sequence[Stimulus]
) -> DesignSpec:
    """Return the specification of one round from a stored design."""
    task = get_task(experiment.task)
    pairs, settings = task.shows == "pair", task.settings(experiment.parameters)
    sampled, split = round_.kind in Design.Kind.sampling(), round_.kind == Design.Kind.SPLIT
    if (sampled or split) and task.shows == "set":
        raise BadInput(
            "best–worst scaling shows all sentences.", remedy="Choose a scheme other than a sample or split."
        )
    if sampled and not round_.items_per_paradigm:
        raise BadInput(
            "a sample design needs the number of items per paradigm.", remedy="Set items_per_paradigm."
        )
    per_block = lists_per_block(targets, pairs=pairs) if sampled or split else None
    n_decks = 1
    if round_.kind == Design.Kind.PARADIGM:
        n_decks = len({stimulus.paradigm for stimulus in targets} - set(round_.without)) or 1
    if per_block and round_.n_lists % (per_block * n_decks):
        raise BadInput(
            f"{round_.n_lists} lists cannot balance this design.",
            remedy=f"Take a multiple of {per_block * n_decks}.",
        )
    return DesignSpec(
        forced_choice=pairs,
        complete=round_.kind == Design.Kind.ALL,
        set_size=settings["size"] if task.shows == "set" else 0,
        showings=settings["showings"] if task.shows == "set" else 0,
        per_paradigm=round_.items_per_paradigm if sampled else None,
        one_paradigm=round_.kind == Design.Kind.PARADIGM,
        split=split,
        n_blocks=round_.n_lists // (per_block * n_decks) if per_block else None,
        n_lists=per_block or round_.n_lists,
        filler_ratio=design.filler_ratio,
        anchors_in_order=design.anchor_order == Design.AnchorOrder.FIXED,
        rules=order_rules(design.constraints),
        seed=round_.seed,
    )


def lists_per_block(targets: Sequence[Stimulus], *, pairs: bool) -> int:
    """Return the smallest balanced number of lists: conditions per item, times two sides for pairs."""
    n_conditions = (
        max(Counter(target.item for target in members).values()) for members in by_paradigm(targets).values()
    )
    return lcm(*n_conditions) * (2 if pairs else 1)


def checked_extras(experiment: Experiment) -> dict[str, list[dict[str, Any]]]:
    """Return validated practice, anchor and catch trials, their options marked as expected or not."""
    task = get_task(experiment.task)
    entries_of = {
        "practice": experiment.practice,
        "anchor": experiment.anchors,
        "catch": experiment.catch_trials,
    }
    return {
        kind: [_with_expected(entry) for entry in checked_trials(entries, task=task, kind=kind)]
        for kind, entries in entries_of.items()
    }


def _with_expected(entry: dict[str, Any]) -> dict[str, Any]:
    """Mark the options of an entry as expected or not."""
    if "options" not in entry:
        return entry
    expected = entry.get("correct") or 0
    options = [{**option, "expected": index == expected} for index, option in enumerate(entry["options"])]
    return {**entry, "options": options}


def trial_payload(entry: dict[str, Any]) -> dict[str, Any]:
    """Return what a session shows: ``good`` and ``bad``, or ``sentence`` with the range of right answers."""
    payload = {
        name: entry[name] for name in ("feedback", "language", COLUMN, CHECK, CONTEXT) if entry.get(name)
    }
    if len(entry.get("options", ())) > 2:
        return {
            **payload,
            "set": [option["text"] for option in entry["options"]],
            "correct": entry.get("correct"),
        }
    if "options" in entry:
        good, bad = sorted(entry["options"], key=lambda option: not option["expected"])
        if entry.get("correct") is None:
            payload["open"] = True  # no right answer
        return {**payload, "good": good["text"], "bad": bad["text"]}
    if (correct := entry.get("correct")) is not None:
        payload["correct"] = correct if isinstance(correct, list) else [correct, correct]
    return {**payload, "sentence": entry["text"]}


def current_lists(experiment: Experiment) -> list[list[DesignTrial]]:
    """Return the lists of the current design, of all rounds, without storing them."""
    return [trials for lists in lists_by_round(experiment) for trials in lists]


def lists_by_round(experiment: Experiment) -> list[list[list[DesignTrial]]]:
    """Return the lists of the current design for each round, without storing them."""
    design, entries = get_design(experiment), checked_extras(experiment)
    targets = dealt_targets(experiment)
    rounds = [
        RoundSpec(
            design_spec(experiment, design, round_, targets), items=round_.items, without=round_.without
        )
        for round_ in list_rounds(design, experiment)
    ]
    n_items = len({target.item for target in targets})
    schemes = [round_.spec for round_ in rounds if round_.spec.per_paradigm is None]
    if any(n_items > LONGEST_LIST * (spec.n_blocks or 1) for spec in schemes):
        raise BadInput(
            f"a list would have more than {LONGEST_LIST} trials.",
            remedy="Split the items over more lists, or choose a sample of items per paradigm.",
        )
    n_catch = design.catch_per_list or len(entries["catch"])
    extras = {
        kind: [Stimulus(str(index), f"{kind}:{index}") for index in range(len(listed))]
        for kind, listed in entries.items()
    }
    return planned_rounds(
        targets,
        rounds,
        extras=Extras(
            fillers=filler_stimuli(experiment, design),
            catch=extras["catch"][:n_catch],
            practice=extras["practice"],
            anchors=extras["anchor"],
        ),
    )


@transaction.atomic
def make_lists(version: ExperimentVersion) -> list[PresentationList]:
    """Store the lists of a frozen version, or return them if they are already stored."""
    if stored := list(version.lists.all()):
        return stored
    experiment = version.experiment
    per_block = get_design(experiment).trials_per_block or 50
    created = []
    for round_number, lists in enumerate(lists_by_round(experiment), start=1):
        for number, trials in enumerate(lists, start=1):
            presentation_list = PresentationList.objects.create(
                experiment=experiment,
                version=version,
                label=list_label(number, round_number),
                round=round_number,
                n_trials=len(trials),
            )
            PlannedTrial.objects.bulk_create(
                _rows(presentation_list, trials, per_block=per_block), batch_size=1000
            )
            created.append(presentation_list)
    return created


def list_label(number: int, round_number: int) -> str:
    """Return the label of a list: its number, in further rounds preceded by that of the round."""
    return str(number) if round_number == 1 else f"R{round_number}-{number}"


def _rows(
    presentation_list: PresentationList, trials: Sequence[DesignTrial], *, per_block: int
) -> list[PlannedTrial]:
    """Return the rows of one list; practice and anchors belong to the first block."""
    experiment = presentation_list.experiment
    shows = get_task(experiment.task).shows
    entries = checked_extras(experiment)
    items = _items(experiment, trials)
    lead = sum(trial.kind in (TrialKind.PRACTICE, TrialKind.ANCHOR) for trial in trials)
    rows = []
    for trial in trials:
        content: dict[str, Any] = {}
        if trial.kind in entries:
            content["payload"] = trial_payload(entries[trial.kind][int(trial.key)])
        elif shows == "set":
            content["payload"] = {"sentences": [int(key) for key in trial.key.split(",")]}
        else:
            content["pair_id" if shows == "pair" else "sentence_id"] = int(trial.key)
            content["item_id"] = items[int(trial.key)]
        block = 1 + max(0, trial.position - lead - 1) // per_block
        rows.append(
            PlannedTrial(
                list=presentation_list,
                position=trial.position,
                kind=trial.kind,
                block=block,
                expected_first=trial.expected_first,
                **content,
            )
        )
    return rows


def _items(experiment: Experiment, trials: Sequence[DesignTrial]) -> dict[int, int]:
    """Return the item of each pair or sentence in a list."""
    if get_task(experiment.task).shows == "set":
        return {}
    keys = [int(trial.key) for trial in trials if trial.kind in (TrialKind.TARGET, TrialKind.FILLER)]
    if get_task(experiment.task).shows == "pair":
        return dict(MinimalPair.objects.filter(pk__in=keys).values_list("pk", "good__item"))
    return dict(Sentence.objects.filter(pk__in=keys).values_list("pk", "item"))
