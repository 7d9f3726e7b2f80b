"""Signals are computed by a job, stored, shown with their reasons; people are erased on request."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from experiments.models import Job
from experiments.operation import job_runner
from judgments.models import Judgment, Signal
from judgments.quality_check import check_stale_studies, last_check
from judgments.sessions.completion import finish
from releases import jobs
from tests import cast

pytestmark = pytest.mark.django_db
ADDRESS = "/studies/agreement/participants/"


@pytest.fixture
def study():
    return cast.study("agreement")


def robot(study, name="quentin"):
    """A session whose answers a program gave."""
    session = cast.begin(study, name)
    for trial in session.trials.select_related("session__experiment"):
        cast.record(session, trial.public_id, cast.answer_to(trial), timing={"trusted": False})
    return finish(session)


def work():
    """Let the worker do what waits."""
    assert jobs.CHECK in job_runner.KINDS
    for job in Job.objects.filter(state=Job.State.QUEUED):
        job_runner.run(job.pk)
        job.refresh_from_db()
        assert job.state == Job.State.DONE, job.error


def test_an_editor_has_the_signals_computed_and_they_are_shown_with_their_reasons(client, study):
    session = robot(study)
    cast.sit(study, "pia")
    client.force_login(cast.ada())
    page = client.get(ADDRESS).content.decode()
    assert "Signals have not been computed yet" in page
    assert page.count("not checked yet") == 2 and ">none<" not in page
    for _ in range(2):
        client.post(f"{ADDRESS}check/")
    assert Job.objects.count() == 1
    work()
    (signal,) = Signal.objects.all()
    assert (signal.session, signal.name, signal.version) == (session, "untrusted", 1)
    page = client.get(f"{ADDRESS}?signal=untrusted")
    assert "4 of 4 answers were given by a program" in page.content.decode()
    assert "not checked yet" not in client.get(ADDRESS).content.decode()
    assert [row["participant"] for row in page.context["participants"]] == [session.participant]


def test_a_second_check_replaces_the_first(client, study):
    robot(study)
    for _ in range(2):
        client.force_login(cast.ada())
        client.post(f"{ADDRESS}check/")
        work()
    assert Signal.objects.count() == 1


def test_new_sessions_make_a_check_due_and_it_is_asked_for_once(study):
    assert check_stale_studies() == 0
    robot(study)
    assert last_check(study).n_since == 1
    assert (check_stale_studies(), check_stale_studies()) == (1, 0)
    work()
    assert last_check(study).n_since == 0


def test_a_signal_excludes_and_rejects_no_participant(client, study):
    session = robot(study)
    client.force_login(cast.ada())
    client.post(f"{ADDRESS}check/")
    work()
    session.refresh_from_db()
    assert session.status == "complete" and not session.participant.flags.exists()
    assert not session.payments.exists()


def test_viewers_cannot_ask_for_a_check_or_erase(client, study):
    session = robot(study)
    client.force_login(cast.ben())
    assert client.post(f"{ADDRESS}check/").status_code == 403
    assert client.post(f"{ADDRESS}{session.participant.pk}/erase/").status_code == 403


def test_an_editor_erases_after_a_question(client, study):
    session = robot(study)
    client.force_login(cast.ada())
    address = f"{ADDRESS}{session.participant.pk}/erase/"
    assert "Pay does not change" in client.get(address).content.decode()
    assert Judgment.objects.exists()
    client.post(address, {"forget": "on"})
    assert not Judgment.objects.exists()
    assert "answers deleted" in client.get(ADDRESS).content.decode()


def test_the_page_asks_the_database_as_often_for_many_as_for_few(client, study):
    client.force_login(cast.ada())

    def queries_after(names):
        for name in names:
            cast.sit(study, name)
        with CaptureQueriesContext(connection) as queries:
            assert client.get(ADDRESS).status_code == 200
        return len(queries)

    # Half of these read the frame for finding and figure.
    few = queries_after([f"p{number}" for number in range(12)])
    many = queries_after([f"p{number}" for number in range(12, 24)])
    assert many <= few <= 57
