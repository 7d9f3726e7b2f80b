"""Stored scores of runs by name, for simulated participants; imported at every start, without pandas."""

from experiments.models import Experiment
from releases.models import ScoringRun, SentenceScore, model_names


def names(study: Experiment) -> list[str]:
    """Return the names of the finished runs of a study, oldest first."""
    return model_names(_runs(study))


def scores(study: Experiment, name: str) -> dict[str, float]:
    """Return the scores of a run by its name, as a mapping from sentence ids."""
    runs = _runs(study)
    run = dict(zip(model_names(runs), runs, strict=True))[name]
    return dict(SentenceScore.objects.filter(run=run).values_list("sentence__key", "score"))


def _runs(study: Experiment) -> list[ScoringRun]:
    return list(ScoringRun.objects.of_study(study).done().order_by("pk"))
