"""Training metadata of scored models, entered at upload, for learning curves and filtered training."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd

from analysis.comparison.in_depth.models import FULL
from analysis.errors import BadInput
from releases.models import ScoringRun

KEY = "training"


@dataclass(frozen=True)
class Training:
    """Family of models, tokens of the training text, seed, and the corpus or its filter."""

    family: str = ""
    training_tokens: int | None = None
    seed: str = ""
    corpus: str = ""

    def __post_init__(self) -> None:
        """Validate the size of the training text."""
        if self.training_tokens is not None and self.training_tokens <= 0:
            raise BadInput(
                "a training text has at least one token.",
                column="training_tokens",
                remedy="Leave it empty where it is not known.",
            )

    def as_dict(self) -> dict[str, Any]:
        """Return the non-empty fields, as stored with the run."""
        return {name: value for name, value in asdict(self).items() if value not in ("", None)}


def read_training(run: ScoringRun) -> Training:
    """Return the training metadata stored in the run's spec."""
    return Training(**run.spec.get(KEY, {}))


def run_roster(runs: Sequence[ScoringRun], names: Sequence[str]) -> pd.DataFrame:
    """Return the models table of a comparison; ``names`` are the columns of their scores."""
    rows = []
    for run, model in zip(runs, names, strict=True):
        training = read_training(run)
        rows.append({
            "model": model, "name": run.name, "method": run.method, "family": training.family or run.name,
            "training_tokens": training.training_tokens, "seed": training.seed or None,
            "corpus": training.corpus or FULL,
        })  # fmt: skip
    return pd.DataFrame(rows)
