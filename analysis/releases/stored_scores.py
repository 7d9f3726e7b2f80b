"""Stored runs by name, for simulated participants who answer as a model would."""

from analysis.releases.comparing import model_names
from analysis.releases.models import ScoringRun, SentenceScore
from experiments.models import Experiment


def names(study: Experiment) -> list[str]:
    """Names of the finished runs over a study's materials, oldest first."""
    return model_names(_runs(study))


def scores(study: Experiment, name: str) -> dict[str, float]:
    """The scores of the run of that name, by sentence id."""
    runs = _runs(study)
    run = dict(zip(model_names(runs), runs, strict=True))[name]
    return dict(SentenceScore.objects.filter(run=run).values_list("sentence__key", "score"))


def _runs(study: Experiment) -> list[ScoringRun]:
    rows = ScoringRun.objects.filter(material_set=study.materials_id, state=ScoringRun.State.DONE)
    return list(rows.order_by("pk"))
