"""Leases run out; who comes back may go on."""

from datetime import timedelta

import pytest
from django.utils import timezone

from judgments.models import Session
from judgments.sessions.expire import expire_sessions
from judgments.sessions.finish import finish
from tests.cast import begin, sit, study

pytestmark = pytest.mark.django_db
LONG_AGO = timedelta(hours=2)


def test_only_sessions_whose_lease_ran_out_are_abandoned():
    experiment = study()
    late, live, done = begin(experiment, "late"), begin(experiment, "live"), sit(experiment, "done")
    Session.objects.filter(pk__in=[late.pk, done.pk]).update(lease_expires_at=timezone.now() - LONG_AGO)
    assert expire_sessions() == 1
    assert expire_sessions() == 0
    states = [Session.objects.get(pk=one.pk).status for one in (late, live, done)]
    assert states == ["abandoned", "active", "complete"]
    assert late.events.get().kind == "expired"


def test_who_comes_back_goes_on_with_the_same_list_and_answers():
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
