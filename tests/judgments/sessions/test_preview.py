"""Trying a study as a participant: in every state, by editors, and never counted."""

import re
import time

import pytest
from django.test import Client
from django.urls import reverse

from experiments.models import Design, Membership
from experiments.studies.lifecycle import close, open_study, pause, start_pilot
from judgments.frames.build import judgment_frame, participant_frame, session_frame
from judgments.models import Session
from judgments.monitoring.overview import list_rows, study_numbers
from releases.reports.report_cache import cached_report
from tests import cast
from tests.judgments.screens.walk import answer, choices, hidden, onward

pytestmark = pytest.mark.django_db
ADDRESS = "/studies/agreement/preview/"


@pytest.fixture
def study():
    experiment = cast.draft("agreement", materials=cast.material_set())
    Design.objects.create(experiment=experiment, n_lists=2)
    return experiment


def began(client):
    """The address of a session begun on the consent page."""
    page = client.post(ADDRESS).content.decode()
    response = client.post(ADDRESS, {"arrival": hidden(page, "arrival"), "consent": "yes"})
    assert response.status_code == 302, response.content.decode()
    return response["Location"]


def walked(client):
    """A whole session, from consent to code."""
    session = began(client)
    for _ in range(60):
        page = client.get(session).content.decode()
        assert "Preview: nothing counts" in page
        if choices(page):
            answer(client, session)
        elif "continue/" in page:
            onward(client, session)
        else:
            break
    return page


def test_a_draft_is_tried_from_consent_to_code(ada, study):
    page = walked(ada)
    session = Session.objects.get()
    assert session.status == "complete" and session.is_test and session.version.is_preview
    assert session.completion_code in page
    study.refresh_from_db()
    assert study.status == "draft" and study.current_version() is None


@pytest.mark.parametrize("steps", [(start_pilot,), (open_study,), (open_study, pause), (open_study, close)])
def test_every_state_can_be_tried(ada, study, steps):
    for step in steps:
        step(study, cast.ada())
    walked(ada)
    assert Session.objects.get().is_test


def test_nothing_of_it_counts(ada, study):
    open_study(study, cast.ada())
    study.max_participants = 1
    study.save()
    walked(ada)
    numbers = study_numbers(study)
    assert (numbers.n_complete, numbers.n_started, numbers.n_judgments, numbers.n_test) == (0, 0, 0, 1)
    assert all(row.n_complete + row.n_live + row.n_lost == 0 for row in list_rows(study))
    assert not len(judgment_frame(study)) and not len(session_frame(study))
    assert not len(participant_frame(study))
    assert cached_report(study, "agreement", exclude="", rule="", ties="strict")["overall"]["judgments"] == 0
    assert ada.get("/api/v1/judgments/?experiment=agreement").content.count(b"response") == 0
    assert cast.sit(study, "pia").list.version == study.current_version()


def test_a_pilots_places_and_lists_are_left_alone(ada, study):
    study.max_participants = 1
    study.save()
    start_pilot(study, cast.ada())
    walked(ada)
    pilot = cast.sit(study, "pia")
    assert pilot.is_test and not pilot.version.is_preview


def test_versions_are_numbered_without_previews_and_reused(ada, study):
    began(ada)
    began(ada)
    assert study.versions.count() == 1
    open_study(study, cast.ada())
    assert study.current_version().number == 1
    study.instructions = "Read each sentence."
    study.save()
    began(ada)
    assert sorted(study.versions.values_list("is_preview", "number")) == [(False, 1), (True, 1), (True, 2)]


def test_refused_consent_leads_back_and_leaves_nothing(ada, study):
    page = ada.post(ADDRESS).content.decode()
    response = ada.post(ADDRESS, {"arrival": hidden(page, "arrival"), "consent": "no"})
    assert response["Location"] == reverse("study", args=["agreement"])
    assert not Session.objects.exists()


def test_the_same_consent_twice_begins_once(ada, study):
    page = ada.post(ADDRESS).content.decode()
    sent = {"arrival": hidden(page, "arrival"), "consent": "yes"}
    assert ada.post(ADDRESS, sent)["Location"] == ada.post(ADDRESS, sent)["Location"]
    assert Session.objects.count() == 1


def test_missing_parts_are_reported(ada, study):
    study.materials = None
    study.save()
    page = ada.post(ADDRESS, follow=True).content.decode()
    assert "no materials" in page


def test_only_editors_may_and_only_by_post(client, study):
    client.force_login(cast.ben())
    assert client.post(ADDRESS).status_code == 403
    assert "/preview/" not in client.get("/studies/agreement/").content.decode()
    client.force_login(cast.cleo())
    assert client.post(ADDRESS).status_code == 404
    Membership.objects.create(experiment=study, user=cast.cleo(), role=Membership.Role.EDITOR)
    assert client.get(ADDRESS).status_code == 405
    for page in ("/studies/agreement/", "/studies/agreement/settings/"):
        assert f'action="{ADDRESS}"' in client.get(page).content.decode()


def test_a_phone_tries_the_study_without_login_for_an_hour(ada, study, monkeypatch):
    shown = ada.post("/studies/agreement/preview/phone/").content.decode()
    address = re.search(r'href="http://testserver(/take/preview/[^"]+)"', shown)[1]
    assert "<svg" in shown
    phone = Client(enforce_csrf_checks=True)
    consent = phone.get(address).content.decode()
    assert "You may stop at any time." in consent and "Preview: nothing counts" in consent
    assert not Session.objects.exists()
    key = re.search(r'name="arrival" value="([^"]+)"', consent)[1]
    assert phone.post(address, {"arrival": key, "consent": "no"}).status_code == 200
    started = phone.post(address, {"arrival": key, "consent": "yes"}, follow=True)
    session = Session.objects.get()
    assert started.status_code == 200 and session.is_test and session.version.is_preview
    phone.post(address, {"arrival": key, "consent": "yes"})
    phone.post(address, {"arrival": "forged", "consent": "yes"})
    assert Session.objects.count() == 1
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 3601)
    assert phone.get(address).status_code == 410
    assert phone.get("/take/preview/forged/").status_code == 410


def test_only_editors_make_a_link_for_a_phone(client, study):
    client.force_login(cast.ben())
    assert client.post("/studies/agreement/preview/phone/").status_code == 403
