"""The token of a browser: one person twice is noticed, and nothing else can be told from it."""

import pytest
from django.test import Client

from analysis.quality.duplicates import duplicates
from judgments.frames.build import judgment_frame
from judgments.frames.measurements import evidence_frame
from judgments.models import Participant, Session
from judgments.sessions.removal import erase
from tests import cast
from tests.judgments.screens.walk import consent

pytestmark = pytest.mark.django_db
OTHERS = "?participant=somebody-else"


def test_a_browser_gets_a_token_with_consent_and_not_before(client):
    cast.study("agreement")
    assert "device" not in client.get("/take/agreement/").cookies
    consent(client, "/take/agreement/")
    cookie = client.cookies["device"]
    assert cookie["httponly"] and cookie["path"] == "/take/" and len(cookie.value) >= 20
    assert Session.objects.get().device and cookie.value not in Session.objects.get().device


def test_two_people_in_one_browser_are_alike_in_a_study_and_not_over_studies(client):
    cast.study("agreement")
    cast.study("islands")
    for address in ("/take/agreement/?participant=pia", f"/take/agreement/{OTHERS}", "/take/islands/"):
        consent(client, address)
    consent(Client(), "/take/agreement/?participant=rosa")
    pia, other, elsewhere, rosa = Session.objects.order_by("pk").values_list("device", flat=True)
    assert pia == other and len({pia, elsewhere, rosa}) == 3


def test_one_device_with_two_names_is_flagged_and_no_export_has_the_device(client):
    study = cast.study("agreement")
    consent(client, "/take/agreement/?participant=pia")
    consent(client, f"/take/agreement/{OTHERS}")
    consent(Client(), "/take/agreement/?participant=rosa")
    for session in Session.objects.all():
        for trial in session.trials.select_related("session__experiment"):
            cast.record(session, trial.public_id, cast.answer_to(trial))
        cast.finish(session)
    frame = evidence_frame(study)
    signals = duplicates(frame)
    by_name = signals["flagged"].rename(index=str)
    in_order = [str(pk) for pk in Session.objects.order_by("pk").values_list("pk", flat=True)]
    assert by_name[in_order].tolist() == [True, True, False]
    assert "device" not in judgment_frame(study).columns


def test_deleting_the_answers_deletes_the_mark(client):
    cast.study("agreement")
    consent(client, "/take/agreement/")
    erase(Participant.objects.get(), reason="asked")
    assert Session.objects.get().device == ""


def test_a_strange_cookie_is_replaced(client):
    cast.study("agreement")
    client.cookies["device"] = "x" * 500
    consent(client, "/take/agreement/")
    assert len(client.cookies["device"].value) < 100
