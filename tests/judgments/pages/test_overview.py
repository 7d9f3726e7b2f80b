"""A study at a glance."""

from datetime import timedelta

import pytest
from django.utils import timezone

from experiments.models import Design
from experiments.studies.lifecycle import open_study, pause, start_pilot
from judgments.models import Session
from judgments.monitoring.overview import list_rows, study_numbers
from tests import cast

pytestmark = pytest.mark.django_db


def test_numbers_count_complete_live_and_lost(client):
    study = cast.study("agreement", n_lists=2)
    cast.sit(study, "pia")
    cast.sit(study, "quentin", n=1)
    expired = cast.sit(study, "rosa", n=1)
    Session.objects.filter(pk=expired.pk).update(lease_expires_at=timezone.now() - timedelta(hours=1))
    numbers = study_numbers(study)
    assert (numbers.n_complete, numbers.n_live, numbers.n_lost, numbers.n_started) == (1, 1, 1, 3)
    assert numbers.n_judgments == 6
    rows = list_rows(study)
    assert sum(row.n_complete for row in rows) == sum(row.n_live for row in rows) == 1
    assert sum(row.n_lost for row in rows) == 1
    client.force_login(cast.ben())
    page = client.get("/studies/agreement/").content.decode()
    assert "33.3 % of 3" in page


def test_pilots_are_counted_apart():
    study = cast.study("agreement")
    cast.sit(study)
    Session.objects.update(is_test=True)
    numbers = study_numbers(study)
    assert (numbers.n_complete, numbers.n_started, numbers.n_test, numbers.n_judgments) == (0, 0, 1, 0)
    assert numbers.median_time is None and numbers.lost_share is None


def test_target_sessions_follow_from_target_judgments_and_the_limit():
    study = cast.study("agreement", target_judgments=20)
    assert study_numbers(study).target == 20
    study.max_participants = 12
    assert study_numbers(study).target == 12


def test_draft_shows_what_to_do_next_with_reasons(client):
    cast.draft("agreement", consent="")
    client.force_login(cast.ada())
    page = client.get("/studies/agreement/").content.decode()
    assert "Next steps" in page and "Start a pilot" in page


def test_a_paused_pilot_opens_through_the_checklist_and_a_paused_study_by_its_button(client):
    study = cast.draft("agreement")
    Design.objects.create(experiment=study, n_lists=2)
    pause(start_pilot(study, cast.ada()), cast.ada())
    client.force_login(cast.ada())
    page = client.get("/studies/agreement/").content.decode()
    assert 'href="/studies/agreement/launch/#open">Open …' in page and "/move/open/" not in page
    pause(open_study(study, cast.ada()), cast.ada())
    page = client.get("/studies/agreement/").content.decode()
    assert "/move/open/" in page and "Open again" in page and "Next steps" not in page


def test_viewer_sees_no_buttons_and_stranger_nothing(client):
    cast.study("agreement")
    client.force_login(cast.ben())
    assert "/move/" not in client.get("/studies/agreement/").content.decode()
    client.force_login(cast.cleo())
    assert client.get("/studies/agreement/").status_code == 404


def test_link_for_participants_is_whole_and_leads_to_the_study(client):
    cast.study("agreement")
    client.force_login(cast.ada())
    assert "http://testserver/take/agreement/" in client.get("/studies/agreement/").content.decode()
    assert client.get("/take/agreement/").status_code == 200
