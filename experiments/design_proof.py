"""The lists of a study with the proof that they are balanced, round by round: for page, API and command.

It is computed from what the design makes now; opening stores just these lists.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from experiments.design.proof import Claim, ListCounts, claims, list_counts
from experiments.design.trials import PlannedTrial
from experiments.design.tuples import members_of
from experiments.lists import design_of, label_of, planned_by_round
from experiments.models import Design, Experiment
from experiments.rounds import Round, rounds_of

Lists = Sequence[Sequence[PlannedTrial]]


@dataclass(frozen=True)
class RoundProof:
    """One round: its lists by name, what they hold and what they keep."""

    round: Round
    lists: dict[str, Sequence[PlannedTrial]]
    counts: dict[str, ListCounts]
    claims: tuple[Claim, ...]

    @property
    def holds(self) -> bool:
        """Whether every claim does."""
        return all(claim.holds for claim in self.claims)


def proofs(study: Experiment) -> list[RoundProof]:
    """Every round of the design as it is now; raises BadInput where it makes no lists."""
    found, shown = [], set()
    for one, lists in zip(rounds_of(design_of(study), study), planned_by_round(study), strict=True):
        named = {label_of(number, one.number): places for number, places in enumerate(lists, start=1)}
        said = [*claims(lists), *_beside_earlier(one, lists, shown)]
        counts = {label: list_counts(places) for label, places in named.items()}
        found.append(RoundProof(one, named, counts, tuple(said)))
        shown |= _keys(lists)
    return found


def _keys(lists: Lists) -> set[str]:
    return {key for one in lists for trial in one if trial.kind == "target" for key in members_of(trial)}


def _beside_earlier(one: Round, lists: Lists, shown: set[str]) -> list[Claim]:
    """What a further round shows again."""
    if one.number == 1:
        return []
    again, here = _keys(lists) & shown, _keys(lists)
    if one.items == "new":
        text = "No sentence or pair of an earlier round is shown again"
        return [Claim(text, not again, f"shown again: {len(again)} of {len(here)}")]
    if one.items == "same":
        text = "Every sentence or pair was shown in an earlier round"
        return [Claim(text, again == here, f"shown again: {len(again)} of {len(here)}")]
    return [
        Claim("Items of earlier rounds may come again", True, f"shown again: {len(again)} of {len(here)}")
    ]


def design_document(study: Experiment) -> dict[str, Any]:
    """Design, rounds, lists and proof as plain values."""
    design, rounds = design_of(study), proofs(study)
    return {
        "experiment": study.slug,
        "current_round": study.current_round,
        "design": _described(design),
        "balanced": all(one.holds for one in rounds),
        "rounds": [
            {
                **one.round.as_dict(),
                "claims": [asdict(claim) for claim in one.claims],
                "lists": [{"list": label, **asdict(counts)} for label, counts in one.counts.items()],
            }
            for one in rounds
        ],
    }


def _described(design: Design) -> dict[str, Any]:
    fillers = design.filler_materials
    return {
        "catch_per_list": design.catch_per_list,
        "trials_per_block": design.trials_per_block,
        "constraints": design.constraints,
        "anchor_order": design.anchor_order,
        "fillers": fillers.slug if fillers else None,
        "filler_ratio": design.filler_ratio,
    }
