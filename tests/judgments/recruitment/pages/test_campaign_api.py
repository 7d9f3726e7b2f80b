"""Campaigns, channels and alerts by a token, against the double of Prolific."""

from functools import partial

import pytest
from django.utils import timezone

from experiments.models import AuditEntry, Campaign
from judgments.models import Alert, AlertSettings, PlatformCall
from judgments.recruitment import ledger
from tests import api, cast

pytestmark = pytest.mark.django_db
on_study = partial(api.call_study, "agreement")


def test_a_campaign_is_drafted_priced_published_and_stopped(account, prolific):
    (listed,) = on_study("get", "accounts/")["results"]
    assert (listed["id"], listed["platform"]) == (account.pk, "prolific") and "secrets" not in listed
    on_study("post", "campaigns/", {"account": 10**6}, status=400)
    body = {"account": account.pk, "places": 4, "reward_minor": 150, "estimated_minutes": 9}
    draft = on_study("post", "campaigns/", body, status=201)
    assert (draft["state"], draft["places"], draft["external_id"]) == ("draft", 4, "")
    path = f"campaigns/{draft['id']}/"
    on_study("patch", path, {"title": "x" * 1000}, status=400)
    texts = {"title": "How natural are these?", "description": "Read forty sentences.", "places": 5}
    assert on_study("patch", path, texts)["title"] == texts["title"]
    checks = on_study("get", f"{path}checks/")
    assert checks["cost"]["reward_minor"] == 750
    assert not [row for row in checks["findings"] if row["level"] == "error"]
    call = on_study("post", f"{path}publish/", {"total_minor": checks["cost"]["total_minor"]})
    assert (call["kind"], call["state"]) == ("publish", "confirmed"), call["problem"]
    on_study("patch", path, {"places": 6}, status=422)
    assert on_study("patch", path, {"total_limit_minor": 5000})["total_limit_minor"] == 5000
    assert on_study("post", f"{path}places/", {"n": 2, "places": 5})["state"] == "confirmed"
    on_study("post", f"{path}places/", {"n": 2, "places": 5}, status=422)  # they are 7 now
    assert on_study("post", f"{path}actions/", {"action": "pause"})["state"] == "confirmed"
    assert on_study("get", path)["state"] == "paused"
    on_study("delete", path, status=422)
    on_study("post", f"{path}actions/", {"action": "resume"}, who=cast.ben, status=403)
    assert on_study("post", f"{path}actions/", {"action": "stop"})["state"] == "confirmed"
    assert on_study("get", "platform-calls/")["results"][0]["kind"] == "stop"


def test_a_live_campaign_needs_its_total(campaign, account, monkeypatch):
    from judgments.recruitment.pages import campaign_access

    live = campaign_access.ModeNote(True, "Live", "")
    monkeypatch.setattr("judgments.api.campaign_views.mode_note", lambda account: live)
    Campaign.objects.filter(pk=campaign.pk).update(state="draft")
    answer = on_study("post", f"campaigns/{campaign.pk}/publish/", {}, status=422)
    assert "total_minor" in answer["message"]


def test_submissions_are_decided_and_sent_once_for_the_sum_that_was_shown(arrive, campaign, prolific):
    first, second = arrive(), arrive()
    path = f"campaigns/{campaign.pk}/"
    listed = on_study("get", f"{path}submissions/?decision=none")["results"]
    assert [row["id"] for row in listed] == [first.pk, second.pk]
    assert listed[0]["participant"] == first.session.participant.pseudonym
    both = {"decision": "approve", "submissions": [first.pk, second.pk]}
    assert on_study("post", f"{path}decisions/", both)["changed"] == 2
    assert on_study("post", f"{path}decisions/", both)["changed"] == 0
    undo = {"decision": "undo", "submissions": [second.pk]}
    assert on_study("post", f"{path}decisions/", undo)["changed"] == 1
    on_study("post", f"{path}decisions/", {**both, "decision": "reject"}, status=400)
    on_study("post", f"{path}decisions/", {**both, "submissions": [10**6]}, status=400)
    sending = on_study("get", f"{path}sending/")
    assert (sending["n_approvals"], sending["reward_minor"]) == (1, 150)
    on_study("post", f"{path}sending/", {"total_minor": sending["total_minor"] + 1}, status=422)
    assert not PlatformCall.objects.filter(kind="approve").exists()
    job = on_study("post", f"{path}sending/", {"total_minor": sending["total_minor"]}, status=202)
    assert job["kind"] == "judgments.send_to_platform"
    ledger.send_planned(campaign)
    assert prolific.money() == {("reward", first.external_id): 1}
    assert on_study("post", f"{path}release/")["changed"] == 0
    assert on_study("post", f"{path}read/", status=202)["state"] == "queued"
    message = {"text": "Thank you.", "key": "1"}
    address = f"{path}submissions/{first.pk}/messages/"
    assert [on_study("post", address, message)["state"] for _ in range(2)] == ["confirmed"] * 2
    assert PlatformCall.objects.filter(kind="message").count() == 1


def test_an_unknown_call_is_settled_with_a_note(campaign):
    call = PlatformCall.objects.create(
        campaign=campaign, kind="pause", key="k", state="unknown", currency="GBP", sent_at=timezone.now()
    )
    address = f"platform-calls/{call.pk}/settle/"
    on_study("post", address, {"took_effect": False, "note": " "}, status=400)
    settled = on_study("post", address, {"took_effect": False, "note": "It runs there."})
    assert settled["state"] == "failed"
    assert on_study("post", f"platform-calls/{call.pk}/ask/")["state"] == "failed"


def test_channels_quotas_and_links_of_a_study(study):
    body = {"name": "sona", "preset": "connect", "places": 20}
    assert "PROJECT-ID" in on_study("post", "channels/", body, status=422)["message"]  # of the preset
    added = on_study(
        "post", "channels/", {**body, "returns": {"complete": "https://example.org/{code}"}}, status=201
    )
    assert (added["state"], added["places"], added["preset"]) == ("running", 20, "connect")
    assert "/take/" in added["link"] and added["id_parameter"]
    on_study("post", "channels/", {"name": "sona"}, status=400)
    on_study("post", "channels/", {"name": "other", "id_parameter": "a b"}, status=422)
    changed = on_study("patch", "channels/sona/", {"places": 0})
    assert (changed["places"], changed["id_parameter"]) == (0, added["id_parameter"])
    for _ in range(2):
        assert on_study("post", "channels/sona/state/", {"action": "pause"})["state"] == "paused"
    assert AuditEntry.objects.filter(action="channel paused").count() == 1
    study.questionnaire = [{"name": "age", "label": "Age", "type": "number"}]
    study.save()
    quotas = [{"question": "age", "answer": "18-29", "limit": 5}]
    assert on_study("put", "quotas/", {"quotas": quotas}) == {"quotas": [{**quotas[0], "n": 0}]}
    on_study("put", "quotas/", {"quotas": [{**quotas[0], "question": "sex"}]}, status=422)
    assert on_study("get", "quotas/")["quotas"][0]["limit"] == 5
    (link,) = on_study("post", "links/", {"labels": ["lab-01"]})["links"]
    assert link["label"] == "lab-01" and "/take/" in link["link"]
    for wrong in ({"labels": ["a", "a"]}, {"labels": ["a"], "until": "2020-01-01"}):
        on_study("post", "links/", wrong, status=400)
    on_study("post", "channels/", {"name": "late"}, who=cast.ben, status=403)


def test_alerts_are_listed_dismissed_and_limited(study):
    alert = Alert.objects.create(
        experiment=study, kind="full", key="full", title="Full", text="-", raised_at=timezone.now()
    )
    assert on_study("get", "alerts/")["results"][0]["title"] == "Full"
    on_study("delete", f"alerts/{alert.pk}/", status=204)
    assert on_study("get", "alerts/")["results"][0]["dismissed_at"]
    assert on_study("patch", "alert-settings/", {"idle_hours": 5})["idle_hours"] == 5
    assert on_study("get", "alert-settings/")["drop_out_percent"] == 30
    on_study("patch", "alert-settings/", {"drop_out_percent": 101}, status=400)
    assert AlertSettings.objects.get().idle_hours == 5
