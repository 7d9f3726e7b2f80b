"""Platform ids are deleted on a day that is set when the study closes."""

from datetime import timedelta

import pytest
from django.core.management import call_command
from django.utils import timezone

from config.job_queue import celery_settings
from experiments.models import AuditEntry, Experiment
from experiments.studies.lifecycle import close
from judgments.models import Judgment, PlatformIdentity, Submission
from judgments.periodic import purge_platform_ids
from tests import cast

pytestmark = pytest.mark.django_db
PROVEN = {"recruiter": "prolific", "external_id": "5f0c1d2e3a4b5c6d7e8f9012"}


@pytest.fixture
def study():
    experiment = cast.study("agreement")
    cast.sit(experiment, "pia", **PROVEN)
    return experiment


def days(n):
    return timezone.now().date() + timedelta(days=n)


def due(study):
    PlatformIdentity.objects.filter(experiment=study).update(purge_at=days(-1))


def test_closing_a_study_sets_the_day_and_opening_none(study, settings):
    settings.VAULT_DAYS = 30
    assert PlatformIdentity.objects.get().purge_at is None
    close(study)
    assert PlatformIdentity.objects.get().purge_at == days(30)


def test_the_scheduled_job_deletes_ids_whose_day_has_come_and_no_answer(study):
    assert "judgments.purge_platform_ids" in {row["task"] for row in celery_settings.beat_schedule.values()}
    close(study)
    n_answers = Judgment.objects.count()
    purge_platform_ids()
    assert PlatformIdentity.objects.count() == 1
    due(study)
    purge_platform_ids()
    purge_platform_ids()
    assert not PlatformIdentity.objects.exists() and Judgment.objects.count() == n_answers > 0
    entries = AuditEntry.objects.filter(experiment=study, action="platform ids purged")
    assert [entry.details for entry in entries] == [{"identities": 1}]


def test_a_study_closed_without_its_page_gets_its_day_from_the_job(study):
    Experiment.objects.filter(pk=study.pk).update(status="closed", closed_at=timezone.now())
    purge_platform_ids()
    assert PlatformIdentity.objects.get().purge_at is not None
    Experiment.objects.filter(pk=study.pk).update(closed_at=timezone.now() - timedelta(days=4000))
    PlatformIdentity.objects.update(purge_at=None)
    purge_platform_ids()
    assert PlatformIdentity.objects.get().purge_at == days(30)  # long closed: its team gets a month


def test_an_id_is_kept_until_the_pay_is_decided(study, capsys):
    close(study)
    due(study)
    campaign = study.campaigns.create(name="run", recruiter="prolific")
    row = Submission.objects.create(
        campaign=campaign,
        external_id="s1",
        session=study.sessions.get(),
        status="submitted",
        last_seen_at=timezone.now(),
    )
    call_command("purge_platform_ids", json=True)
    assert '"deleted": 0' in capsys.readouterr().out
    Submission.objects.filter(pk=row.pk).update(status="approved")
    call_command("purge_platform_ids")
    assert capsys.readouterr().out == "Deleted 1 platform id.\n"


def test_an_editor_chooses_another_day_and_the_history_has_both(client, study):
    close(study)
    before = PlatformIdentity.objects.get().purge_at
    client.force_login(cast.ada())
    address = "/studies/agreement/participants/purge-date/"
    assert f"{before:%Y-%m-%d}" in client.get("/studies/agreement/participants/").content.decode()
    client.post(address, {"day": f"{days(7):%Y-%m-%d}"})
    assert PlatformIdentity.objects.get().purge_at == days(7)
    entry = AuditEntry.objects.get(action="purge date changed")
    assert entry.details["changes"]["purge date"] == {"old": str(before), "new": str(days(7))}
    for wrong in ("", "soon", f"{days(-1):%Y-%m-%d}", "9999-01-01"):
        client.post(address, {"day": wrong})
    assert PlatformIdentity.objects.get().purge_at == days(7)


def test_the_day_of_an_open_study_cannot_be_set(client, study):
    client.force_login(cast.ada())
    page = client.post(
        "/studies/agreement/participants/purge-date/", {"day": f"{days(7):%Y-%m-%d}"}, follow=True
    )
    assert "not closed" in page.content.decode()
    assert PlatformIdentity.objects.get().purge_at is None
