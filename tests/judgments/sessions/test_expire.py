"""Leases run out; who comes back may go on."""

from datetime import timedelta

import pytest
from django.db.models.signals import post_save
from django.utils import timezone

from judgments.models import Session, SessionEvent
from judgments.sessions.completion import finish
from judgments.sessions.leases import expire_sessions
from tests.cast import begin, sit, study
from tests.judgments.deliveries import row, send

pytestmark = pytest.mark.django_db
LONG_AGO = timedelta(hours=2)


def remaining_lease(session):
    return Session.objects.get(pk=session.pk).lease_expires_at - timezone.now()


def test_only_sessions_whose_lease_ran_out_are_abandoned():
    experiment = study()
    late, live, finished = begin(experiment, "late"), begin(experiment, "live"), sit(experiment, "done")
    Session.objects.filter(pk__in=[late.pk, finished.pk]).update(lease_expires_at=timezone.now() - LONG_AGO)
    assert expire_sessions() == 1
    assert expire_sessions() == 0
    states = [Session.objects.get(pk=session.pk).status for session in (late, live, finished)]
    assert states == ["abandoned", "active", "complete"]
    assert late.events.get().kind == "expired"


def test_a_lease_of_a_clock_that_was_set_back_lasts_no_longer_than_the_study_says():
    experiment = study(lease_minutes=30)
    session = begin(experiment)
    Session.objects.update(lease_expires_at=timezone.now() + LONG_AGO)
    assert expire_sessions() == 0
    assert timedelta(minutes=29) < remaining_lease(session) <= timedelta(minutes=30)


def test_an_answer_after_the_clock_was_set_back_renews_the_lease():
    session = begin(study(lease_minutes=30))
    Session.objects.update(lease_expires_at=timezone.now() + LONG_AGO)
    send(session, row(session.trials.first()))
    assert remaining_lease(session) <= timedelta(minutes=30)


def test_a_returning_participant_continues_with_the_same_list_and_answers():
    experiment = study()
    session = sit(experiment, "pia", n=2)
    Session.objects.update(lease_expires_at=timezone.now() - LONG_AGO)
    expire_sessions()
    back = begin(experiment, "pia")
    assert (back, back.status, back.list_id) == (session, "active", session.list_id)
    assert back.trials.filter(judgment__isnull=False).count() == 2


def test_all_answers_given_in_time_count_even_when_the_end_page_was_never_opened():
    session = sit(study(), n=4)
    Session.objects.update(lease_expires_at=timezone.now() - LONG_AGO)
    expire_sessions()
    assert finish(session).status == "complete"


@pytest.mark.parametrize("minutes", [7, 45])
def test_a_lease_lasts_the_lease_minutes_of_its_study(minutes):
    session = begin(study(lease_minutes=minutes))
    assert abs(remaining_lease(session) - timedelta(minutes=minutes)) < timedelta(seconds=30)


@pytest.mark.parametrize(
    "n_answers", [1, 2]
)  # the first answer and later ones may be stored by different statements
def test_an_answer_renews_the_lease_for_the_lease_minutes_of_its_study(n_answers):
    session = begin(study(lease_minutes=45))
    for trial in session.trials.order_by("position")[:n_answers]:
        Session.objects.update(lease_expires_at=timezone.now() + timedelta(seconds=20))
        assert send(session, row(trial)).status_code == 200
        assert abs(remaining_lease(session) - timedelta(minutes=45)) < timedelta(seconds=30)


def test_an_expiry_that_loses_the_race_against_a_renewed_lease_changes_nothing():
    """While the first of two lapsed sessions is expired, an answer renews the lease of the second."""
    experiment = study()
    begin(experiment, "pia"), begin(experiment, "quentin")
    Session.objects.update(lease_expires_at=timezone.now() - LONG_AGO)
    until = timezone.now() + LONG_AGO

    def renew_the_other(sender, instance, **kwargs):
        Session.objects.exclude(pk=instance.session_id).update(lease_expires_at=until)

    post_save.connect(renew_the_other, sender=SessionEvent)
    try:
        n_expired = expire_sessions()
    finally:
        post_save.disconnect(renew_the_other, sender=SessionEvent)
    renewed = Session.objects.get(lease_expires_at=until)
    assert n_expired == 1
    assert (renewed.status, renewed.events.count()) == ("active", 0)
    assert sorted(Session.objects.values_list("status", flat=True)) == ["abandoned", "active"]
