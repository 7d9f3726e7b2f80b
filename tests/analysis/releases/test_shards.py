"""Scoring runs by shards: once each, whoever is killed, fails, comes twice or comes together."""

import os
import signal
import subprocess
import sys
import threading
import time
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from django.conf import settings as all_settings
from django.db import connection
from django.utils import timezone

from analysis.errors import BadInput
from analysis.releases import held_model, run_scores, score_cache
from analysis.releases.models import CachedScore, ScorerSpec, ScoreShard, ScoringRun, SentenceScore
from analysis.releases.run_progress import progress_of
from analysis.releases.run_scores import help_out
from analysis.releases.scoring import request_model_runs, retry_run
from analysis.releases.shards import ATTEMPTS, claim, mine, score_shard
from analysis.scoring import scorer
from analysis.scoring.arpa import ArpaScorer
from experiments import job_runner
from experiments.models import Job
from tests import cast
from tests.analysis.releases.models_dir import URI, write_bigram

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("models_dir")]
ROOT = Path(__file__).resolve().parents[3]
State = ScoreShard.State


def a_run(study, *, model: str = URI, **fields) -> ScoringRun:
    return request_model_runs(study, [model], user=cast.ada(), **fields)[0]


def carried_out(run: ScoringRun) -> ScoringRun:
    job_runner.run(run.job_id)
    run.refresh_from_db()
    return run


def begun(run: ScoringRun) -> ScoringRun:
    """Planned, as the job does before it scores."""
    run_scores.begin(run, run_scores.sentences_of(run))
    ScoringRun.objects.filter(pk=run.pk).update(state="running")
    run.refresh_from_db()
    return run


def expected(run: ScoringRun, folder: Path) -> dict[str, float]:
    sentences = run_scores.sentences_of(run)
    found = scorer(f"arpa:{folder / 'bigram.arpa'}").score([one.words for one in sentences])
    return {one.key: value for one, value in zip(sentences, found.logprob.tolist(), strict=True)}


def stored(run: ScoringRun) -> dict[str, float]:
    return dict(SentenceScore.objects.filter(run=run).values_list("sentence__key", "score"))


def test_run_gives_the_scores_of_the_model_by_shards(models_dir):
    run = carried_out(a_run(cast.study("agreement")))
    assert (run.state, run.n_distinct, run.n_cached, run.n_sentences) == ("done", 8, 0, 8)
    assert [shard.state for shard in mine(run)] == ["done"] * 4
    assert stored(run) == pytest.approx(expected(run, models_dir))
    assert run.revision.startswith("sha256:") and "given" not in run.scorer.spec["uri"]


def test_sentence_is_never_scored_twice_for_whatever_study_or_measure(asked):
    one, other = cast.study("agreement"), cast.study("second", materials=cast.material_set("second"))
    first, mean = request_model_runs(one, [URI], methods=["lp", "meanlp"], user=cast.ada())
    carried_out(first), carried_out(mean)
    again = carried_out(a_run(other))
    assert again.n_cached == again.n_distinct == 8 and mean.spec == mean.spec
    texts = [text for call in asked for text in call]
    assert sorted(texts) == sorted(set(texts)) and len(texts) == 8
    assert set(stored(again).values()) == set(stored(first).values())


def test_key_holds_the_bytes_of_the_model_and_not_its_place(models_dir):
    study = cast.study("agreement")
    write_bigram(models_dir / "copy", name="other.arpa")
    first, copy = carried_out(a_run(study)), carried_out(a_run(study, model="arpa:./copy/other.arpa"))
    assert first.scorer == copy.scorer and copy.n_cached == 8
    write_bigram(models_dir, more="The keys 9 are here .")
    changed = carried_out(a_run(study))
    assert changed.scorer != first.scorer and changed.n_cached == 0


def test_key_tells_apart_single_bytes():
    assert score_cache.sentence_sha("café") != score_cache.sentence_sha("cafe\u0301")


def test_model_changed_in_the_middle_is_not_mixed(models_dir):
    run = begun(a_run(cast.study("agreement")))
    write_bigram(models_dir, more="The keys 9 are here .")
    score_shard(run, claim(run))
    assert "no longer those" in mine(run).exclude(error="").get().error
    assert not CachedScore.objects.exists()


def test_shard_is_claimed_by_one_and_lease_runs_out(settings):
    run = begun(a_run(cast.study("agreement")))
    claims = [claim(run) for _ in range(5)]
    assert len({shard.pk for shard in claims[:4]}) == 4 and claims[4] is None
    ScoreShard.objects.filter(pk=claims[1].pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    again = claim(run)
    assert (again.pk, again.attempts) == (claims[1].pk, 2) and claim(run) is None


def test_late_end_of_a_lost_lease_is_no_end():
    run = begun(a_run(cast.study("agreement")))
    late = claim(run)
    ScoreShard.objects.filter(pk=late.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    again = next(shard for shard in iter(lambda: claim(run), None) if shard.pk == late.pk)
    score_shard(run, late)
    again.refresh_from_db()
    assert (again.state, again.attempts) == (State.RUNNING, 2)
    score_shard(run, again)
    assert CachedScore.objects.count() == 2


def test_shard_that_fails_thrice_is_failed_with_its_reason_and_can_be_retried(monkeypatch, models_dir):
    scored = ArpaScorer.score

    def broken(self, sentences, **rest):
        if any("3" in one for one in sentences):
            raise MemoryError("no memory for the third")
        return scored(self, sentences, **rest)

    monkeypatch.setattr(ArpaScorer, "score", broken)
    study = cast.study("agreement")
    run = carried_out(a_run(study))
    failed = mine(run).filter(state=State.FAILED)
    assert failed and all(shard.attempts == ATTEMPTS for shard in failed)
    assert run.state == "failed" and "no memory for the third" in run.error
    assert f"{failed.count()} of 4 shards failed" in run.job.error and not stored(run)
    monkeypatch.setattr(ArpaScorer, "score", scored)
    before = CachedScore.objects.count()
    retried = retry_run(run, experiment=study, user=cast.ada())
    assert retried.job.state == Job.State.QUEUED and retry_run(run, experiment=study).job == retried.job
    assert carried_out(run).state == "done" and 0 < before < CachedScore.objects.count() == 8
    assert stored(run) == pytest.approx(expected(run, models_dir)) and not failed.all().exists()


def test_worker_that_dies_thrice_fails_its_shard():
    run = begun(a_run(cast.study("agreement")))
    mine(run).filter(number=1).update(
        state=State.RUNNING, attempts=ATTEMPTS, lease_until=timezone.now() - timedelta(seconds=1)
    )
    while shard := claim(run):
        score_shard(run, shard)
    assert "died at every attempt" in mine(run).get(state=State.FAILED).error


def test_two_runs_of_one_model_share_their_shards(asked):
    first, second = request_model_runs(
        cast.study("agreement"), [URI], methods=["lp", "charlp"], user=cast.ada()
    )
    begun(first), begun(second)
    assert set(mine(first)) == set(mine(second)) and ScoreShard.objects.count() == 4
    assert carried_out(second).state == carried_out(first).state == "done"
    assert sum(len(call) for call in asked) == 8


def test_progress_counts_what_is_cached_and_done():
    study = cast.study("agreement")
    run = begun(a_run(study))
    score_shard(run, claim(run))
    now = progress_of(run)
    assert (now.sentences, now.cached, now.done, now.percent) == (8, 0, 2, 25)
    assert (now.shards, now.shards_done, now.shards_failed) == (4, 1, 0) and now.seconds_left is not None
    done = progress_of(carried_out(run))
    assert (done.done, done.percent, done.seconds_left) == (8, 100, None)


def test_full_disk_leaves_no_half_of_a_shard(monkeypatch):
    run = begun(a_run(cast.study("agreement")))
    shard = claim(run)

    def full(*args, **rest):
        CachedScore.objects.create(
            scorer=run.scorer, sentence_sha=b"half", n_tokens=1, n_words=1, n_chars=1, n_unk=0
        )
        raise score_cache.DatabaseError("database or disk is full")

    monkeypatch.setattr(CachedScore.objects, "bulk_create", full)
    score_shard(run, shard)
    shard.refresh_from_db()
    assert "no space is left where the database lies" in shard.error and "Retry" in shard.error
    assert not CachedScore.objects.exists() and shard.state == State.QUEUED


@pytest.mark.skipif(connection.vendor != "sqlite", reason="SQLite alone has a limit of pages to run into")
@pytest.mark.django_db(transaction=True)
def test_really_full_database_says_so(settings):
    settings.SHARD_SENTENCES = 2_000
    texts = ("The keys {n} are here" + " and here" * 40 + ".", "The keys {n} is here.")
    study = cast.study("agreement", materials=cast.material_set("long", n_items=300, texts=texts))
    run = begun(a_run(study))
    shard = claim(run)
    with connection.cursor() as cursor:
        used = cursor.execute("PRAGMA page_count").fetchone()[0]
        free = cursor.execute("PRAGMA freelist_count").fetchone()[0]
        cursor.execute(f"PRAGMA max_page_count={used - free + 2}")
        try:
            score_shard(run, shard)
        finally:
            cursor.execute("PRAGMA max_page_count=1073741823")
    shard.refresh_from_db()
    assert "no space is left where the database lies" in shard.error and not CachedScore.objects.exists()


def test_other_versions_are_tried_on_cached_sentences(monkeypatch, asked):
    study = cast.study("agreement")
    run = carried_out(a_run(study))
    asked.clear()
    monkeypatch.setattr(score_cache, "software", lambda spec: {"torch": "99.0"})
    again = carried_out(a_run(study))
    row = ScorerSpec.objects.get()
    assert len(asked) == 1 and len(asked[0]) == 8 and row.software == {"torch": "99.0"}
    assert "8 cached sentences within" in again.spec["cache"] and again.n_cached == 8
    CachedScore.objects.update(logprob=-1.0)
    monkeypatch.setattr(score_cache, "software", lambda spec: {"torch": "100.0"})
    moved = carried_out(a_run(study))
    assert "too much, 8 scores are computed again" in moved.spec["cache"] and moved.n_cached == 0
    assert stored(moved) == pytest.approx(stored(run))


def test_served_model_is_not_shared(monkeypatch):
    spec = scorer(f"arpa:{all_settings.MODELS_DIR / 'bigram.arpa'}").spec
    served = score_cache.replace(spec, uri="openai:http://host/v1#m", revision="as served")
    with pytest.raises(BadInput, match="not known"):
        score_cache.key_spec(served)
    keys = {score_cache.key_spec(served, served_for=f"run {n}").spec_id for n in (1, 2)}
    assert len(keys) == 2


def test_floating_revision_is_never_in_a_key():
    spec = scorer(f"arpa:{all_settings.MODELS_DIR / 'bigram.arpa'}").spec
    named = [
        score_cache.replace(spec, uri=f"hf-causal:owner/name{at}", revision="commit:" + "a" * 40)
        for at in ("", "@main", "@" + "a" * 40)
    ]
    assert {score_cache.key_spec(one).uri for one in named} == {"hf-causal:owner/name"}
    assert len({score_cache.key_spec(one).spec_id for one in named}) == 1


def test_measure_that_the_model_cannot_give_fails_before_scoring(monkeypatch, asked):
    monkeypatch.setattr(ArpaScorer, "capabilities", frozenset({"sum", "tokens"}))
    run = carried_out(a_run(cast.study("agreement"), methods=["slor"]))
    assert run.state == "failed" and "own probabilities" in run.error and not asked


@pytest.mark.django_db(transaction=True)
def test_killed_worker_costs_one_shard(settings, models_dir):
    """A real process is killed with SIGKILL in its second shard; the others are not scored again."""
    settings.JOB_STALE_SECONDS = 2
    run = begun(a_run(cast.study("agreement")))
    with worker(run, halt_at=2, settings=settings) as process:
        assert process.stdout.readline() == "shard 1\n" and process.stdout.readline() == "shard 2\n"
        assert mine(run).filter(state=State.RUNNING).count() == 1
        process.send_signal(signal.SIGKILL)
    assert (mine(run).filter(state=State.DONE).count(), CachedScore.objects.count()) == (1, 2)
    assert carried_out(run).state == "done"
    assert sorted(mine(run).values_list("attempts", flat=True)) == [1, 1, 1, 2]
    assert stored(run) == pytest.approx(expected(run, models_dir))


@pytest.mark.django_db(transaction=True)
def test_processes_claim_different_shards(settings):
    run = begun(a_run(cast.study("agreement")))
    with worker(run, halt_at=0, settings=settings) as one, worker(run, halt_at=0, settings=settings) as two:
        assert one.wait(60) == two.wait(60) == 0
    assert set(mine(run).values_list("attempts", "state")) == {(1, "done")}
    assert CachedScore.objects.count() == 8 and carried_out(run).state == "done"


@pytest.mark.django_db(transaction=True)
def test_threads_that_claim_at_once_get_different_shards():
    study = cast.study("agreement", materials=cast.material_set("many", n_items=12))
    run = begun(a_run(study))
    start, got = threading.Barrier(4), []

    def take():
        start.wait()
        while shard := claim(run):
            got.append((shard.pk, shard.attempts))
        connection.close()

    threads = [threading.Thread(target=take) for _ in range(4)]
    [thread.start() for thread in threads], [thread.join() for thread in threads]
    assert len(got) == len(set(got)) == mine(run).count() == 12
    assert {attempts for _, attempts in got} == {1}


@pytest.mark.django_db(transaction=True)
def test_lease_is_renewed_while_a_shard_is_scored(settings, monkeypatch):
    settings.JOB_STALE_SECONDS = 1
    scored, seen = ArpaScorer.score, []

    def slow(self, sentences, *, progress=None, **rest):
        progress(1)
        for _ in range(8):
            time.sleep(0.25)
            seen.append(claim(run))
        return scored(self, sentences, **rest)

    run = begun(a_run(cast.study("agreement")))
    mine(run).exclude(number=1).delete()
    monkeypatch.setattr(ArpaScorer, "score", slow)
    score_shard(run, claim(run))
    assert seen == [None] * 8 and mine(run).get().state == State.DONE and mine(run).get().attempts == 1


def test_nan_of_a_model_is_kept_as_no_score(monkeypatch):
    scored = ArpaScorer.score

    def holes(self, sentences, **rest):
        found = scored(self, sentences, **rest)
        return found._replace(logprob=np.where(["1" in one for one in sentences], np.nan, found.logprob))

    monkeypatch.setattr(ArpaScorer, "score", holes)
    run = carried_out(a_run(cast.study("agreement")))
    assert (run.state, run.n_missing, run.n_sentences) == ("done", 2, 6) and len(run.spec["missing"]) == 2


def test_help_for_a_finished_run_does_nothing(asked):
    run = carried_out(a_run(cast.study("agreement")))
    asked.clear()
    assert help_out(run.pk) is False and help_out(10**6) is False and not asked


def test_cores_are_shared_among_the_processes_of_a_worker(monkeypatch, settings):
    monkeypatch.setattr(held_model.os, "sched_getaffinity", lambda process: set(range(8)), raising=False)
    held_model.note_processes(type("Worker", (), {"concurrency": 3}))
    monkeypatch.setenv(held_model.PROCESSES, held_model.os.environ[held_model.PROCESSES])
    assert held_model.threads() == 2
    settings.SCORING_THREADS = 5
    assert held_model.threads() == 5


def test_process_keeps_one_model(models_dir, monkeypatch):
    opened = []
    monkeypatch.setattr(held_model, "scorer", lambda uri: opened.append(uri) or scorer(uri))
    write_bigram(models_dir, name="other.arpa", more="A key is here .")
    first, other = (ScoringRun(model=uri, spec={}) for uri in (URI, "arpa:./other.arpa"))
    for run in (first, first, other, first):
        held_model.model_of(run)
    assert [uri.rpartition("/")[2] for uri in opened] == ["bigram.arpa", "other.arpa", "bigram.arpa"]


class worker:
    """The process of ``shard_worker.py`` on the test's database."""

    def __init__(self, run, *, halt_at: int, settings) -> None:
        self.words = [sys.executable, "-m", "tests.analysis.releases.shard_worker", str(run.pk), str(halt_at)]
        self.env = {
            **os.environ,
            "DATABASE_URL": database_url(),
            "MODELS_DIR": str(settings.MODELS_DIR),
            "JOB_STALE_SECONDS": str(settings.JOB_STALE_SECONDS),
        }

    def __enter__(self) -> subprocess.Popen:
        self.process = subprocess.Popen(self.words, env=self.env, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        return self.process

    def __exit__(self, *error) -> None:
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


def database_url() -> str:
    said = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{said['NAME']}"
    host = f"{said['HOST'] or '127.0.0.1'}:{said['PORT'] or 5432}"
    return f"postgres://{said['USER']}:{said['PASSWORD']}@{host}/{said['NAME']}"
