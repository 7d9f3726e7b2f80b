"""The lists of a study with their balance, round by round, for page, API and command.

The lists are computed from the current design; opening the study stores the same lists.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from analysis.text import plural
from experiments.design.proof import Claim, ListCounts, claims, list_counts
from experiments.design.trials import PlannedTrial
from experiments.design.tuples import member_keys
from experiments.lists.build import get_design, list_label, lists_by_round, target_rows, target_stimuli
from experiments.lists.rounds import Round, list_rounds
from experiments.models import Design, Experiment
from experiments.tasks.registry import get_task

Lists = Sequence[Sequence[PlannedTrial]]


@dataclass(frozen=True)
class RoundProof:
    """One round: its lists by label, their counts and the claims about them."""

    round: Round
    lists: Mapping[str, Sequence[PlannedTrial]]
    counts: dict[str, ListCounts]
    claims: tuple[Claim, ...]

    @property
    def holds(self) -> bool:
        """Whether all claims hold."""
        return all(claim.holds for claim in self.claims)


@dataclass(frozen=True)
class Coverage:
    """Share of a study's sentences or pairs that its lists show."""

    n_shown: int
    n_all: int
    noun: str
    n_lists: int

    @property
    def is_whole(self) -> bool:
        """Whether the lists show all of them."""
        return self.n_shown == self.n_all

    @property
    def percent(self) -> float:
        """Share of the materials that the lists show, in percent."""
        return 100 * self.n_shown / self.n_all if self.n_all else 0.0

    @property
    def sentence(self) -> str:
        """The coverage in words."""
        count_text = f"{self.n_shown:,} of {self.n_all:,} {self.noun}s"
        if self.is_whole:
            return f"{count_text} are shown, over {plural(self.n_lists, 'list')}."
        n_never = self.n_all - self.n_shown
        return (
            f"{count_text} ({_percent(self.percent)}) are shown, over {plural(self.n_lists, 'list')}: "
            f"{n_never:,} ({_percent(100 - self.percent)}) never are. "
            "The scheme “split” shows all of them."
        )


def _percent(share: float) -> str:
    return f"{share:.0f} %" if 1 <= share <= 99 else f"{share:.1f} %"


def compute_coverage(study: Experiment, rounds: Sequence[RoundProof]) -> Coverage:
    """Return the share of the materials that the lists of all rounds show."""
    keys: set[str] = set()
    for proof in rounds:
        keys |= _keys(list(proof.lists.values()))
    noun = "pair" if get_task(study.task).shows == "pair" else "sentence"
    return Coverage(len(keys), target_rows(study).count(), noun, sum(len(proof.lists) for proof in rounds))


def proofs(study: Experiment) -> list[RoundProof]:
    """Return all rounds of the current design; raise BadInput where it makes no lists."""
    round_proofs: list[RoundProof] = []
    earlier: set[str] = set()
    items = {stimulus.key: stimulus.item for stimulus in target_stimuli(study)}
    for round_, planned in zip(list_rounds(get_design(study), study), lists_by_round(study), strict=True):
        # Sentences without a condition are dealt as own items; the proof is about the uploaded items.
        lists = [
            [replace(trial, item=items.get(trial.key, trial.item)) for trial in trials] for trials in planned
        ]
        by_label = {list_label(number, round_.number): trials for number, trials in enumerate(lists, start=1)}
        round_claims = [*claims(lists), *_repetition_claims(round_, lists, earlier)]
        counts = {label: list_counts(trials) for label, trials in by_label.items()}
        round_proofs.append(RoundProof(round_, by_label, counts, tuple(round_claims)))
        earlier |= _keys(lists)
    return round_proofs


def _keys(lists: Lists) -> set[str]:
    """Return the keys of the sentences or pairs that lists show as targets."""
    return {
        key for trials in lists for trial in trials if trial.kind == "target" for key in member_keys(trial)
    }


def _repetition_claims(round_: Round, lists: Lists, earlier: set[str]) -> list[Claim]:
    """Return the claims about what a further round shows again."""
    if round_.number == 1:
        return []
    repeated, keys = _keys(lists) & earlier, _keys(lists)
    if round_.items == "new":
        text = "No sentence or pair of an earlier round is shown again"
        return [Claim(text, not repeated, f"shown again: {len(repeated)} of {len(keys)}")]
    if round_.items == "same":
        text = "Every sentence or pair was shown in an earlier round"
        return [Claim(text, repeated == keys, f"shown again: {len(repeated)} of {len(keys)}")]
    return [
        Claim("Items of earlier rounds may come again", True, f"shown again: {len(repeated)} of {len(keys)}")
    ]


def design_document(study: Experiment) -> dict[str, Any]:
    """Return design, rounds, lists and claims as plain values, for JSON."""
    design, rounds = get_design(study), proofs(study)
    coverage = compute_coverage(study, rounds)
    return {
        "experiment": study.slug,
        "current_round": study.current_round,
        "design": _design_as_dict(design),
        "balanced": all(proof.holds for proof in rounds),
        "coverage": {"shown": coverage.n_shown, "all": coverage.n_all, "of": f"{coverage.noun}s"},
        "rounds": [
            {
                **proof.round.as_dict(),
                "claims": [asdict(claim) for claim in proof.claims],
                "lists": [{"list": label, **asdict(counts)} for label, counts in proof.counts.items()],
            }
            for proof in rounds
        ],
    }


def _design_as_dict(design: Design) -> dict[str, Any]:
    fillers = design.filler_materials
    return {
        "catch_per_list": design.catch_per_list,
        "trials_per_block": design.trials_per_block,
        "order": design.order,
        "constraints": design.constraints,
        "anchor_order": design.anchor_order,
        "fillers": fillers.slug if fillers else None,
        "filler_ratio": design.filler_ratio,
    }
