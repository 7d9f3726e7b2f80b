"""The leaderboard of a release: rows of all stored comparisons with the same conventions."""

from typing import Any

from django.db.models import QuerySet

from analysis.choices import LEADERBOARD_SORT
from analysis.comparison.leaderboard import ComparedModels, leaderboard_document
from experiments.models import Experiment
from releases.models import Comparison, Release, ScoringRun, model_names
from releases.scoring.runs import run_records
from releases.scoring.training_metadata import read_training


def leaderboard(
    release: Release,
    *,
    sort: str = LEADERBOARD_SORT,
    ascending: bool | None = None,
    conventions: str = "",
) -> dict[str, Any]:
    """Return every model compared on the release with one set of conventions, as a JSON document.

    A model's row depends on the release, its scores and the conventions only, so rows of different
    comparisons can share one table; of several comparisons of a run the newest is used.
    """
    comparisons = list(
        Comparison.objects.filter(release=release)
        .exclude(report={})
        .prefetch_related("runs")
        .order_by("-created_at", "-pk")
    )
    entries = [_comparison_with_facts(comparison) for comparison in comparisons]
    board = leaderboard_document(entries, sort=sort, ascending=ascending, conventions=conventions)
    selected = board["conventions"].get("key")
    compared_runs = {
        run.pk: run
        for comparison, entry in zip(comparisons, entries, strict=True)
        if entry.key == selected
        for run in comparison.runs.all()
    }
    runs = [compared_runs[pk] for pk in sorted(compared_runs)]
    uncompared = [run for run in done_runs(release.experiment) if run.pk not in compared_runs]
    offered = board.pop("offered")
    return {
        "release": release.number,
        "sha256": release.sha256,
        **board,
        "scoring": run_records(runs, model_names(runs)),
        "offered": offered,
        "not_compared": [
            {"run": run.pk, "model": run.name, "method": run.method, "state": run.state} for run in uncompared
        ],
    }


def _comparison_with_facts(comparison: Comparison) -> ComparedModels:
    """A stored comparison with the facts of its runs."""
    models = []
    for run in sorted(comparison.runs.all(), key=lambda run: run.pk):
        training = read_training(run)
        models.append({
            "key": run.pk, "model": run.name, "method": run.method, "run": run.pk,
            "comparison": comparison.pk, "family": training.family or run.name,
            "training_tokens": training.training_tokens,
            "seed": training.seed, "corpus": training.corpus, "revision": run.revision,
        })  # fmt: skip
    return ComparedModels(comparison.report, comparison.options, models)


def done_runs(study: Experiment) -> QuerySet[ScoringRun]:
    """Return the study's finished runs."""
    return ScoringRun.objects.of_study(study).done().order_by("name", "pk")
