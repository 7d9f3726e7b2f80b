"""What a study shows as the pure planner takes it: pairs and sentences as stimuli, and fillers."""

from collections.abc import Sequence

from analysis.errors import BadInput
from experiments.design.trials import Stimulus
from experiments.models import Design, Experiment, MaterialSet
from judgments.tasks.registry import get_task


def targets_of(experiment: Experiment) -> list[Stimulus]:
    """The study's pairs or sentences as stimuli; pairs marked as discarded are left out."""
    if experiment.materials is None:
        raise BadInput("the study has no materials.", remedy="Choose a material set.")
    return stimuli_of(experiment.materials, pairs=get_task(experiment.task).shows == "pair")


def stimuli_of(materials: MaterialSet, *, pairs: bool) -> list[Stimulus]:
    """A set's pairs or sentences as stimuli, in the order of its file."""
    if pairs:
        rows = materials.pairs.filter(discard=False).select_related("good__item", "bad", "paradigm")
        return [
            Stimulus(
                str(pair.pk),
                pair.good.item.key,
                f"{pair.good.condition}|{pair.bad.condition}",
                pair.paradigm.name if pair.paradigm else "",
            )
            for pair in rows
        ]
    sentences = materials.sentences.select_related("item__paradigm")
    return [
        Stimulus(
            str(one.pk), one.item.key, one.condition, one.item.paradigm.name if one.item.paradigm else ""
        )
        for one in sentences
    ]


def fillers_of(experiment: Experiment, design: Design) -> list[Stimulus]:
    """Fillers of a set of their own; the rules for paradigms and conditions leave them free."""
    if design.filler_materials is None:
        return []
    if design.filler_materials_id == experiment.materials_id:
        raise BadInput("the fillers are the study's own materials.", remedy="Choose a set of fillers.")
    shows = get_task(experiment.task).shows
    if shows == "set":
        raise BadInput("sets have no fillers.", remedy="Choose no fillers for best–worst scaling.")
    found = stimuli_of(design.filler_materials, pairs=shows == "pair")
    if not found:
        raise BadInput(
            f"the fillers in {design.filler_materials.name!r} have no {shows}s.",
            remedy="Choose a set that the task can show.",
        )
    return [Stimulus(one.key, f"filler:{one.key}") for one in found]


def one_condition_each(targets: Sequence[Stimulus]) -> list[Stimulus]:
    """Sentences without conditions are items of their own: every list may show all of them."""
    return [
        one if one.condition else Stimulus(one.key, f"{one.item}/{one.key}", "", one.paradigm)
        for one in targets
    ]
