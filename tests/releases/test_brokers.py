"""Queues by kind of device over real brokers: two workers, one killed in the middle of a shard.

They run where CELERY_BROKER_URL names a broker, on RabbitMQ and Redis of this machine, or where TEST_BROKERS
(addresses, by commas) says.
"""

import os
import signal
import socket
import subprocess
import sys
import time
import uuid
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlparse

import pytest
from celery import Celery

from experiments.models import Job
from experiments.operation import job_runner
from releases.models import CachedScore, SentenceScore
from releases.scoring import execution
from releases.scoring.runs import request_model_runs
from releases.scoring.shards import run_shards
from tests import cast
from tests.database import database_url
from tests.releases.models_dir import URI, write_bigram
from tests.releases.scoring_runs import ROOT, expected

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(
        not os.environ.get("CELERY_BROKER_URL"), reason="set CELERY_BROKER_URL to run on real brokers"
    ),
]
HERE = "amqp://guest:guest@127.0.0.1:5672//,redis://127.0.0.1:6379/15"
BROKERS = os.environ.get("TEST_BROKERS", HERE).split(",")
STALE_S, PATIENCE_S = 6, 300
N_PAIRS = 8
really_send = job_runner.send  # the tests beside this one send nothing


@pytest.fixture(params=BROKERS, ids=lambda address: urlparse(address).scheme)
def broker(request, monkeypatch):
    """An app whose messages go over a real broker, and queues of this test alone."""
    where = urlparse(request.param)
    try:
        socket.create_connection((where.hostname, where.port), timeout=1).close()
    except OSError:
        pytest.skip(f"no broker answers at {where.hostname}:{where.port}")
    app = Celery("test", broker=request.param)
    monkeypatch.setattr(job_runner, "run_job", app.task(job_runner.run_job.run, name="experiments.run_job"))
    next_shard = app.task(execution.run_shard.run, name="releases.score_shard")
    monkeypatch.setattr(execution, "run_shard", next_shard)
    monkeypatch.setattr(job_runner, "send", really_send)
    app.queues = {name: f"{name}-{uuid.uuid4().hex[:8]}" for name in ("cpu", "gpu")}
    yield app
    with app.connection_for_write() as connection:
        for queue in app.queues.values():
            connection.default_channel.queue_delete(queue)
    app.close()


@contextmanager
def celery_worker(app: Celery, queue: str, folder: Path, models: Path):
    """The process of ``celery_worker.py`` on the test's database."""
    words = [sys.executable, "-m", "tests.releases.celery_worker", queue, str(folder)]
    env = {**os.environ, "DATABASE_URL": database_url(), "CELERY_BROKER_URL": app.conf.broker_url,
           "MODELS_DIR": str(models), "JOB_STALE_SECONDS": str(STALE_S), "SHARD_SENTENCES": "2"}  # fmt: skip
    process = subprocess.Popen(words, env=env, cwd=ROOT)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def until(question) -> None:
    """Wait, and do meanwhile what the scheduler does."""
    end = time.monotonic() + PATIENCE_S
    while not question():
        assert time.monotonic() < end, list(Job.objects.values_list("state", "error"))
        job_runner.requeue_stale()
        time.sleep(0.5)


def test_killed_worker_leaves_a_complete_run_and_every_score_once(broker, settings, tmp_path):
    settings.JOB_STALE_SECONDS = STALE_S
    settings.MODELS_DIR = tmp_path / "models"
    settings.SCORING_DEVICES = [broker.queues["cpu"], broker.queues["gpu"]]
    write_bigram(settings.MODELS_DIR)
    study = cast.study("agreement", materials=cast.material_set("many", n_items=N_PAIRS))
    [run] = request_model_runs(study, [URI], device=broker.queues["cpu"], user=cast.ada())
    [other] = request_model_runs(study, [URI], methods=["meanlp"], device=broker.queues["gpu"])

    def is_done(run) -> bool:
        run.refresh_from_db()
        return run.state == "done"

    with ExitStack() as workers:
        on_cpu = [
            workers.enter_context(celery_worker(broker, broker.queues["cpu"], tmp_path, settings.MODELS_DIR))
            for _ in range(2)
        ]
        until((tmp_path / "halted").exists)
        until((tmp_path / "halted").read_text)
        killed = int((tmp_path / "halted").read_text())
        assert killed in [process.pid for process in on_cpu]
        os.kill(killed, signal.SIGKILL)
        until(lambda: is_done(run))
        assert {process.pid for process in on_cpu if (tmp_path / f"scored-{process.pid}").exists()} == {
            process.pid for process in on_cpu
        }
        other.refresh_from_db()
        assert other.state == "queued"  # nobody serves its queue
        workers.enter_context(celery_worker(broker, broker.queues["gpu"], tmp_path, settings.MODELS_DIR))
        until(lambda: is_done(other))
    assert sorted(run_shards(run).values_list("attempts", flat=True)) == [1] * (N_PAIRS - 1) + [2]
    lines = [line for path in tmp_path.glob("scored-*") for line in path.read_text().splitlines()]
    assert len(lines) == len(set(lines)) == 2 * N_PAIRS == CachedScore.objects.count()
    stored = dict(SentenceScore.objects.filter(run=run).values_list("sentence__key", "score"))
    assert stored == pytest.approx(expected(run, settings.MODELS_DIR)) and len(stored) == 2 * N_PAIRS
    assert SentenceScore.objects.filter(run=other).count() == 2 * N_PAIRS
