"""Jobs are seen by who asked for them and by the study's team."""

import pytest

from experiments.models import Job
from tests import cast

pytestmark = pytest.mark.django_db


@pytest.fixture
def job():
    return Job.objects.create(
        kind="releases.build",
        experiment=cast.draft("agreement"),
        created_by=cast.ada(),
        state=Job.State.FAILED,
        error="items.csv, row 3: <b>no member</b>",
    )


@pytest.mark.parametrize("address", ["/jobs/{}/", "/jobs/{}/part/"])
def test_team_sees_the_job_and_strangers_nothing(client, job, address):
    for somebody, status in [(cast.ada(), 200), (cast.ben(), 200), (cast.cleo(), 404)]:
        client.force_login(somebody)
        assert client.get(address.format(job.pk)).status_code == status
    client.logout()
    assert client.get(address.format(job.pk)).status_code == 302


def test_list_holds_own_jobs_once(client, job):
    client.force_login(cast.ada())
    page = client.get("/jobs/").content.decode()
    assert page.count(f"/jobs/{job.pk}/part/") == 1
    assert "&lt;b&gt;no member" in page
    client.force_login(cast.cleo())
    assert "No jobs yet" in client.get("/jobs/").content.decode()


def test_result_is_shown_as_facts(client, job):
    Job.objects.filter(pk=job.pk).update(
        state=Job.State.DONE, result={"n_pairs": 67, "parts": [1, 2]}, error=""
    )
    client.force_login(cast.ada())
    page = client.get(f"/jobs/{job.pk}/").content.decode()
    assert "<dt>N pairs</dt><dd>67</dd>" in page and "parts" not in page


def test_a_job_of_a_study_names_it_in_the_menu_of_its_members_only(client, job):
    client.force_login(cast.ben())
    assert 'aria-label="Study Study agreement"' in client.get(f"/jobs/{job.pk}/").content.decode()
    job.created_by = cast.cleo()  # who started it and has left the study
    job.save()
    client.force_login(cast.cleo())
    assert 'aria-label="Study' not in client.get(f"/jobs/{job.pk}/").content.decode()
