"""Results of the demo: an exclusion plan, gold releases, scores of models, comparisons."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from django.contrib.auth.models import User
from django.core.files.base import File

import releases.jobs  # noqa: F401  (registers the kinds of jobs)
from analysis.errors import BadInput
from experiments.job_runner import run
from experiments.models import Experiment, Job, MaterialSet
from judgments.simulation.participant import acceptability_of
from releases.comparison.compare import request_comparison
from releases.demo.materials import SEED, folder
from releases.demo.trained_models import model_files, training_tables
from releases.gold.current_plan import set_current_plan
from releases.gold.freeze import request_release
from releases.gold.options import Options
from releases.gold.plans import write_plan
from releases.models import Comparison, ExclusionPlan, Release, ScoringRun
from releases.scoring.runs import request_score_sets, request_scoring
from releases.scoring.training_metadata import KEY

PLAN = "attention"
STEPS: list[dict[str, Any]] = [
    {"name": "not native", "scope": "participant", "rule": "not_native"},
    {"name": "incomplete", "scope": "session", "rule": "incomplete"},
    {"name": "catch trials", "scope": "session", "rule": "catch_failed", "parameters": {"max_errors": 1}},
]
READER = "noisy reader"
TITLE, TRAINING = "Demo: models and people", "Demo: more text, and text without a word"
MODELS = (
    ("trigram", "lp"), ("trigram", "slor"), ("trigram", "one_prefix"), ("trigram", "two_prefix"),
    ("bigram", "lp"), ("unigram", "lp"), (READER, "lp"),
)  # fmt: skip
READER_NOISE, TIMEOUT_S = 0.9, 120


def plan_of(study: Experiment, owner: User) -> ExclusionPlan:
    """The exclusion plan, stored before the first answer and current."""
    is_new = not ExclusionPlan.objects.filter(experiment=study).exists()
    row = write_plan(study, PLAN, steps=STEPS, user=owner)
    if is_new:
        set_current_plan(study, PLAN, user=owner)
    return row


def release_of(study: Experiment, owner: User, *, rule: str = "") -> Release:
    """The study's first release, built immediately."""
    existing = Release.objects.filter(experiment=study).exclude(state=Release.State.FAILED)
    release = existing.order_by("number").first()
    if release is None:
        release = request_release(study, Options(exclude=PLAN, rule=rule), title="Demo", user=owner)
    _run_job(release.job)
    release.refresh_from_db()
    return release


def runs_of(study: Experiment, owner: User) -> list[ScoringRun]:
    """N-grams of three orders, the trigram by four methods, and a simulated reader with noise."""
    finished = ScoringRun.objects.filter(
        material_set=_materials(study), created_by=owner, state=ScoringRun.State.DONE
    )
    runs, files = [], None
    for name, method in MODELS:
        scoring = finished.filter(name=name, method=method).first()
        if scoring is None and name == READER:
            scoring = _by_upload(study, reader_file(_materials(study)), name=name, method=method, owner=owner)
        elif scoring is None:
            files = files or model_files(_materials(study))
            scoring = _by_upload(study, files[name], name=name, method=method, owner=owner)
        runs.append(scoring)
    return runs


def training_runs_of(study: Experiment, owner: User) -> list[ScoringRun]:
    """Trigrams of growing corpora and of a filtered corpus, uploaded as one table."""
    earlier = ScoringRun.objects.filter(material_set=_materials(study), created_by=owner)
    existing = [run for run in earlier.order_by("pk") if run.spec.get(KEY, {}).get("training_tokens")]
    if existing:
        return [_with_scores(run) for run in existing]
    scores, models = training_tables(_materials(study))
    with scores.open("rb") as scores_file, models.open("rb") as models_file:
        files = File(scores_file, name=scores.name), File(models_file, name=models.name)
        runs = request_score_sets(study, files[0], models=files[1], user=owner)
    return [_with_scores(run) for run in runs]


def _by_upload(study: Experiment, path: Path, *, name: str, method: str, owner: User) -> ScoringRun:
    """Upload a model or a table of scores, so that no page names a folder of the server."""
    with path.open("rb") as content:
        upload = File(content, name=path.name)
        return _with_scores(request_scoring(study, upload, name=name, method=method, user=owner))


def _with_scores(scoring: ScoringRun) -> ScoringRun:
    _run_job(scoring.job)
    scoring.refresh_from_db()
    return scoring


def comparison_of(
    release: Release, runs: Sequence[ScoringRun], owner: User, *, title: str = TITLE
) -> Comparison:
    """The comparison of the models with participants, created once."""
    existing = Comparison.objects.filter(release=release, title=title).exclude(job__state=Job.State.FAILED)
    comparison = existing.first()
    if comparison is None:
        comparison = request_comparison(release, runs, title=title, user=owner)
    _run_job(comparison.job)
    comparison.refresh_from_db()
    return comparison


def reader_file(materials: MaterialSet) -> Path:
    """Scores of a simulated reader: latent acceptability with noise."""
    path, rng = folder() / "noisy_reader.csv", np.random.default_rng(SEED)
    sentences = materials.sentences.select_related("item__paradigm").order_by("pk")
    rows = [
        (sentence.key, round(acceptability_of(sentence) + rng.normal(0, READER_NOISE), 4))
        for sentence in sentences
    ]
    pd.DataFrame(rows, columns=["sentence_id", "score"]).to_csv(path, index=False, lineterminator="\n")
    return path


def _run_job(job: Job | None) -> None:
    """Run a job in this process, or wait for the worker that has claimed it."""
    if job is None:
        return
    run(job.pk)  # does nothing if a worker has claimed the job
    for _ in range(TIMEOUT_S * 5):
        job.refresh_from_db()
        if job.is_final:
            break
        time.sleep(0.2)
    if job.state != Job.State.DONE:
        raise BadInput(f"the demo's job {job.kind} is {job.get_state_display()}: {job.error or job.message}")


def _materials(study: Experiment) -> MaterialSet:
    """The study's materials; every study of the demo has some."""
    if study.materials is None:
        raise BadInput(f"the study {study.slug!r} has no materials.")
    return study.materials
