"""Proposals for large material sets: a split of all items over lists of a bearable length."""

from dataclasses import dataclass
from math import ceil

from experiments.lists.build import dealt_targets, filler_rows, get_design, lists_per_block
from experiments.lists.rounds import MOST_LISTS
from experiments.models import Design, Experiment
from experiments.studies.targets import LONG_MINUTES, minutes, participants_needed
from experiments.tasks.registry import get_task

LIST_SIZES = (100, 50, 25)  # items of a list
COMFORTABLE_MINUTES = 15


@dataclass(frozen=True)
class Proposal:
    """All items split over lists, and the participants that the target takes."""

    n_lists: int
    n_items: int
    participants: int
    minutes: int
    is_recommended: bool = False

    @property
    def hours(self) -> float:
        """Hours of all participants together."""
        return self.participants * self.minutes / 60


def proposals(study: Experiment) -> list[Proposal]:
    """Return splits that show every item; none for small sets and for sets of sentences.

    Notes
    -----
    The recommended one is the one with the longest sessions of at most :data:`COMFORTABLE_MINUTES`, because
    consent and instructions take the same time in each session.
    """
    task = get_task(study.task)
    if study.materials is None or task.shows == "set":
        return []
    targets = dealt_targets(study)
    n_items = len({target.item for target in targets})
    if n_items <= 2 * min(LIST_SIZES):
        return []
    per_block = lists_per_block(targets, pairs=task.shows == "pair")
    n_conditions = per_block // (2 if task.shows == "pair" else 1)
    n_around = _trials_around(study)
    splits = []
    for size in LIST_SIZES:
        n_blocks = ceil(n_items / size)
        if n_blocks < 2 or n_blocks * per_block > MOST_LISTS:
            continue
        n_each = ceil(n_items / n_blocks)
        n_participants = participants_needed(
            study.target_judgments, n_lists=n_blocks * per_block, fewest=per_block // n_conditions
        )
        n_minutes = minutes(study, n_trials=n_each + n_around)
        splits.append((n_blocks * per_block, n_each, n_participants, n_minutes))
    bearable = [split for split in splits if split[-1] <= COMFORTABLE_MINUTES] or splits[-1:]
    return [Proposal(*split, is_recommended=split == bearable[0]) for split in splits]


def _trials_around(study: Experiment) -> int:
    """Return the number of practice, anchor, catch and filler trials of a list."""
    design = get_design(study)
    n_catch = min(design.catch_per_list or len(study.catch_trials), len(study.catch_trials))
    n_fillers = 0
    if design.filler_materials is not None and design.filler_ratio is None:
        n_fillers = filler_rows(study, design).count()
    return len(study.practice) + len(study.anchors) + n_catch + n_fillers


def split_design(design: Design, proposal: Proposal) -> None:
    """Set the scheme of a proposal, without storing it."""
    design.kind, design.n_lists, design.items_per_paradigm = Design.Kind.SPLIT, proposal.n_lists, None


def propose_split(study: Experiment, design: Design) -> None:
    """Store a split for a new study where one list of all its items would take too long."""
    if study.materials is None:
        return
    n_items = study.materials.items.count()
    if minutes(study, n_trials=n_items) <= LONG_MINUTES:
        return
    for proposal in proposals(study):
        if proposal.is_recommended:
            split_design(design, proposal)
            design.save(update_fields=["kind", "n_lists", "items_per_paradigm"])
