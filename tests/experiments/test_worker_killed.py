"""A real worker on the configured broker, or one of its processes, is killed; every job finishes once."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from django.conf import settings

from experiments.models import Job, MaterialSet, Phenomenon
from experiments.operation.job_runner import enqueue, requeue_stale
from tests.database import database_url

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def start_worker(tmp_path):
    """Start workers on a queue of this test's own; whatever still runs is killed at the end."""
    broker = settings.CELERY_BROKER_URL
    queue = f"test-{os.getpid()}-{tmp_path.name}"
    environment = {
        **os.environ,
        "DATABASE_URL": database_url(),
        "CELERY_BROKER_URL": broker,
        "VAR_DIR": str(tmp_path),
        "DJANGO_SETTINGS_MODULE": "config.settings",
    }
    command = "-A config -b BROKER worker -I tests.experiments.slow_job --loglevel warning -Q QUEUE"
    words = [{"BROKER": broker, "QUEUE": queue}.get(word, word) for word in command.split()]
    started: list[subprocess.Popen] = []

    def start(*more: str) -> subprocess.Popen:
        line = [sys.executable, "-m", "celery", *words, *(more or ("--pool", "solo"))]
        process = subprocess.Popen(line, cwd=ROOT, env=environment)
        started.append(process)
        return process

    start.queue, start.environment = queue, environment
    yield start
    for process in started:
        process.kill()
        process.wait()


def send_from_outside(job: Job, start) -> None:
    """Send the id as the web process would, over the worker's broker."""
    code = (
        "from config.celery import app; "
        f"app.send_task('experiments.run_job', args=[{job.pk}], queue={start.queue!r})"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=start.environment, check=True)


def wait_until(condition, seconds: float = 120) -> None:
    """Poll until true, or fail."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.1)


@pytest.fixture
def material_set(transactional_db, monkeypatch) -> MaterialSet:
    """Where jobs leave their marks; the tests carry the ids of jobs themselves."""
    monkeypatch.setattr("experiments.operation.job_runner.send", lambda job_id: None)
    return MaterialSet.objects.create(name="Marks", slug="marks", checksum="0")


def test_job_of_a_killed_worker_finishes_once(start_worker, material_set, settings):
    minutes, moments = 6000, 3  # however slow the machine, the first attempt is not done when it is killed
    job = enqueue("tests.slow", {"steps": [minutes, moments], "set": material_set.pk})
    first = start_worker()
    send_from_outside(job, start_worker)
    wait_until(lambda: Job.objects.get(pk=job.pk).progress >= 2)
    first.send_signal(signal.SIGKILL)
    first.wait()

    settings.JOB_STALE_SECONDS = 0
    assert requeue_stale() == 1
    start_worker()
    send_from_outside(job, start_worker)
    wait_until(lambda: Job.objects.get(pk=job.pk).is_final)

    job.refresh_from_db()
    assert (job.state, job.result) == (Job.State.DONE, {"attempt": 2})
    assert list(Phenomenon.objects.values_list("name", flat=True)) == ["made by attempt 2"]


def test_a_worker_whose_waiting_processes_are_killed_runs_the_next_jobs(start_worker, material_set):
    """As when memory runs out. With one pipe for all processes, the killed one would keep its lock."""
    worker = start_worker("--concurrency", "2")

    def run_one() -> None:
        Phenomenon.objects.all().delete()  # each leaves the same mark
        job = enqueue("tests.slow", {"steps": [1], "set": material_set.pk})
        send_from_outside(job, start_worker)
        wait_until(lambda: Job.objects.get(pk=job.pk).state == Job.State.DONE)

    run_one()
    for _ in range(2):
        for child in children(worker.pid):
            os.kill(child, signal.SIGKILL)
        run_one()
    worker.terminate()
    assert worker.wait(timeout=60) == 0


def children(pid: int) -> list[int]:
    """The processes begun by this one."""
    table = subprocess.run(["ps", "-Ao", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    pairs = [line.split() for line in table.splitlines()]
    return [int(child) for child, parent in pairs if int(parent) == pid]
