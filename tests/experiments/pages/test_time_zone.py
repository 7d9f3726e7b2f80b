"""Times of the researchers' pages are in their own zone; files and the API keep UTC."""

import csv
import io
from datetime import UTC, datetime

import pytest
from django.db.models import QuerySet
from django.utils import timezone

from experiments.accounts.adapters import time_zone_names
from experiments.models import AuditEntry, Preferences
from judgments.models import Session
from tests import cast

pytestmark = pytest.mark.django_db
LATE = datetime(2026, 7, 31, 22, 30, tzinfo=UTC)  # half past midnight on 1 August in Berlin
HISTORY = "/studies/agreement/history/"


@pytest.fixture
def study():
    study = cast.study("agreement")
    entry = AuditEntry.objects.create(experiment=study, user=cast.ada(), action="settings changed")
    QuerySet(AuditEntry).filter(pk=entry.pk).update(at=LATE)
    return study


def history(client):
    return client.get(HISTORY).content.decode()


def test_without_a_choice_times_use_the_zone_of_the_browser_else_utc(client, study):
    client.force_login(cast.ada())
    assert "2026-07-31 22:30 UTC" in history(client)
    client.cookies["time_zone"] = "Europe/Berlin"
    assert "2026-08-01 00:30 CEST" in history(client)
    client.cookies["time_zone"] = "../../etc/passwd"
    assert "2026-07-31 22:30 UTC" in history(client)
    assert timezone.get_current_timezone_name() == "UTC"  # the next request begins anew


def test_the_choice_on_the_account_page_comes_before_the_browser_and_outlasts_the_login(client, study):
    client.cookies["time_zone"] = "Europe/Berlin"
    client.force_login(cast.ada())
    page = client.get("/account/").content.decode()
    assert "<b>Europe/Berlin</b>" in page and "as this browser says: Europe/Berlin" in page
    client.post("/account/time-zone/", {"time_zone": "America/New_York"})
    assert "2026-07-31 18:30 EDT" in history(client)
    assert 'value="America/New_York" selected' in client.get("/account/").content.decode()
    client.logout()
    client.force_login(cast.ada())
    assert "2026-07-31 18:30 EDT" in history(client)
    client.cookies["time_zone"] = "Europe/Berlin"  # logging out of the test's client removes its cookies
    client.post("/account/time-zone/", {"time_zone": ""})
    assert "2026-08-01 00:30 CEST" in history(client)
    assert Preferences.objects.get().time_zone == ""


def test_an_unknown_zone_is_refused_and_another_users_zone_is_their_own(client, study):
    client.force_login(cast.ada())
    page = client.post("/account/time-zone/", {"time_zone": "Mars/Olympus"}, follow=True)
    assert "There is no time zone" in page.content.decode() and not Preferences.objects.exists()
    client.post("/account/time-zone/", {"time_zone": "Asia/Tokyo"})
    client.force_login(cast.ben())
    assert "2026-07-31 22:30 UTC" in history(client)
    client.logout()
    assert client.post("/account/time-zone/", {"time_zone": "UTC"}).status_code == 302
    assert client.get("/account/time-zone/").status_code in {302, 405}


def test_files_and_the_api_keep_utc(client, study):
    cast.sit(study)
    Session.objects.update(started_at=LATE, completed_at=LATE)
    client.force_login(cast.ada())
    client.post("/account/time-zone/", {"time_zone": "Asia/Tokyo"})
    file = b"".join(client.get("/studies/agreement/participants.csv").streaming_content).decode()
    (row,) = csv.DictReader(io.StringIO(file))
    assert row["started_at"] == "2026-07-31T22:30:00+00:00"
    type(study).objects.update(opened_at=LATE)
    assert client.get("/api/v1/studies/agreement/").json()["opened_at"] == "2026-07-31T22:30:00Z"


def test_the_figure_of_arrivals_is_drawn_in_the_zone_of_its_reader(client, study):
    cast.sit(study)
    client.force_login(cast.ada())
    figures = {}
    for zone in ("Asia/Tokyo", "Europe/Berlin"):
        client.post("/account/time-zone/", {"time_zone": zone})
        figures[zone] = client.get("/studies/agreement/figures/arrivals.svg").content.decode()
        assert zone in figures[zone]
    assert figures["Asia/Tokyo"] != figures["Europe/Berlin"]


def test_the_login_page_sets_the_time_zone_for_the_first_page(client):
    assert "js/time_zone" in client.get("/accounts/login/").content.decode()


def test_zones_have_names_that_people_know():
    names = time_zone_names()
    assert {"UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata"} <= names
    assert not any(name.startswith("Etc/") for name in names)
