"""Results of the demo: an exclusion plan, gold releases, scores of models, comparisons.

Small n-gram models of the demo: of three orders, of growing corpora, and of a corpus without "ever".
"""

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from django.contrib.auth.models import User
from django.core.files.base import File

from analysis.errors import BadInput
from analysis.ngrams import token_logprobs, train_model, write_arpa
from analysis.scoring.words.tokens import Tokenization
from experiments.generation import acceptable_sentences
from experiments.models import Experiment, Job, MaterialSet
from experiments.operation.job_runner import run
from judgments.simulation.participant import sentence_acceptability
from releases.comparison.compare import request_comparison
from releases.demo.materials import SEED, folder
from releases.gold.freeze import request_release
from releases.gold.options import Options
from releases.gold.plans import set_current_plan, write_plan
from releases.models import Comparison, ExclusionPlan, Release, ScoringRun
from releases.scoring.runs import request_score_sets, request_scoring
from releases.scoring.training_metadata import KEY

TOKENS = Tokenization(casing="lower", punctuation="split")
CORPUS_SIZE = 16_000
SIZES, SEEDS = (1_000, 2_000, 4_000, 8_000), (1, 2)
FILTER, FILTERED_WORD = "npi_licensing", "ever"
FAMILY = "trigram"
ORDERS = {"trigram": 3, "bigram": 2, "unigram": 1}


def corpus(materials: MaterialSet) -> list[str]:
    """Generated text without the study's sentences; stored beside the models."""
    path = folder() / "corpus.txt"
    held_out = set(materials.sentences.values_list("text", flat=True))
    lines = acceptable_sentences(CORPUS_SIZE, seed=SEED, without=held_out)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return lines


def model_files(materials: MaterialSet) -> dict[str, Path]:
    """One ARPA file per order, trained on the same text."""
    tokens = [TOKENS.tokens(text) for text in corpus(materials)]
    files = {}
    for name, order in ORDERS.items():
        files[name] = folder() / f"{name}.arpa"
        model = replace(train_model(tokens, order=order), tokenization=TOKENS.record())
        write_arpa(model, files[name])
    return files


def training_tables(materials: MaterialSet) -> tuple[Path, Path]:
    """Scores and metadata of trigrams of four corpus sizes and of a filtered corpus, two seeds each."""
    lines = (folder() / "corpus.txt").read_text(encoding="utf-8").splitlines()
    tokens = [TOKENS.tokens(text) for text in lines]
    allowed = np.array([FILTERED_WORD not in sentence for sentence in tokens])
    sentences = list(materials.sentences.order_by("pk").values_list("key", "text"))
    test_tokens = [TOKENS.tokens(text) for _, text in sentences]
    scores, models = {"sentence_id": [key for key, _ in sentences]}, []
    plans = [(size, "full", np.arange(len(tokens))) for size in SIZES]
    plans.append((SIZES[-1], FILTER, np.flatnonzero(allowed)))
    for size, part, places in plans:
        for seed in SEEDS:
            sample = np.random.default_rng([SEED, size, seed]).choice(places, size=size, replace=False)
            text = [tokens[place] for place in sample]
            name = f"{FAMILY} {size:,}{'' if part == 'full' else f' without {FILTERED_WORD}'}, seed {seed}"
            logprobs = token_logprobs(train_model(text, order=3), test_tokens)
            sums = np.bincount(logprobs.sentence, weights=logprobs.logprob, minlength=len(test_tokens))
            scores[name] = sums.round(6).tolist()
            n_tokens = sum(len(sentence) for sentence in text)
            models.append((name, name, "lp", f"{FAMILY} by size", n_tokens, seed, part))
    return _write_csv("scores_by_size.csv", pd.DataFrame(scores)), _write_csv(
        "models_by_size.csv",
        pd.DataFrame(
            models, columns=["model", "name", "method", "family", "training_tokens", "seed", "corpus"]
        ),
    )


def _write_csv(name: str, frame: pd.DataFrame) -> Path:
    path = folder() / name
    frame.to_csv(path, index=False, lineterminator="\n")
    return path


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


def create_plan(study: Experiment, owner: User) -> ExclusionPlan:
    """The exclusion plan, stored before the first answer and current."""
    is_new = not ExclusionPlan.objects.filter(experiment=study).exists()
    row = write_plan(study, PLAN, steps=STEPS, user=owner)
    if is_new:
        set_current_plan(study, PLAN, user=owner)
    return row


def create_release(study: Experiment, owner: User, *, rule: str = "") -> Release:
    """The study's first release, built immediately."""
    existing = Release.objects.filter(experiment=study).exclude(state=Release.State.FAILED)
    release = existing.order_by("number").first()
    if release is None:
        release = request_release(study, Options(exclude=PLAN, rule=rule), title="Demo", user=owner)
    _run_job(release.job)
    release.refresh_from_db()
    return release


def create_runs(study: Experiment, owner: User) -> list[ScoringRun]:
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


def create_training_runs(study: Experiment, owner: User) -> list[ScoringRun]:
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


def create_comparison(
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
        (sentence.key, round(sentence_acceptability(sentence) + rng.normal(0, READER_NOISE), 4))
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
