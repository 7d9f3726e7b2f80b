"""Scoring runs for the tests: asked for, planned, carried out, and a process that works on them."""

import os
import subprocess
import sys
from pathlib import Path

from analysis.scoring import scorer
from experiments.operation import job_runner
from releases.models import ScoringRun, SentenceScore
from releases.scoring import execution
from releases.scoring.runs import request_model_runs
from tests import cast
from tests.database import database_url
from tests.releases.models_dir import URI

ROOT = Path(__file__).resolve().parents[2]


def a_run(study, *, model: str = URI, **fields) -> ScoringRun:
    return request_model_runs(study, [model], user=cast.ada(), **fields)[0]


def execute_run(run: ScoringRun) -> ScoringRun:
    job_runner.run(run.job_id)
    run.refresh_from_db()
    return run


def with_shards(run: ScoringRun) -> ScoringRun:
    """Return the run in progress with its shards, as before the first score."""
    execution.create_shards(run, execution.run_sentences(run))
    ScoringRun.objects.filter(pk=run.pk).update(state="running")
    run.refresh_from_db()
    return run


def expected(run: ScoringRun, folder: Path) -> dict[str, float]:
    sentences = execution.run_sentences(run)
    scores = scorer(f"arpa:{folder / 'bigram.arpa'}").score([sentence.words for sentence in sentences])
    return {sentence.key: value for sentence, value in zip(sentences, scores.logprob.tolist(), strict=True)}


def stored(run: ScoringRun) -> dict[str, float]:
    return dict(SentenceScore.objects.filter(run=run).values_list("sentence__key", "score"))


class worker:
    """The process of ``shard_worker.py`` on the test's database."""

    def __init__(self, run, *, halt_at: int, settings, models_dir: Path | None = None) -> None:
        self.words = [sys.executable, "-m", "tests.releases.shard_worker", str(run.pk), str(halt_at)]
        self.env = {
            **os.environ,
            "DATABASE_URL": database_url(),
            "MODELS_DIR": str(models_dir or settings.MODELS_DIR),
            "JOB_STALE_SECONDS": str(settings.JOB_STALE_SECONDS),
        }

    def __enter__(self) -> subprocess.Popen:
        self.process = subprocess.Popen(self.words, env=self.env, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        return self.process

    def __exit__(self, *error) -> None:
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
