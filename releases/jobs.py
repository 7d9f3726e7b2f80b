"""Jobs of releases, scoring runs, comparisons, reports and quality signals, each stored with its end."""

from typing import Any

import pandas as pd

from analysis.quality.report import signal_table
from experiments.models import Experiment, Job
from experiments.operation.demo_job import KIND as DEMO
from experiments.operation.job_runner import Run, job
from experiments.webhooks.events import emit
from judgments.frames.measurements import evidence_frame
from judgments.models import Session, Signal
from judgments.quality_check import CHECK
from releases.comparison.compare import COMPARE, compare
from releases.demo.make import make_demo
from releases.gold.freeze import BUILD, finish_release, freeze
from releases.material_frames import pair_frame, score_table
from releases.models import Comparison, Release, ScoringRun
from releases.papers.request import REPRODUCE, run_reproduction
from releases.publishing.publish import PUBLISH, publication_failed, run_publication
from releases.reports.report_cache import REPORT, compute_and_store
from releases.scoring.cost import COST, compute_cost
from releases.scoring.execution import score, store_scores
from releases.scoring.runs import SCORE
from releases.scoring.surprisals import SURPRISALS, run_surprisals
from releases.study_report.request import STUDY_REPORT, run_report

MAX_MODELS = 5
MAX_REASON_LENGTH = 300


def study_signals(study: Experiment) -> pd.DataFrame:
    """Compute every signal; agreement with models if scoring runs are finished."""
    finished = ScoringRun.objects.of_study(study).done()
    runs = list(finished.order_by("-pk")[:MAX_MODELS]) if study.materials_id else []
    return signal_table(
        evidence_frame(study),
        scores=score_table(runs) if runs else None,
        pairs=pair_frame(study.materials) if runs else None,
    )


def store_signals(study: Experiment, table: pd.DataFrame) -> dict[str, Any]:
    """Replace the stored signals; runs in the job's transaction."""
    # Race: participants may have withdrawn while the signals were computed; their sessions get none.
    Signal.objects.filter(session__experiment=study).delete()
    remaining = Session.objects.filter(experiment=study).exclude(status=Session.Status.WITHDRAWN)
    session_ids = set(remaining.values_list("pk", flat=True))
    rows = [
        Signal(
            session_id=int(row["session"]),
            name=row["signal"],
            version=row["version"],
            value=row["value"],
            reason=row["reason"][:MAX_REASON_LENGTH],
        )
        for row in table.to_dict("records")
        if int(row["session"]) in session_ids
    ]
    Signal.objects.bulk_create(rows, batch_size=1000)
    return {"flags": len(rows), "sessions": len({row.session_id for row in rows})}


def _release_failed(build: Job, reason: str) -> None:
    building = Release.objects.filter(pk=build.arguments["release"], state=Release.State.BUILDING)
    building.update(state=Release.State.FAILED)


@job(BUILD, after_failure=_release_failed)
def build_release(run: Run) -> None:
    """Freeze one release."""
    release = Release.objects.select_related("experiment", "plan").get(pk=run.arguments["release"])
    frozen = freeze(release, progress=run.progress)
    with run.finishing() as result:
        result |= finish_release(release, frozen)


@job(PUBLISH, after_failure=publication_failed)
def publish_release(run: Run) -> None:
    """Send one release to a repository."""
    run_publication(run)


def _scoring_failed(scoring: Job, reason: str) -> None:
    unfinished = ScoringRun.objects.filter(pk=scoring.arguments["run"]).exclude(state=ScoringRun.State.DONE)
    if unfinished.update(state=ScoringRun.State.FAILED, error=reason):
        run = ScoringRun.objects.get(pk=scoring.arguments["run"])
        about = {"run": run.pk, "name": run.name, "state": "failed", "error": reason}
        emit(scoring.experiment, "run.finished", about)


@job(SCORE, after_failure=_scoring_failed)
def score_sentences(run: Run) -> None:
    """Score every sentence of a material set with one model."""
    scoring = ScoringRun.objects.select_related("material_set").get(pk=run.arguments["run"])
    open_runs = ScoringRun.objects.filter(pk=scoring.pk).exclude(state=ScoringRun.State.DONE)
    open_runs.update(state=ScoringRun.State.RUNNING, error="")
    scores = score(scoring, progress=run.progress)
    with run.finishing() as result:
        result |= store_scores(scoring, scores)
        about = {"run": scoring.pk, "name": scoring.name, "state": "done", "error": ""}
        emit(run.job.experiment, "run.finished", about)


@job(COST)
def estimate_cost(run: Run) -> None:
    """Estimate the cost of scoring."""
    cost = compute_cost(run.arguments, progress=run.progress)
    with run.finishing() as result:
        result |= cost


@job(SURPRISALS)
def tabulate_surprisals(run: Run) -> None:
    """Tabulate the surprisals of tokens, words and regions by the model of one scoring run."""
    run_surprisals(run)


@job(COMPARE)
def compare_models(run: Run) -> None:
    """Compare models with participants on one release."""
    comparison = Comparison.objects.select_related("release__experiment").get(pk=run.arguments["comparison"])
    run.progress(0, 1, "comparing")
    report = compare(comparison)
    with run.finishing() as result:
        Comparison.objects.filter(pk=comparison.pk).update(report=report)
        result |= {"models": len(report["models"]), "pairs": report["pairs"]}
        about = {"comparison": comparison.pk, "release": comparison.release.number, "title": comparison.title}
        emit(comparison.release.experiment, "comparison.finished", about)


@job(REPORT)
def compute_report(run: Run) -> None:
    """Compute one report of a study for its page."""
    study = Experiment.objects.select_related("materials").get(pk=run.arguments["experiment"])
    study.data = run.arguments.get("data", Experiment.Data.COUNTED)
    name, choices, path = (run.arguments[key] for key in ("name", "choices", "path"))
    run.progress(0, 1, f"computing {name}")
    compute_and_store(study, name, choices, path)
    with run.finishing() as result:
        result |= {"report": path}


@job(STUDY_REPORT)
def make_study_report(run: Run) -> None:
    """Build one study report and its replication package."""
    run_report(run)


@job(REPRODUCE)
def reproduce_paper(run: Run) -> None:
    """Build the document of one paper."""
    run_reproduction(run)


@job(CHECK)
def check_quality(run: Run) -> None:
    """Compute every quality signal of a study."""
    study = Experiment.objects.select_related("materials").get(pk=run.arguments["experiment"])
    run.progress(0, 1, "checking every session")
    table = study_signals(study)
    with run.finishing() as result:
        result |= store_signals(study, table)


@job(DEMO)
def create_demo(run: Run) -> None:
    """Create the demo, or what is missing of it."""
    demo = make_demo(run.progress)
    with run.finishing() as result:
        result |= {"studies": len(demo.studies), "judgments": demo.judgments, "releases": demo.releases}
