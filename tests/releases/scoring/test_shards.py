"""Scoring runs by shards: once each, whatever fails, runs late or comes twice."""

from datetime import timedelta

import numpy as np
import pytest
from django.db import connection
from django.urls import reverse
from django.utils import timezone
from kombu.exceptions import OperationalError

from analysis.errors import BadInput
from analysis.scoring import scorer
from analysis.scoring.base import FLAG_SAME, flag_counts
from analysis.scoring.scorers.arpa import ArpaScorer
from experiments.models import Job
from releases.models import CachedScore, ScoreShard
from releases.scoring import execution, score_cache
from releases.scoring.execution import run_progress
from releases.scoring.runs import request_model_runs, retry_run
from releases.scoring.score_cache import read_scores, store
from releases.scoring.shards import ATTEMPTS, claim, run_shards, score_shard, will_repeat
from tests import cast
from tests.releases.models_dir import URI
from tests.releases.scoring_runs import a_run, execute_run, expected, stored, with_shards

really_request_helpers = execution.request_helpers  # the fixture models_dir replaces it
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("models_dir")]
State = ScoreShard.State


def test_run_gives_the_scores_of_the_model_by_shards(models_dir):
    run = execute_run(a_run(cast.study("agreement")))
    assert (run.state, run.n_distinct, run.n_cached, run.n_sentences) == ("done", 8, 0, 8)
    assert [shard.state for shard in run_shards(run)] == ["done"] * 4
    assert stored(run) == pytest.approx(expected(run, models_dir))
    assert run.revision.startswith("sha256:") and "given" not in run.scorer.spec["uri"]


def test_run_whose_broker_is_away_is_scored_by_its_own_process(monkeypatch, models_dir):
    attempts = []

    def fail(**message):
        attempts.append(message)
        raise OperationalError("connection refused")

    monkeypatch.setattr(execution, "request_helpers", really_request_helpers)
    monkeypatch.setattr(execution.run_shard, "apply_async", fail)
    run = execute_run(a_run(cast.study("agreement")))
    assert run.state == "done" and stored(run) == pytest.approx(expected(run, models_dir))
    assert attempts == [{"args": [run.pk], "queue": "cpu"}]


def test_helper_scores_one_shard_and_asks_for_the_next(monkeypatch):
    run = with_shards(a_run(cast.study("agreement")))
    run.state = "running"
    run.save(update_fields=["state"])
    requests = []
    monkeypatch.setattr(execution, "request_helpers", lambda run, n: requests.append((run.pk, n)))
    for _ in range(5):
        execution.run_shard(run.pk)
    assert [shard.state for shard in run_shards(run)] == ["done"] * 4
    assert requests == [(run.pk, 1)] * 4


def test_shard_is_claimed_by_one_and_lease_runs_out(settings):
    run = with_shards(a_run(cast.study("agreement")))
    claims = [claim(run) for _ in range(5)]
    assert len({shard.pk for shard in claims[:4]}) == 4 and claims[4] is None
    ScoreShard.objects.filter(pk=claims[1].pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    reclaimed = claim(run)
    assert (reclaimed.pk, reclaimed.attempts) == (claims[1].pk, 2) and claim(run) is None


def test_late_end_of_a_lost_lease_is_no_end():
    run = with_shards(a_run(cast.study("agreement")))
    late = claim(run)
    ScoreShard.objects.filter(pk=late.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    reclaimed = next(shard for shard in iter(lambda: claim(run), None) if shard.pk == late.pk)
    score_shard(run, late)
    reclaimed.refresh_from_db()
    assert (reclaimed.state, reclaimed.attempts) == (State.RUNNING, 2)
    score_shard(run, reclaimed)
    assert CachedScore.objects.count() == 2


def test_shard_that_fails_thrice_is_failed_with_its_reason_and_can_be_retried(monkeypatch, models_dir):
    scored = ArpaScorer.score

    def broken(self, sentences, **options):
        if any("3" in sentence for sentence in sentences):
            raise MemoryError("no memory for the third")
        return scored(self, sentences, **options)

    monkeypatch.setattr(ArpaScorer, "score", broken)
    study = cast.study("agreement")
    run = execute_run(a_run(study))
    failed = run_shards(run).filter(state=State.FAILED)
    assert failed and all(shard.attempts == ATTEMPTS for shard in failed)
    assert run.state == "failed" and "no memory for the third" in run.error
    assert f"{failed.count()} of 4 shards failed" in run.job.error and not stored(run)
    monkeypatch.setattr(ArpaScorer, "score", scored)
    before = CachedScore.objects.count()
    retried = retry_run(run, experiment=study, user=cast.ada())
    assert retried.job.state == Job.State.QUEUED and retry_run(run, experiment=study).job == retried.job
    assert execute_run(run).state == "done" and 0 < before < CachedScore.objects.count() == 8
    assert stored(run) == pytest.approx(expected(run, models_dir)) and not failed.all().exists()


@pytest.mark.parametrize("error", [ValueError("no such token"), FileNotFoundError("bigram.arpa")])
def test_failure_that_will_repeat_is_tried_once_and_ends_the_run(monkeypatch, error):
    calls = []

    def broken(self, sentences, **options):
        calls.append(len(sentences))
        raise error

    monkeypatch.setattr(ArpaScorer, "score", broken)
    run = execute_run(a_run(cast.study("agreement")))
    assert len(calls) == 1 and run.state == "failed" and str(error) in run.error
    assert set(run_shards(run).values_list("state", flat=True)) == {State.FAILED}


def test_failure_of_some_sentences_leaves_the_other_shards_their_turn(monkeypatch):
    scored = ArpaScorer.score

    def broken(self, sentences, **options):
        if any("3" in sentence for sentence in sentences):
            raise ValueError("the third")
        return scored(self, sentences, **options)

    monkeypatch.setattr(ArpaScorer, "score", broken)
    run = execute_run(a_run(cast.study("agreement")))
    states = run_shards(run).order_by("number").values_list("state", "attempts")
    assert sorted(states) == [("done", 1)] * 3 + [("failed", 1)]


def test_failure_of_a_connection_is_tried_again():
    assert not will_repeat(ConnectionResetError())
    try:
        try:
            raise TimeoutError("read")
        except TimeoutError as cause:
            raise BadInput("the server does not answer.") from cause
    except BadInput as error:
        assert not will_repeat(error)
    assert will_repeat(BadInput("the model cannot be opened.")) and not will_repeat(
        RuntimeError("CUDA error")
    )


def test_indistinguishable_sentences_are_those_of_the_run_whatever_the_shards(settings, models_dir):
    run = execute_run(a_run(cast.study("agreement"), model=f"{URI}?casing=lower&punctuation=split"))
    texts = [sentence.words for sentence in execution.run_sentences(run)]
    model = scorer(f"arpa:{models_dir / 'bigram.arpa'}?casing=lower&punctuation=split")
    at_once = flag_counts(model.score(texts).flags)
    assert run.spec["flags"] == at_once
    row, [first, *others_of_run] = run.scorer, texts
    doubled = [first, *others_of_run, first.replace("keys", "KEYS")]
    store(row, doubled[-1:], model.score(doubled[-1:]))
    flags = [
        scores.flags & FLAG_SAME > 0 for scores in (read_scores(row, doubled, model), model.score(doubled))
    ]
    assert flags[0].tolist() == flags[1].tolist() and flags[0][[0, -1]].all()
    assert not (read_scores(row, [first], model).flags & FLAG_SAME).any()


def test_worker_that_dies_thrice_fails_its_shard():
    run = with_shards(a_run(cast.study("agreement")))
    run_shards(run).filter(number=1).update(
        state=State.RUNNING, attempts=ATTEMPTS, lease_until=timezone.now() - timedelta(seconds=1)
    )
    while shard := claim(run):
        score_shard(run, shard)
    assert "died at every attempt" in run_shards(run).get(state=State.FAILED).error


def test_two_runs_of_one_model_share_their_shards(scored_texts):
    first, second = request_model_runs(
        cast.study("agreement"), [URI], methods=["lp", "charlp"], user=cast.ada()
    )
    with_shards(first), with_shards(second)
    assert set(run_shards(first)) == set(run_shards(second)) and ScoreShard.objects.count() == 4
    assert execute_run(second).state == execute_run(first).state == "done"
    assert sum(len(call) for call in scored_texts) == 8


def test_progress_counts_what_is_cached_and_done():
    study = cast.study("agreement")
    run = with_shards(a_run(study))
    score_shard(run, claim(run))
    now = run_progress(run)
    assert (now.sentences, now.cached, now.done, now.percent) == (8, 0, 2, 25)
    assert (now.shards, now.shards_done, now.shards_failed) == (4, 1, 0) and now.seconds_left is not None
    progress = run_progress(execute_run(run))
    assert (progress.done, progress.percent, progress.seconds_left) == (8, 100, None)


def test_full_disk_leaves_no_half_of_a_shard(monkeypatch):
    run = with_shards(a_run(cast.study("agreement")))
    shard = claim(run)

    def full(*args, **options):
        CachedScore.objects.create(
            scorer=run.scorer, sentence_sha=b"half", n_tokens=1, n_words=1, n_chars=1, n_unk=0
        )
        raise score_cache.DatabaseError("database or disk is full")

    monkeypatch.setattr(CachedScore.objects, "bulk_create", full)
    score_shard(run, shard)
    shard.refresh_from_db()
    assert "the disk of the database is full" in shard.error and "Retry" in shard.error
    assert not CachedScore.objects.exists() and shard.state == State.QUEUED


@pytest.mark.skipif(connection.vendor != "sqlite", reason="SQLite alone has a limit of pages to run into")
@pytest.mark.django_db(transaction=True)
def test_a_full_database_is_reported(settings):
    settings.SHARD_SENTENCES = 2_000
    texts = ("The keys {n} are here" + " and here" * 40 + ".", "The keys {n} is here.")
    study = cast.study("agreement", materials=cast.material_set("long", n_items=300, texts=texts))
    run = with_shards(a_run(study))
    shard = claim(run)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM")  # pages that earlier tests freed would take the rows
        n_pages = cursor.execute("PRAGMA page_count").fetchone()[0]
        cursor.execute(f"PRAGMA max_page_count={n_pages + 2}")
        try:
            score_shard(run, shard)
        finally:
            cursor.execute("PRAGMA max_page_count=1073741823")
    shard.refresh_from_db()
    assert "the disk of the database is full" in shard.error and not CachedScore.objects.exists()


def test_measure_that_the_model_cannot_give_fails_before_scoring(monkeypatch, scored_texts):
    monkeypatch.setattr(ArpaScorer, "capabilities", frozenset({"sum", "tokens"}))
    run = execute_run(a_run(cast.study("agreement"), methods=["slor"]))
    assert run.state == "failed" and "own probabilities" in run.error and not scored_texts


def test_nan_of_a_model_is_kept_as_no_score(monkeypatch):
    scored = ArpaScorer.score

    def holes(self, sentences, **options):
        scores = scored(self, sentences, **options)
        return scores._replace(
            logprob=np.where(["1" in sentence for sentence in sentences], np.nan, scores.logprob)
        )

    monkeypatch.setattr(ArpaScorer, "score", holes)
    run = execute_run(a_run(cast.study("agreement")))
    assert (run.state, run.n_missing, run.n_sentences) == ("done", 2, 6) and len(run.spec["missing"]) == 2


def test_the_page_of_a_run_warns_of_pairs_whose_sentences_are_read_alike(client):
    study = cast.study(
        "cased", materials=cast.material_set("cased", texts=("The Keys {n} are.", "The keys {n} are."))
    )
    run = execute_run(a_run(study, model=f"{URI}?casing=lower"))
    n_pairs = study.materials.pairs.count()
    assert run.spec["check"]["findings"][0]["n"] == n_pairs
    client.force_login(cast.ada())
    page = client.get(reverse("study-scoring-run", args=[study.slug, run.pk])).content.decode()
    grave = f'<div class="flag bad">{n_pairs} of {n_pairs} pairs have two sentences of the same tokens: a tie'
    assert grave in page and "<dt>indistinguishable" not in page
