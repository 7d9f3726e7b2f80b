"""A study that nobody took is deleted; of a closed one, the answers of everybody."""

import pytest

from experiments.models import AuditEntry, Experiment, Job, MaterialSet, Membership
from experiments.operation import job_runner
from experiments.studies.history import old_and_new
from judgments.models import Judgment, PlatformIdentity, Session, Tombstone
from judgments.sessions.enrollment import begin_preview
from tests import cast

pytestmark = pytest.mark.django_db
ADDRESS = "/studies/agreement/delete/"
SURE = {"name": "agreement"}


def drafted():
    study = cast.study("agreement")
    Experiment.objects.update(status="draft", opened_at=None)
    return study


def close(study):
    Experiment.objects.filter(pk=study.pk).update(status="closed")


def work():
    for job in Job.objects.filter(state=Job.State.QUEUED):
        job_runner.run(job.pk)
        job.refresh_from_db()
        assert job.state == Job.State.DONE, job.error


def test_an_owner_deletes_a_draft_with_its_previews_and_the_materials_stay(client):
    study = drafted()
    version = study.current_version()
    version.is_preview = True
    version.save()
    begin_preview(study, version, key="k", consent_text="")
    client.force_login(cast.ada())
    assert "/studies/agreement/delete/" in client.get("/studies/agreement/").content.decode()
    assert "The study has no participants" in client.get(ADDRESS).content.decode()
    assert "That is not agreement" in client.post(ADDRESS, {"name": "other"}).content.decode()
    assert Experiment.objects.exists()
    assert client.post(ADDRESS, SURE).url == "/"
    assert not Experiment.objects.exists() and not Session.objects.exists()
    assert MaterialSet.objects.exists()
    assert "is deleted" in client.get("/").content.decode()
    entry = AuditEntry.objects.get(action="study deleted")
    assert (entry.account, entry.user) == (cast.ada(), cast.ada())
    assert old_and_new(entry.details) == {"agreement": ("Study agreement: draft", "")}
    assert "Study deleted" in client.get("/account/history/").content.decode()


def test_a_running_study_is_not_deleted_with_the_reason(client):
    study = cast.study("agreement")
    client.force_login(cast.ada())
    client.post(ADDRESS, SURE)
    assert Experiment.objects.exists()
    cast.sit(study, "pia")
    page = client.post(ADDRESS, SURE).content.decode()
    assert "Close it first" in page and 'class="button danger"' not in page
    assert Experiment.objects.exists() and Judgment.objects.exists() and not Job.objects.exists()


def test_all_answers_are_deleted_at_the_end_of_their_retention(client):
    study = cast.study("agreement")
    people = [cast.sit(study, name).participant for name in ("pia", "quentin")]
    identity = {"experiment": study, "recruiter": "direct", "external_id": "P1"}
    PlatformIdentity.objects.update_or_create(participant=people[0], defaults=identity)
    close(study)
    client.force_login(cast.ada())
    assert "2 participants" in client.get(ADDRESS).content.decode()
    jobs = {client.post(ADDRESS, SURE).url for _ in range(2)}
    assert len(jobs) == 1
    work()
    assert not Judgment.objects.exists() and not PlatformIdentity.objects.exists()
    assert Experiment.objects.exists() and Tombstone.objects.count() == 2
    assert AuditEntry.objects.filter(action="answers deleted", user=cast.ada()).count() == 2
    overview = " ".join(client.get("/studies/agreement/").content.decode().split())
    assert "Answers deleted</dt><dd>2 <small>sessions, 8 judgments" in overview
    assert "Deletion of everybody" in client.get(jobs.pop()).content.decode()


def test_only_owners_delete(client):
    study = drafted()
    Membership.objects.create(experiment=study, user=cast.cleo(), role="editor")
    for name in (cast.ben, cast.cleo):
        client.force_login(name())
        assert client.get(ADDRESS).status_code == client.post(ADDRESS, SURE).status_code == 403
        assert ADDRESS not in client.get("/studies/agreement/").content.decode()
    assert "for the owners of the study" in client.get(ADDRESS).content.decode()  # Cleo is an editor
    assert Experiment.objects.exists()
