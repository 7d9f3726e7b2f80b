"""Jobs: started once, finished once, restarted when their worker dies."""

from datetime import timedelta

import pytest
from django.utils import timezone

from analysis.errors import BadInput
from experiments import job_runner
from experiments.job_runner import Overtaken, enqueue, job, requeue_stale, run
from experiments.models import Job
from tests import cast

pytestmark = pytest.mark.django_db
LONG_AGO = timedelta(hours=1)


@pytest.fixture(autouse=True)
def sent(monkeypatch):
    """Ids that would have gone to Celery."""
    ids = []
    monkeypatch.setattr(job_runner, "send", ids.append)
    monkeypatch.setattr(job_runner, "KINDS", dict(job_runner.KINDS))
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
