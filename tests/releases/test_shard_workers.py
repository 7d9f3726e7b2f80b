"""Processes and threads at the shards of one run: each takes other ones, and a killed one costs one."""

import shutil
import signal
import threading
import time

import pytest
from django.db import connection
from django.utils import timezone

from analysis.scoring import scorer
from analysis.scoring.scorers.arpa import ArpaScorer
from releases.models import CachedScore, ScoreShard, ScoringRun
from releases.scoring import loaded_model
from releases.scoring.execution import score_next_shard
from releases.scoring.shards import claim, run_shards, score_shard
from tests import cast
from tests.releases.models_dir import URI, write_bigram
from tests.releases.scoring_runs import a_run, execute_run, expected, stored, with_shards, worker

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("models_dir")]
State = ScoreShard.State


@pytest.mark.django_db(transaction=True)
def test_killed_worker_costs_one_shard(settings, models_dir):
    """A real process is killed with SIGKILL in its second shard; the others are not scored again."""
    settings.JOB_STALE_SECONDS = 2
    run = with_shards(a_run(cast.study("agreement")))
    with worker(run, halt_at=2, settings=settings) as process:
        assert process.stdout.readline() == "shard 1\n" and process.stdout.readline() == "shard 2\n"
        assert run_shards(run).filter(state=State.RUNNING).count() == 1
        process.send_signal(signal.SIGKILL)
    assert (run_shards(run).filter(state=State.DONE).count(), CachedScore.objects.count()) == (1, 2)
    assert execute_run(run).state == "done"
    assert sorted(run_shards(run).values_list("attempts", flat=True)) == [1, 1, 1, 2]
    assert stored(run) == pytest.approx(expected(run, models_dir))


@pytest.mark.django_db(transaction=True)
def test_processes_claim_different_shards(settings, tmp_path):
    """The second has its own copy of the models, as on another host."""
    run = with_shards(a_run(cast.study("agreement")))
    other = tmp_path / "other host"
    shutil.copytree(settings.MODELS_DIR, other)
    with (
        worker(run, halt_at=0, settings=settings) as first,
        worker(run, halt_at=0, settings=settings, models_dir=other) as two,
    ):
        assert first.wait(300) == two.wait(300) == 0
    assert set(run_shards(run).values_list("attempts", "state")) == {(1, "done")}
    assert CachedScore.objects.count() == 8 and execute_run(run).state == "done"


@pytest.mark.django_db(transaction=True)
def test_threads_that_claim_at_once_get_different_shards():
    study = cast.study("agreement", materials=cast.material_set("many", n_items=12))
    run = with_shards(a_run(study))
    start, got = threading.Barrier(4), []

    def take():
        start.wait()
        while shard := claim(run):
            got.append((shard.pk, shard.attempts))
        connection.close()

    threads = [threading.Thread(target=take) for _ in range(4)]
    [thread.start() for thread in threads], [thread.join() for thread in threads]
    assert len(got) == len(set(got)) == run_shards(run).count() == 12
    assert {attempts for _, attempts in got} == {1}


@pytest.mark.django_db(transaction=True)
def test_lease_is_renewed_while_a_shard_is_scored(settings, monkeypatch):
    settings.JOB_STALE_SECONDS = 3  # renewed each second: two seconds of a busy machine change nothing
    scored, claims = ArpaScorer.score, []

    def slow(self, sentences, *, progress=None, **options):
        progress(1)
        first_lease = run_shards(run).get().lease_until
        while timezone.now() <= first_lease:
            time.sleep(0.2)
            claims.append(claim(run))
        return scored(self, sentences, **options)

    run = with_shards(a_run(cast.study("agreement")))
    run_shards(run).exclude(number=1).delete()
    monkeypatch.setattr(ArpaScorer, "score", slow)
    score_shard(run, claim(run))
    assert (
        set(claims) == {None}
        and run_shards(run).get().state == State.DONE
        and run_shards(run).get().attempts == 1
    )


def test_help_for_a_finished_run_does_nothing(scored_texts):
    run = execute_run(a_run(cast.study("agreement")))
    scored_texts.clear()
    assert score_next_shard(run.pk) is False and score_next_shard(10**6) is False and not scored_texts


def test_cores_are_shared_among_the_processes_of_a_worker(monkeypatch, settings):
    monkeypatch.setattr(loaded_model.os, "sched_getaffinity", lambda process: set(range(8)), raising=False)
    loaded_model.note_processes(type("Worker", (), {"concurrency": 3}))
    monkeypatch.setenv(loaded_model.PROCESSES, loaded_model.os.environ[loaded_model.PROCESSES])
    assert loaded_model.threads() == 2
    settings.SCORING_THREADS = 5
    assert loaded_model.threads() == 5


def test_process_keeps_one_model(models_dir, monkeypatch):
    opened = []
    monkeypatch.setattr(loaded_model, "scorer", lambda uri: opened.append(uri) or scorer(uri))
    write_bigram(models_dir, name="other.arpa", more="A key is here .")
    first, other = (ScoringRun(model=uri, spec={}) for uri in (URI, "arpa:./other.arpa"))
    for run in (first, first, other, first):
        loaded_model.load_model(run)
    assert [uri.rpartition("/")[2] for uri in opened] == ["bigram.arpa", "other.arpa", "bigram.arpa"]
