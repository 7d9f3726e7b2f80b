"""Every kind of long work has words of its own on the pages."""

import pytest

from experiments.models import Job
from experiments.operation.job_runner import KINDS, load_kinds
from experiments.templatetags.wording import WORDS
from tests import cast


def test_every_kind_of_job_has_a_title():
    load_kinds()
    kinds = {kind for kind, work in KINDS.items() if not work.__module__.startswith("tests")}
    assert len(kinds) > 5 and kinds == set(WORDS)


@pytest.mark.django_db
def test_the_list_of_jobs_speaks_words(client):
    client.force_login(cast.ada())
    job = Job.objects.create(kind="releases.score", created_by=cast.ada())
    page = client.get("/jobs/").content.decode()
    assert "Scoring of sentences" in page and "releases.score" not in page
    assert "<h1>Scoring of sentences</h1>" in client.get(f"/jobs/{job.pk}/").content.decode()
