"""Long work of the concluding side: releases, scores, comparisons.

Each computes outside of transactions and stores inside ``run.finishing()``, so that a killed worker
leaves nothing half done and a second start has the one effect.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from celery import shared_task
from django.db import models

from analysis.releases.comparing import COMPARE, compare
from analysis.releases.freezing import BUILD, finish_release, freeze
from analysis.releases.heavy import REPORT, make_report
from analysis.releases.models import Comparison, Release, ScoringRun
from analysis.releases.quality import store_signals, study_signals
from analysis.releases.reporting import STUDY_REPORT, run_report
from analysis.releases.run_scores import HELP, ask_for_help, help_out, score, store_scores
from analysis.releases.scoring import SCORE
from analysis.releases.scoring_cost import COST, cost_of
from experiments.job_runner import Overtaken, Run, job
from experiments.models import Experiment, Job
from judgments.quality_check import CHECK, check_stale_studies


@job(BUILD)
def build_release(run: Run) -> None:
    """Freeze one release."""
    release = Release.objects.select_related("experiment", "plan").get(pk=run.arguments["release"])
    with _failing(Release.objects.filter(pk=release.pk, state=Release.State.BUILDING), run):
        frozen = freeze(release, progress=run.progress)
        with run.finishing() as result:
            result |= finish_release(release, frozen)


@job(SCORE)
def score_sentences(run: Run) -> None:
    """Score every sentence of a material set with one model."""
    scoring = ScoringRun.objects.select_related("material_set").get(pk=run.arguments["run"])
    open_runs = ScoringRun.objects.filter(pk=scoring.pk).exclude(state=ScoringRun.State.DONE)
    open_runs.update(state=ScoringRun.State.RUNNING, error="")
    with _failing(open_runs, run):
        scores = score(scoring, progress=run.progress)
        with run.finishing() as result:
            result |= store_scores(scoring, scores)


@shared_task(name=HELP)
def score_shard(run_id: int) -> None:
    """Score one shard of a run, and ask for the next: a message is as short as a shard."""
    if help_out(run_id):
        ask_for_help(ScoringRun.objects.get(pk=run_id), 1)


@job(COST)
def estimate_cost(run: Run) -> None:
    """Tell what scoring would cost."""
    found = cost_of(run.arguments, progress=run.progress)
    with run.finishing() as result:
        result |= found


@job(COMPARE)
def compare_models(run: Run) -> None:
    """Compare models with people on one release."""
    comparison = Comparison.objects.select_related("release__experiment").get(pk=run.arguments["comparison"])
    run.progress(0, 1, "comparing")
    report = compare(comparison)
    with run.finishing() as result:
        Comparison.objects.filter(pk=comparison.pk).update(report=report)
        result |= {"models": len(report["models"]), "pairs": report["pairs"]}


@job(REPORT)
def compute_report(run: Run) -> None:
    """Compute one report of a study for its page."""
    study = Experiment.objects.select_related("materials").get(pk=run.arguments["experiment"])
    name, choices, path = (run.arguments[key] for key in ("name", "choices", "path"))
    run.progress(0, 1, f"computing {name}")
    make_report(study, name, choices, path)
    with run.finishing() as result:
        result |= {"report": path}


@job(STUDY_REPORT)
def make_study_report(run: Run) -> None:
    """Make one study's report and its replication package."""
    run_report(run)


@job(CHECK)
def check_quality(run: Run) -> None:
    """Compute every quality signal of a study."""
    study = Experiment.objects.select_related("materials").get(pk=run.arguments["experiment"])
    run.progress(0, 1, "looking at every session")
    table = study_signals(study)
    with run.finishing() as result:
        result |= store_signals(study, table)


@shared_task(name="releases.check_quality")
def check_studies() -> None:
    """Check the quality of studies with newly finished sessions."""
    check_stale_studies()


@contextmanager
def _failing(rows: models.QuerySet, run: Run) -> Iterator[None]:
    """Note on the row itself that its work has failed, unless another start of the job has it now."""
    try:
        yield
    except Overtaken:
        raise
    except Exception as error:
        fields = {"error": str(error)} if rows.model is ScoringRun else {}
        if Job.objects.filter(pk=run.job.pk, attempt=run.attempt, state=Job.State.RUNNING).exists():
            rows.update(state="failed", **fields)
        raise
