"""Scores of a language model for simulated participants that answer like the model.

Scores come from a file (``sentence_id`` and a column per model) or from a stored run.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from analysis.errors import BadInput, UnknownName
from analysis.scoring.model_uri import ModelURI
from analysis.scoring.scorers.tables import TableScorer
from experiments.models import Experiment, MaterialSet
from judgments.simulation import stored_runs

SURE = 3.0  # logits for a difference of one standard deviation: such pairs go the model's way 95 times in 100


@dataclass(frozen=True)
class ModelScores:
    """Scores of every sentence of a study's materials, by sentence id."""

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


def read_scores(experiment: Experiment, source: str, *, column: str = "", sign: str = "") -> ModelScores:
    """Scores from a file or from the stored run of that name, one for every sentence of the study.

    ``sign`` is *lower* where lower values mean a better sentence, as in surprisal.
    """
    if not source:
        raise BadInput(
            "participants like a model need its scores.",
            remedy="Give --scores FILE (sentence_id and a column of scores) or the name of a stored run.",
        )
    materials = experiment.materials
    if materials is None:
        raise BadInput("the study has no materials.", remedy="Choose a material set.")
    if Path(source).exists():
        scores = _from_file(materials, source, {"column": column, "sign": sign})
    else:
        scores = _from_run(experiment, source)
    keys = list(materials.sentences.values_list("key", flat=True))
    values_of = {key: scores[key] for key in keys if np.isfinite(scores.get(key, np.nan))}
    if missing := [key for key in keys if key not in values_of]:
        raise BadInput(
            f"{len(missing)} of {len(keys)} sentences have no score, such as {missing[0]!r}.",
            file=source,
            remedy="Score every sentence of the study's materials.",
        )
    pairs = materials.pairs.values_list("good__key", "bad__key")
    differences = np.array([values_of[good] - values_of[bad] for good, bad in pairs])
    values = np.array(list(values_of.values()))
    size = float(np.sqrt(np.mean(differences**2))) if len(differences) else 0.0
    return ModelScores(values_of, float(values.mean()), float(values.std()) or 1.0, size or 1.0)


def _from_file(materials: MaterialSet, source: str, options: dict[str, str]) -> dict[str, float]:
    chosen = {name: value for name, value in options.items() if value}
    scorer = TableScorer(ModelURI("csv", source, chosen))
    rows = list(materials.sentences.values_list("key", "text"))
    scores = scorer.score([text for _, text in rows], ids=[key for key, _ in rows])
    return dict(zip([key for key, _ in rows], scores.logprob.tolist(), strict=True))


def _from_run(experiment: Experiment, source: str) -> dict[str, float]:
    names = [name for names_of, _ in stored_runs.offered for name in names_of(experiment)]
    if source not in names:
        raise UnknownName("score file or stored run", source, names)
    return next(look(experiment, source) for _, look in stored_runs.offered)
