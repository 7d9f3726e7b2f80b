"""Scores of a language model, for simulated participants who answer as the model would.

They come from a file (``sentence_id`` and a column per model) or from a stored run. Runs belong to the
concluding side, which offers them here when the program starts, so that this side need not know it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from analysis.errors import BadInput, UnknownName
from analysis.scoring.base import ScorerAddress
from analysis.scoring.tables import TableScorer
from experiments.models import Experiment

SURE = 3.0  # logits for a difference of one standard deviation: such pairs go the model's way 95 times in 100
Names = Callable[[Experiment], list[str]]
Look = Callable[[Experiment, str], dict[str, float]]
_stored: list[tuple[Names, Look]] = []


def offer_stored(names: Names, look: Look) -> None:
    """Tell where stored score sets are found: their names, and the scores of one by sentence id."""
    _stored[:] = [(names, look)]


@dataclass(frozen=True)
class ModelScores:
    """What a model thinks of every sentence of a study's materials, by sentence id."""

    values: Mapping[str, float]
    mean: float
    sd: float
    pair_sd: float

    def acceptability(self, key: str) -> float | None:
        """The score in standard deviations over all sentences; None for a sentence without one."""
        score = self.values.get(key)
        return None if score is None else (score - self.mean) / self.sd

    def preference(self, good: str, bad: str) -> float | None:
        """Logits for the good member, by sign and size of the difference; None without both scores."""
        if good not in self.values or bad not in self.values:
            return None
        return SURE * (self.values[good] - self.values[bad]) / self.pair_sd


def read_scores(experiment: Experiment, source: str, *, column: str = "") -> ModelScores:
    """Scores from a file or from the stored run of that name, one for every sentence of the study."""
    if not source:
        raise BadInput(
            "participants like a model need its scores.",
            remedy="Give --scores FILE (sentence_id and a column of scores) or the name of a stored run.",
        )
    if experiment.materials is None:
        raise BadInput("the study has no materials.", remedy="Choose a material set.")
    found = _from_file(experiment, source, column) if Path(source).exists() else _from_run(experiment, source)
    keys = list(experiment.materials.sentences.values_list("key", flat=True))
    known = {key: found[key] for key in keys if np.isfinite(found.get(key, np.nan))}
    if missing := [key for key in keys if key not in known]:
        raise BadInput(
            f"{len(missing)} of {len(keys)} sentences have no score, such as {missing[0]!r}.",
            file=source,
            remedy="Score every sentence of the study's materials.",
        )
    pairs = experiment.materials.pairs.values_list("good__key", "bad__key")
    differences = np.array([known[good] - known[bad] for good, bad in pairs])
    values = np.array(list(known.values()))
    size = float(np.sqrt(np.mean(differences**2))) if len(differences) else 0.0
    return ModelScores(known, float(values.mean()), float(values.std()) or 1.0, size or 1.0)


def _from_file(experiment: Experiment, source: str, column: str) -> dict[str, float]:
    scorer = TableScorer(ScorerAddress("csv", source, {"column": column} if column else {}))
    rows = list(experiment.materials.sentences.values_list("key", "text"))
    scores = scorer.score([text for _, text in rows], ids=[key for key, _ in rows])
    return dict(zip([key for key, _ in rows], scores.logprob.tolist(), strict=True))


def _from_run(experiment: Experiment, source: str) -> dict[str, float]:
    names = [name for known, _ in _stored for name in known(experiment)]
    if source not in names:
        raise UnknownName("score file or stored run", source, names)
    return next(look(experiment, source) for _, look in _stored)
