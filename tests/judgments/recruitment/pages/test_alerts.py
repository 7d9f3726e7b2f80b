"""Alerts on the pages: each condition as it comes and ends, thresholds, dismissal, a person's own mail."""

import json
import re
from datetime import timedelta

import pytest
from django.utils import timezone

from experiments.models import AuditEntry, Campaign
from experiments.studies.history import old_and_new
from judgments.models import Alert, AlertPreferences, AlertSettings, PlatformEvent, Session, Submission
from judgments.recruitment import decisions
from judgments.recruitment.periodic import check_balances, raise_alerts
from judgments.recruitment.prolific.webhooks import subscribe
from tests import cast
from tests.judgments.recruitment.pages.conftest import STUDY

pytestmark = pytest.mark.django_db
PAGE = f"{STUDY}alerts/"
DAY = timedelta(days=1)


def text_of(response):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", response.content.decode()))


def titles():
    return [alert.title for alert in Alert.objects.filter(resolved_at=None).order_by("pk")]


def test_a_full_study_is_an_alert_on_the_start_page_until_it_has_places(ada, study):
    study.max_participants = 1
    study.save(update_fields=["max_participants"])
    cast.sit(study)
    raise_alerts()
    assert titles() == ["The study is full"]
    home = text_of(ada.get("/"))
    assert f"{study.title} · The study is full" in home and "every answer is stored" in home
    assert "The study is full" in text_of(ada.get(STUDY)) and "The study is full" in text_of(ada.get(PAGE))
    study.max_participants = 5
    study.save(update_fields=["max_participants"])
    raise_alerts()
    assert titles() == []
    assert "The study is full" not in text_of(ada.get("/"))


def test_a_stranger_sees_no_alert_of_a_study(client, study):
    study.max_participants = 1
    study.save(update_fields=["max_participants"])
    cast.sit(study)
    raise_alerts()
    client.force_login(cast.cleo())
    assert "The study is full" not in text_of(client.get("/"))


def test_a_campaign_whose_places_are_taken_is_an_alert_on_its_page(ada, campaign, arrive):
    Campaign.objects.filter(pk=campaign.pk).update(places=1)
    arrive()
    raise_alerts()
    assert titles() == ["Campaign spring is full: 1 of 1 places are taken"]
    assert "Prolific admits no more participants" in text_of(ada.get(f"{STUDY}{campaign.pk}/"))


def test_nobody_for_hours_is_an_alert_until_somebody_arrives(study):
    study.opened_at = timezone.now() - DAY
    study.save(update_fields=["opened_at"])
    raise_alerts()
    assert titles() == ["Nobody has arrived for 24 hours"]
    cast.begin(study)
    raise_alerts()
    assert titles() == []


def test_a_study_opened_again_has_its_hours_from_then_on(study):
    study.opened_at = timezone.now() - 3 * DAY
    study.save(update_fields=["opened_at"])
    study.audit.create(action="status", details={"from": "paused", "to": "open"})
    raise_alerts()
    assert titles() == []


def test_drop_out_above_the_limit_is_an_alert_of_the_last_people(study):
    study.target_judgments = 100
    study.save(update_fields=["target_judgments"])
    for number in range(12):
        cast.sit(study, f"p{number}")
    raise_alerts()
    assert titles() == []
    left = Session.objects.order_by("pk").values_list("pk", flat=True)[:5]
    Session.objects.filter(pk__in=list(left)).update(status=Session.Status.ABANDONED)
    raise_alerts()
    assert titles() == ["42 % of the last 12 people left before the end"]
    AlertSettings.objects.create(experiment=study, drop_out_percent=50)
    raise_alerts()
    assert titles() == []


def test_a_balance_below_the_next_places_is_an_alert(prolific, campaign):
    check_balances()
    assert titles() == []
    prolific.platform.balance = 1_000
    check_balances()
    (alert,) = Alert.objects.filter(resolved_at=None)
    assert alert.title == "10.00 GBP left on Prolific"
    assert "does not cover 10 more places at 21.00 GBP" in alert.text
    prolific.fail_next("before", n=50)
    check_balances()  # the platform cannot be asked: neither ended nor raised again
    assert titles() == ["10.00 GBP left on Prolific"]


def test_submissions_near_the_platforms_own_approval_are_an_alert(ada, campaign, arrive):
    row = arrive()
    raise_alerts()
    assert titles() == []
    Submission.objects.filter(pk=row.pk).update(decide_by=timezone.now() + timedelta(hours=30))
    raise_alerts()
    assert titles() == ["1 submission of campaign spring approved automatically soon"]
    decisions.approve(campaign, Submission.objects.filter(pk=row.pk), by=cast.ada())
    raise_alerts()
    assert "1 of them are decided and not sent" in Alert.objects.get().text
    assert Alert.objects.get().link == "Send decisions"


def test_events_that_are_refused_are_an_alert_until_one_is_valid(client, prolific, campaign):
    subscribe(campaign.account, "http://127.0.0.1:1")
    hook = f"/hooks/prolific/{campaign.account_id}/"
    for _ in range(3):
        assert client.post(hook, b"{}", content_type="application/json").status_code == 403
    raise_alerts()
    (alert,) = Alert.objects.all()
    assert "3 deliveries were refused, the last one because: The signature is wrong." in alert.text
    prolific.arrive(campaign.external_id)
    with prolific.platform.lock:
        event = list(prolific.platform.events)[-1]
    headers = {
        name: value
        for name, value in prolific.platform.signed_headers(event).items()
        if name != "Content-Type"
    }
    response = client.post(hook, event.body, content_type="application/json", headers=headers)
    assert response.status_code == 204, json.loads(event.body)
    raise_alerts()
    assert titles() == []


def test_submissions_that_no_event_announced_are_an_alert(campaign, arrive):
    subscribe(campaign.account, "http://127.0.0.1:1")
    now = timezone.now()
    account = campaign.account
    account.options["subscribed_at"] = (now - DAY).isoformat()
    account.save(update_fields=["options"])
    for _ in range(3):
        arrive()
    Submission.objects.update(submitted_at=now - timedelta(hours=2))
    raise_alerts()
    assert "3 submissions came in, and no event announced any of them" in Alert.objects.get().text
    PlatformEvent.objects.create(account=account, event_id="e", event_type="t", resource_id="r")
    raise_alerts()
    assert titles() == []


def test_thresholds_are_saved_and_zero_turns_an_alert_off(ada, study):
    study.opened_at = timezone.now() - 3 * DAY
    study.save(update_fields=["opened_at"])
    form = {"idle_hours": 0, "drop_out_percent": 30, "balance_places": 10, "deadline_hours": 48}
    assert "Saved." in text_of(ada.post(PAGE, form, follow=True))
    raise_alerts()
    assert titles() == []
    assert ada.post(PAGE, form | {"drop_out_percent": 101}).status_code == 422
    ada.post(PAGE, form | {"idle_hours": 70})
    raise_alerts()
    assert titles() == ["Nobody has arrived for 72 hours"]


def test_a_dismissed_alert_is_shown_as_earlier_only(ada, study):
    study.opened_at = timezone.now() - DAY
    study.save(update_fields=["opened_at"])
    raise_alerts()
    page = text_of(ada.post(f"{PAGE}{Alert.objects.get().pk}/dismiss/", follow=True))
    assert "Nothing needs you now" in page and "still holds; dismissed by ada" in page
    assert "Nobody has arrived" not in text_of(ada.get("/"))
    raise_alerts()
    assert "Nobody has arrived" not in text_of(ada.get("/"))
    entry = AuditEntry.objects.get(action="alert dismissed")
    assert (entry.user, entry.details["title"]) == (cast.ada(), Alert.objects.get().title)
    assert old_and_new(entry.details) == {"state": ("shown", "dismissed")}


def test_a_viewer_may_not_dismiss_and_sees_no_button(client, study):
    study.opened_at = timezone.now() - DAY
    study.save(update_fields=["opened_at"])
    raise_alerts()
    client.force_login(cast.ben())
    assert client.post(f"{PAGE}{Alert.objects.get().pk}/dismiss/").status_code == 403
    page = client.get(PAGE).content.decode()
    assert "Nobody has arrived" in page and "Dismiss" not in page


def test_everybody_chooses_their_own_mail(ada, study):
    ada.cookies["time_zone"] = "Asia/Tokyo"
    assert "Hours are in Asia/Tokyo" in text_of(ada.get("/account/alerts/"))
    form = {"mail": "daily", "quiet_from": 22, "quiet_until": 6, "digest_hour": 9, "without": [study.pk]}
    ada.post("/account/alerts/", form)
    stored = AlertPreferences.objects.get()
    assert (stored.user, stored.mail, stored.digest_hour) == (cast.ada(), "daily", 9)
    assert stored.time_zone == "Asia/Tokyo" and list(stored.without.all()) == [study]
    other = cast.draft("other")
    other.memberships.all().delete()
    assert ada.post("/account/alerts/", form | {"without": [other.pk]}).status_code == 422
