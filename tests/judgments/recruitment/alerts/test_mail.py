"""Mail about alerts: once to each member, in their hours, repeated until it is sent."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth.models import User
from django.core import mail as outbox
from django.core.mail.backends.locmem import EmailBackend
from django.db import connection
from django.utils import timezone

from experiments.models import Membership, Preferences
from judgments.models import Alert, AlertMail, AlertPreferences
from judgments.recruitment.alerts import conditions, evaluation, mail
from judgments.recruitment.alerts.conditions import Condition
from tests import cast

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.fixture(autouse=True)
def site(settings):
    """Where mail leads; people in Greenwich unless they say otherwise."""
    settings.SITE_ADDRESS = "https://judgments.example.org"
    settings.TIME_ZONE = "UTC"


@pytest.fixture
def study():
    """A study of Ada, with Ben as a viewer."""
    return cast.study("agreement")


def hold(study, *keys, now=NOON):
    """Let the conditions with these keys hold, and no other."""
    rows = [
        Condition(
            Alert.Kind.IDLE, key, f"Title of {key}", "Nothing is lost.", "/studies/agreement/live/", "Look"
        )
        for key in keys
    ]
    return evaluation.evaluate(study, {Alert.Kind.IDLE: lambda subject: iter(rows)}, now=now)


def prefer(user, **fields):
    AlertPreferences.objects.update_or_create(user=user, defaults=fields)


def addressees():
    return sorted(address for message in outbox.outbox for address in message.to)


def test_an_alert_is_raised_and_mailed_once_to_every_member(study):
    cast.cleo()
    assert hold(study, "idle") == 1
    assert hold(study, "idle", now=NOON + HOUR) == 0
    assert mail.deliver(now=NOON) == 2
    assert mail.deliver(now=NOON + HOUR) == 0
    assert addressees() == ["ada@example.org", "ben@example.org"]
    message = outbox.outbox[0]
    assert message.subject == "Study agreement: Title of idle"
    assert "Nothing is lost." in message.body
    assert "Look: https://judgments.example.org/studies/agreement/live/" in message.body
    assert "https://judgments.example.org/account/alerts/" in message.body
    assert message.extra_headers["Auto-Submitted"] == "auto-generated"


def test_an_alert_ends_by_itself_and_a_later_one_is_mailed_again(study):
    hold(study, "idle")
    mail.deliver(now=NOON)
    hold(study)
    assert Alert.objects.get().resolved_at == NOON
    hold(study, "idle", now=NOON + timedelta(days=1))
    assert mail.deliver(now=NOON + timedelta(days=1)) == 2
    assert Alert.objects.count() == 2


def test_a_condition_that_comes_and_goes_is_mailed_once(study):
    for hours in range(3):
        hold(study, "idle", now=NOON + hours * HOUR)
        mail.deliver(now=NOON + hours * HOUR)
        hold(study, now=NOON + (hours + 0.5) * HOUR)
    assert Alert.objects.count() == 1
    assert len(outbox.outbox) == 2


def test_what_ended_or_was_dismissed_before_its_mail_is_not_mailed(study):
    hold(study, "first", "second", "third")
    hold(study, "second", "third")
    evaluation.dismiss(Alert.objects.get(key="second"), by=cast.ada())
    mail.deliver(now=NOON)
    assert {message.subject for message in outbox.outbox} == {"Study agreement: Title of third"}


def test_a_dismissed_alert_is_not_raised_again_while_it_holds(study):
    hold(study, "idle")
    alert = Alert.objects.get()
    assert evaluation.dismiss(alert, by=cast.ada())
    assert not evaluation.dismiss(alert, by=cast.ada())
    assert hold(study, "idle", now=NOON + HOUR) == 0
    assert mail.deliver(now=NOON + HOUR) == 0


def test_several_alerts_are_one_message(study):
    hold(study, "first", "second")
    mail.deliver(now=NOON)
    assert len(outbox.outbox) == 2
    assert outbox.outbox[0].subject == "2 alerts about your studies"
    assert "Title of first" in outbox.outbox[0].body and "Title of second" in outbox.outbox[0].body


def test_quiet_hours_are_those_of_the_persons_time_zone(study):
    prefer(cast.ada(), quiet_from=21, quiet_until=7)
    prefer(cast.ben(), quiet_from=21, quiet_until=7)
    Preferences.objects.create(user=cast.ben(), time_zone="Asia/Tokyo")  # 21:00 there at noon
    hold(study, "idle")
    mail.deliver(now=NOON)
    assert addressees() == ["ada@example.org"]
    mail.deliver(now=NOON + 9 * HOUR)  # 6:00 in Tokyo
    assert addressees() == ["ada@example.org"]
    mail.deliver(now=NOON + 10 * HOUR)
    assert addressees() == ["ada@example.org", "ben@example.org"]


def test_a_digest_comes_once_a_day_with_what_was_raised_before(study):
    prefer(cast.ada(), mail="daily", digest_hour=8)
    prefer(cast.ben(), mail="never")
    hold(study, "first", now=NOON)
    mail.deliver(now=NOON + HOUR)
    assert outbox.outbox == []
    morning = NOON + 20 * HOUR
    hold(study, "first", "second", now=morning + HOUR)
    mail.deliver(now=morning + 2 * HOUR)
    assert addressees() == ["ada@example.org"]
    assert "Title of second" not in outbox.outbox[0].body
    mail.deliver(now=morning + 24 * HOUR)
    assert [message.subject for message in outbox.outbox] == [
        "Study agreement: Title of first",
        "Study agreement: Title of second",
    ]


def test_a_person_gets_no_mail_about_a_study_that_was_left_out_or_left(study):
    prefer(cast.ada())
    AlertPreferences.objects.get().without.add(study)
    hold(study, "idle")
    Membership.objects.filter(user=cast.ben()).delete()
    assert mail.deliver(now=NOON) == 0


def test_a_mail_that_fails_is_repeated_until_it_is_sent(study, monkeypatch):
    Membership.objects.filter(user=cast.ben()).delete()
    hold(study, "idle")
    with monkeypatch.context() as fault:
        fault.setattr(EmailBackend, "send_messages", _refuse)
        assert mail.deliver(now=NOON) == 0
        row = AlertMail.objects.get()
        assert "the mail server is away" in row.problem and row.sent_at is None
        assert mail.deliver(now=NOON + timedelta(minutes=1)) == 0
        assert AlertMail.objects.get().n_attempts == 1  # it waits before it tries again
    assert mail.deliver(now=NOON + timedelta(minutes=6)) == 1
    assert AlertMail.objects.get().problem == ""


def _refuse(backend, messages):
    raise OSError("the mail server is away")


def test_a_worker_killed_while_it_sends_loses_no_mail(study, monkeypatch):
    Membership.objects.filter(user=cast.ben()).delete()
    hold(study, "idle")
    with monkeypatch.context() as fault:
        fault.setattr(EmailBackend, "send_messages", _die)
        with pytest.raises(KeyboardInterrupt):
            mail.deliver(now=NOON)
    assert mail.deliver(now=NOON + timedelta(minutes=1)) == 0
    assert mail.deliver(now=NOON + timedelta(minutes=11)) == 1


def _die(backend, messages):
    raise KeyboardInterrupt


@pytest.mark.django_db(transaction=True)
def test_two_workers_raise_one_alert_and_send_one_mail_each(study):
    if connection.vendor == "sqlite":
        pytest.skip("writers of SQLite follow one another")

    def work(_):
        try:
            hold(study, "idle")
            return mail.deliver(now=NOON)
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        n_sent = sum(pool.map(work, range(4)))
    assert n_sent <= 2 and Alert.objects.count() == 1
    mail.deliver(now=NOON)
    assert addressees() == ["ada@example.org", "ben@example.org"]


def test_a_second_worker_finds_nothing_left_of_what_the_first_claimed(study, monkeypatch):
    Membership.objects.filter(user=cast.ben()).delete()
    hold(study, "idle")
    rows = list(AlertMail.objects.select_related("alert__experiment", "user"))
    again = list(AlertMail.objects.select_related("alert__experiment", "user"))  # as a second worker read it
    assert mail._deliver(rows, now=NOON) is True
    assert mail._deliver(again, now=NOON) is False
    assert len(outbox.outbox) == 1


def test_one_study_that_fails_does_not_stop_the_others(study, monkeypatch):
    study.opened_at = timezone.now() - timedelta(days=3)
    study.save(update_fields=["opened_at"])
    broken = cast.study("broken")

    def idle(subject):
        if subject.study == broken:
            raise ValueError("bug")
        return conditions.idle(subject)

    monkeypatch.setitem(evaluation.LOCAL_RULES, Alert.Kind.IDLE, idle)
    assert evaluation.evaluate_all() == 1
    assert Alert.objects.get().experiment == study


def test_mail_to_somebody_without_an_address_is_named_on_the_page_and_sent_once_there_is_one(study, client):
    User.objects.filter(pk=cast.ben().pk).update(email="")
    hold(study, "idle")
    assert mail.deliver(now=NOON) == 1
    waiting = AlertMail.objects.get(sent_at__isnull=True)
    assert (waiting.user, waiting.problem) == (cast.ben(), "The account has no address.")
    client.force_login(cast.ada())
    page = client.get("/studies/agreement/campaigns/alerts/").content.decode()
    assert "No mail reaches <b>ben</b>: the account has no address." in page
    User.objects.filter(pk=cast.ben().pk).update(email="ben@example.org")
    assert "No mail reaches" not in client.get("/studies/agreement/campaigns/alerts/").content.decode()
    assert mail.deliver(now=NOON + HOUR) == 1
    waiting.refresh_from_db()
    assert waiting.sent_at and waiting.problem == ""
