"""What the demo concludes: an exclusion plan, gold releases, two models' scores, comparisons."""

import os
import time
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
import pandas as pd
from django.core.files.base import File

import analysis.releases.jobs  # noqa: F401  (declares the kinds of jobs)
from analysis.errors import BadInput
from analysis.releases.comparing import request_comparison
from analysis.releases.demo.materials import SEED, folder
from analysis.releases.demo.trained import TOKENS, model_files, training_tables
from analysis.releases.freezing import request_release
from analysis.releases.models import Comparison, ExclusionPlan, Release, ScoringRun
from analysis.releases.options import Options
from analysis.releases.plans import write_plan
from analysis.releases.scoring import request_score_sets, request_scoring, start
from analysis.releases.training import KEY
from experiments.job_runner import run
from experiments.models import Experiment, Job, MaterialSet
from judgments.sessions.latent import acceptability_of

PLAN = "attention"
STEPS = [
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
READER_NOISE, PATIENCE_S = 0.9, 120


def plan_of(study: Experiment, owner) -> ExclusionPlan:
    """The plan, written before the first answer."""
    return write_plan(study, PLAN, steps=STEPS, user=owner)


def release_of(study: Experiment, owner, *, rule: str = "") -> Release:
    """The study's first release, built now."""
    standing = Release.objects.filter(experiment=study).exclude(state=Release.State.FAILED)
    release = standing.order_by("number").first()
    if release is None:
        release = request_release(study, Options(exclude=PLAN, rule=rule), title="Demo", user=owner)
    _carry_out(release.job)
    release.refresh_from_db()
    return release


def runs_of(study: Experiment, owner) -> list[ScoringRun]:
    """N-grams of three orders, the trigram by four methods, and a reader who guesses with noise."""
    done = ScoringRun.objects.filter(
        material_set=study.materials, created_by=owner, state=ScoringRun.State.DONE
    )
    runs, files = [], None
    for name, method in MODELS:
        scoring = done.filter(name=name, method=method).first()
        if scoring is None and name == READER:
            scoring = _by_reader(study, owner)
        elif scoring is None:
            files = files or model_files(study.materials)
            scoring = _by_ngrams(study, files[name], name=name, method=method, owner=owner)
        runs.append(scoring)
    return runs


def training_runs_of(study: Experiment, owner) -> list[ScoringRun]:
    """Trigrams of growing corpora and of a filtered one, uploaded as one table."""
    done = ScoringRun.objects.filter(material_set=study.materials, created_by=owner)
    standing = [run for run in done.order_by("pk") if run.spec.get(KEY, {}).get("training_tokens")]
    if standing:
        return [_finished(run) for run in standing]
    scores, models = training_tables(study.materials)
    with scores.open("rb") as given, models.open("rb") as said:
        files = File(given, name=scores.name), File(said, name=models.name)
        runs = request_score_sets(study, files[0], models=files[1], user=owner)
    return [_finished(run) for run in runs]


def _by_ngrams(study: Experiment, path: Path, *, name: str, method: str, owner) -> ScoringRun:
    options = urlencode({"casing": TOKENS.casing, "punctuation": TOKENS.punctuation})
    scoring = ScoringRun.objects.create(
        material_set=study.materials,
        name=name,
        model=f"arpa:{os.path.relpath(path)}?{options}",
        method=method,
        created_by=owner,
    )
    return _finished(start(scoring, experiment=study, user=owner))


def _by_reader(study: Experiment, owner) -> ScoringRun:
    path = reader_file(study.materials)
    with path.open("rb") as content:
        given = File(content, name=path.name)
        return _finished(request_scoring(study, given, name=READER, method="lp", user=owner))


def _finished(scoring: ScoringRun) -> ScoringRun:
    _carry_out(scoring.job)
    scoring.refresh_from_db()
    return scoring


def comparison_of(release: Release, runs: Sequence[ScoringRun], owner, *, title: str = TITLE) -> Comparison:
    """The models beside people, once."""
    standing = Comparison.objects.filter(release=release, title=title).exclude(job__state=Job.State.FAILED)
    comparison = standing.first()
    if comparison is None:
        comparison = request_comparison(release, runs, title=title, user=owner)
    _carry_out(comparison.job)
    comparison.refresh_from_db()
    return comparison


def reader_file(materials: MaterialSet) -> Path:
    """Scores of one imagined reader: what people feel, and noise."""
    path, rng = folder() / "noisy_reader.csv", np.random.default_rng(SEED)
    sentences = materials.sentences.select_related("item__paradigm").order_by("pk")
    rows = [(one.key, round(acceptability_of(one) + rng.normal(0, READER_NOISE), 4)) for one in sentences]
    pd.DataFrame(rows, columns=["sentence_id", "score"]).to_csv(path, index=False, lineterminator="\n")
    return path


def _carry_out(job: Job | None) -> None:
    """Do a job here and now; when a worker has it already, wait for the worker."""
    if job is None:
        return
    run(job.pk)
    for _ in range(PATIENCE_S * 5):
        job.refresh_from_db()
        if job.is_final:
            break
        time.sleep(0.2)
    if job.state != Job.State.DONE:
        raise BadInput(f"the demo's job {job.kind} is {job.get_state_display()}: {job.error or job.message}")
