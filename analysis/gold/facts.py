"""What the texts of a release state, and the words that they share."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

TASK_WORDS = {
    "forced_choice": "two-alternative forced choice between the members of a minimal pair",
    "yes_no": "a yes-no judgment of acceptability",
    "likert": "a rating on a labelled scale",
    "magnitude_estimation": "magnitude estimation against a reference sentence",
    "slider": "a rating on a slider",
    "best_worst": "best-worst scaling of small sets of sentences",
}


@dataclass(frozen=True)
class Facts:
    """Everything the texts of a release state."""

    slug: str
    title: str
    task: str
    language: str
    code_version: str
    seed: int
    exclusions: str
    ties: str
    n_min: int
    description: str = ""
    licence: str = ""
    source: str = ""
    materials: str = ""
    rule: str = ""
    first_answer: str = ""
    last_answer: str = ""
    counts: dict[str, int] = field(default_factory=dict)
    """Participants, judgments (both also kept), sessions, sentences, pairs, discarded pairs."""
    flow: Sequence[dict[str, Any]] = ()
    agreement: dict[str, Any] | None = None
    """The block over all paradigms, and the block over included ones."""
    undecided: str = ""
    """How often both and neither were answered, and how they count."""
    n_simulated: int = 0
    """Participants who were no people."""

    @property
    def is_simulated(self) -> bool:
        """Whether all participants were simulated."""
        return 0 < self.n_simulated >= self.counts.get("participants", 0)

    @property
    def people(self) -> str:
        """How many took part, in words."""
        n = f"{self.counts.get('participants', 0):,}"
        if self.is_simulated:
            return f"{n} simulated participants"
        return f"{n} participants" + (
            f" ({self.n_simulated:,} of them simulated)" if self.n_simulated else ""
        )

    @property
    def left_out(self) -> str:
        """What was excluded, in a sentence."""
        counts = self.counts
        if not self.exclusions:
            return "No judgment was excluded."
        gone = counts.get("judgments", 0) - counts.get("judgments_kept", 0)
        return (
            f"Exclusions followed {self.exclusions}; they removed {gone:,} judgments and left "
            f"{counts.get('judgments_kept', 0):,} of {counts.get('participants_kept', 0):,} participants."
        )
