"""Jobs: started once, finished once, restarted when their worker dies."""

from datetime import timedelta

import pytest
from botocore.exceptions import EndpointConnectionError
from django.db import InterfaceError, OperationalError
from django.utils import timezone
from kombu.exceptions import KombuError

from analysis.errors import BadInput
from experiments.models import Job
from experiments.operation import job_runner
from experiments.operation.job_runner import IOFailure, Overtaken, enqueue, job, requeue_stale, run
from tests import cast

pytestmark = pytest.mark.django_db
LONG_AGO = timedelta(hours=1)


@pytest.fixture(autouse=True)
def sent(monkeypatch):
    """Ids that would have gone to Celery."""
    ids = []
    monkeypatch.setattr(job_runner, "send", ids.append)
    monkeypatch.setattr(job_runner, "KINDS", dict(job_runner.KINDS))
    monkeypatch.setattr(job_runner, "AFTER_FAILURE", dict(job_runner.AFTER_FAILURE))
    return ids


def declare(work):
    job("test.work")(work)


def adding(run):
    run.progress(1, 4, "half way")
    with run.finishing() as result:
        result["sum"] = sum(run.arguments["numbers"])


def test_job_runs_reports_and_is_done(django_capture_on_commit_callbacks, sent):
    declare(adding)
    with django_capture_on_commit_callbacks(execute=True):
        row = enqueue("test.work", {"numbers": [1, 2]}, user=cast.ada())
    assert sent == [row.pk]
    run(row.pk)
    row.refresh_from_db()
    assert (row.state, row.result, row.percent, row.attempt) == ("done", {"sum": 3}, 100, 1)
    assert row.finished_at >= row.started_at


def test_second_delivery_of_the_same_id_does_nothing():
    declare(adding)
    row = enqueue("test.work", {"numbers": [1]})
    run(row.pk)
    declare(lambda _: pytest.fail("the work ran twice"))
    run(row.pk)
    row.refresh_from_db()
    assert row.attempt == 1


def test_same_key_is_the_same_job(django_capture_on_commit_callbacks, sent):
    with django_capture_on_commit_callbacks(execute=True):
        first = enqueue("test.work", {}, key="release-1")
        second = enqueue("test.work", {}, key="release-1")
    assert first.pk == second.pk
    assert sent == [first.pk]


def test_overtaken_start_can_neither_report_nor_finish():
    stories = []

    def slow(run):
        Job.objects.update(attempt=2)  # a second worker has taken the row
        with pytest.raises(Overtaken):
            run.progress(1, 2)
        with pytest.raises(Overtaken), run.finishing() as result:
            result["effect"] = "twice"
        stories.append("told")

    declare(slow)
    row = enqueue("test.work", {})
    run(row.pk)
    row.refresh_from_db()
    assert stories == ["told"]
    assert (row.state, row.result) == ("running", {})


def test_effect_and_result_are_stored_together_or_not_at_all():
    def half(run):
        with run.finishing() as result:
            cast.material_set("half a set")
            result["name"] = "half a set"
            raise OSError("disk full")

    declare(half)
    row = enqueue("test.work", {})
    run(row.pk)
    row.refresh_from_db()
    assert (row.state, row.result) == ("failed", {})
    assert "disk full" in row.error
    assert not type(cast.material_set("other")).objects.filter(name="half a set").exists()


MISSING = FileNotFoundError(2, "No such file or directory", "/srv/obelus/media/uploads/1/2")
INTERRUPTIONS = {
    "a file that another host has": (MISSING, "A stored file is missing."),
    "a full disk": (OSError(28, "No space left on device", "/srv/obelus/media/x"), "The disk of the server"),
    "a read-only mount": (OSError(30, "Read-only file system", "/srv/obelus/media/x"), "A file could not be"),
    "a connection that broke": (ConnectionResetError(104, "reset by peer"), "A connection was lost."),
    "a database that restarts": (OperationalError("server closed at /var/run"), "The database did not"),
    "a closed connection": (InterfaceError("connection already closed"), "The database did not"),
    "an absent broker": (KombuError("amqp://10.0.0.3"), "The message broker did not respond."),
    "an absent S3": (EndpointConnectionError(endpoint_url="http://10.0.0.4"), "The shared storage did not"),
    "a release not written": (
        IOFailure("the release could not be written: Input/output error.", file="/srv/obelus/releases/x"),
        "The release could not be written: Input/output error.",
    ),
}


@pytest.mark.parametrize("error, sentence", INTERRUPTIONS.values(), ids=INTERRUPTIONS.keys())
def test_interrupted_job_is_tried_again_later_and_done(sent, error, sentence):
    failures = [error]

    def work(run):
        if failures:
            raise failures.pop()
        adding(run)

    declare(work)
    row = enqueue("test.work", {"numbers": [4]})
    run(row.pk)
    row.refresh_from_db()
    assert (row.state, row.io_failures, row.error) == ("queued", 1, "")
    assert row.message.startswith(sentence) and "Attempt 2 of 5 follows at" in row.message
    assert "/srv" not in row.message and "10.0.0" not in row.message and "/var" not in row.message
    run(row.pk)  # a second delivery of the message does not cut the delay short
    assert requeue_stale() == 0
    assert Job.objects.get().state == "queued"
    Job.objects.update(retry_at=timezone.now())
    assert requeue_stale() == 1 and sent[-1] == row.pk
    run(row.pk)
    row.refresh_from_db()
    assert (row.state, row.attempt, row.io_failures, row.message) == ("done", 2, 0, "")
    assert row.result == {"sum": 4}


def test_delays_grow_and_the_last_attempt_is_final_and_told(settings):
    def work(run):
        raise MISSING

    reasons = []
    job("test.work", after_failure=lambda failed, reason: reasons.append((failed.pk, reason)))(work)
    row = enqueue("test.work", {})
    delays = []
    for _ in range(settings.JOB_MAX_ATTEMPTS - 1):
        before = timezone.now()
        run(row.pk)
        row.refresh_from_db()
        delays.append(round((row.retry_at - before).total_seconds()))
        Job.objects.update(retry_at=None)
    assert delays == [15, 60, 240, 960] and reasons == []
    run(row.pk)
    row.refresh_from_db()
    assert (row.state, row.attempt) == ("failed", settings.JOB_MAX_ATTEMPTS)
    assert "5 attempts have failed" in row.error and "/srv" not in row.error
    assert reasons == [(row.pk, row.error)]
    job_runner.retry(row)
    row.refresh_from_db()
    assert (row.state, row.io_failures, row.retry_at) == ("queued", 0, None)


def test_retry_that_waits_for_a_clock_that_was_set_back_is_started(sent):
    row = enqueue("test.work", {})
    Job.objects.update(io_failures=1, retry_at=timezone.now() + timedelta(days=1))
    assert requeue_stale() == 1 and sent == [row.pk]
    row.refresh_from_db()
    assert row.retry_at is None


def test_a_model_that_does_not_exist_is_final_at_once():
    def work(run):
        raise OSError("no-such/model is not a local folder and is not a valid model identifier")

    declare(work)
    row = enqueue("test.work", {})
    run(row.pk)
    row.refresh_from_db()
    assert (row.state, row.attempt) == ("failed", 1) and "valid model identifier" in row.error


def test_job_whose_error_cannot_be_stored_goes_stale_and_is_started_again(monkeypatch, sent):
    def work(run):
        raise OperationalError("the database restarts")

    def away(*_):
        raise OperationalError("connection refused")

    declare(work)
    row = enqueue("test.work", {})
    with monkeypatch.context() as database:
        database.setattr(job_runner, "_retry_or_fail", away)
        run(row.pk)
    row.refresh_from_db()
    assert (row.state, row.attempt) == ("running", 1)
    Job.objects.update(heartbeat_at=timezone.now() - LONG_AGO, created_at=timezone.now() - LONG_AGO)
    assert requeue_stale() == 1 and sent == [row.pk]


def test_given_up_job_is_told_where_its_kind_says(settings):
    reasons = []
    job("test.work", after_failure=lambda failed, reason: reasons.append(reason))(adding)
    enqueue("test.work", {})
    dead = timezone.now() - LONG_AGO
    Job.objects.update(state="running", attempt=settings.JOB_MAX_ATTEMPTS, heartbeat_at=dead)
    requeue_stale()
    assert reasons == [Job.objects.get().error]


def test_bad_input_is_stored_in_the_job_verbatim():
    def refuse(run):
        raise BadInput("no such column.", file="items.csv", row=3)

    declare(refuse)
    row = enqueue("test.work", {})
    run(row.pk)
    row.refresh_from_db()
    assert (row.state, row.error) == ("failed", "items.csv, row 3: no such column.")


def test_stale_job_is_started_again_and_done(sent):
    declare(adding)
    row = enqueue("test.work", {"numbers": [5]})
    dead = timezone.now() - LONG_AGO
    Job.objects.update(state="running", attempt=1, heartbeat_at=dead, created_at=dead)
    assert requeue_stale() == 1
    assert sent == [row.pk]
    run(row.pk)
    row.refresh_from_db()
    assert (row.state, row.attempt, row.result) == ("done", 2, {"sum": 5})


def test_a_job_whose_worker_died_before_the_clock_was_set_back_is_started_again(sent):
    for number, state in enumerate(("running", "queued")):
        enqueue("test.work", {}, key=str(number))
        ahead = timezone.now() + LONG_AGO
        Job.objects.filter(key=str(number)).update(state=state, heartbeat_at=ahead, created_at=ahead)
    assert (requeue_stale(), requeue_stale()) == (2, 0)
    assert sorted(sent) == sorted(Job.objects.filter(state="queued").values_list("pk", flat=True))


def test_job_that_kills_every_worker_is_given_up(settings):
    enqueue("test.work", {})
    dead = timezone.now() - LONG_AGO
    Job.objects.update(state="running", attempt=settings.JOB_MAX_ATTEMPTS, heartbeat_at=dead)
    assert requeue_stale() == 0
    assert Job.objects.get().state == "failed"


def test_living_and_ended_jobs_are_left_alone():
    for state in ("running", "done", "failed"):
        Job.objects.create(kind="test.work", state=state, heartbeat_at=timezone.now())
    assert requeue_stale() == 0


def test_waiting_job_whose_message_was_lost_is_sent_once_per_period(sent):
    row = enqueue("test.work", {})
    Job.objects.update(created_at=timezone.now() - LONG_AGO)
    assert (requeue_stale(), requeue_stale()) == (1, 0)
    assert sent == [row.pk]
