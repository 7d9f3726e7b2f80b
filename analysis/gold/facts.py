"""Facts about a release that its card and methods text state."""

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
    """Facts about a release that its texts state."""

    slug: str
    title: str
    task: str
    language: str
    code_version: str
    exclusions: str
    n_min: int
    description: str = ""
    licence: str = ""
    source: str = ""
    materials: str = ""
    first_answer: str = ""
    last_answer: str = ""
    counts: dict[str, int] = field(default_factory=dict)
    """Participants, judgments (both also kept), sessions, sentences, pairs, discarded pairs."""
    flow: Sequence[dict[str, Any]] = ()
    agreement: dict[str, Any] | None = None
    """The block over all paradigms, and the block over included ones."""
    undecided: str = ""
    """Number of answers "both" and "neither", and how they are counted."""
    authors: Sequence[tuple[str, str]] = ()
    """Family and given names; empty where the owner's account has none."""
    year: str = ""
    """Of the last answer, else of the study."""
    n_simulated: int = 0
    """Number of simulated participants."""
    n_timed_out: int = 0
    """Number of judgments without an answer at the study's deadline."""

    @property
    def is_simulated(self) -> bool:
        """Whether all participants were simulated."""
        return 0 < self.n_simulated >= self.counts.get("participants", 0)

    @property
    def left_out(self) -> str:
        """Sentence on what was excluded."""
        counts = self.counts
        if not self.exclusions:
            return "No judgment was excluded."
        n_removed = counts.get("judgments", 0) - counts.get("judgments_kept", 0)
        return (
            f"Exclusions followed {self.exclusions}; they removed {n_removed:,} judgments and left "
            f"{counts.get('judgments_kept', 0):,} of {counts.get('participants_kept', 0):,} participants."
        )
