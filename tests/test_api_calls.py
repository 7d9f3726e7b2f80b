"""Calls of the manual's table that no other test sends: each has its effect."""

from functools import partial

import pytest

from experiments.models import Upload, Webhook, WebhookDelivery
from tests import api, cast
from tests.releases.study import judged_study, scored

pytestmark = pytest.mark.django_db
on_study = partial(api.call_study, "agreement")


def test_the_uploaded_file_of_a_run_is_deleted_and_its_scores_stay():
    run = scored(judged_study(people=2), "bright")
    assert Upload.objects.filter(pk=run.spec["upload"]).exists()
    on_study("delete", f"scoring-runs/{run.pk}/file/", status=204)
    assert not Upload.objects.filter(pk=run.spec["upload"]).exists() and run.scores.exists()


def test_a_failed_run_is_tried_again():
    run = scored(judged_study(people=2), "bright")
    type(run).objects.filter(pk=run.pk).update(state="failed")
    assert on_study("post", f"scoring-runs/{run.pk}/retry/")["state"] == "queued"


def test_a_webhook_gets_another_secret_and_its_events_again(settings):
    settings.WEBHOOK_PRIVATE_TARGETS = True
    cast.study()
    body = {"address": "http://127.0.0.1:9/hook", "events": ["release.frozen"]}
    first = on_study("post", "webhooks/", body, status=201)
    path = f"webhooks/{first['id']}/"
    assert on_study("post", f"{path}secret/")["secret"] != first["secret"]
    sent = on_study("post", f"{path}test/", status=202)
    WebhookDelivery.objects.update(state="failed", job=None)
    again = on_study("post", f"{path}deliveries/{sent['id']}/send/", status=202)
    assert (again["event_id"], again["state"]) == (sent["event_id"], "waiting")
    assert on_study("patch", path, {"is_enabled": False})["is_enabled"] is False
    on_study("delete", path, status=204)
    assert not Webhook.objects.exists()


def test_a_draft_whose_checks_are_done_or_waived_becomes_a_pilot():
    study = cast.draft("agreement", target_judgments=1, contact="ada@example.org")
    on_study("patch", "design/", {"n_lists": 2})
    for check in on_study("get", "checklist/")["checks"]:
        if not check["is_done"] and check["has_own_reason"]:
            on_study("put", f"checklist/{check['key']}/waiver/", {"reason": "A test."})
    assert on_study("post", "pilot/")["status"] == "pilot"
    study.refresh_from_db()
    assert study.status == "pilot"
