"""What the address of a session refuses, with a code for each reason, and what it keeps beside it."""

import json

import pytest
from django.db import OperationalError
from django.test import Client

from judgments.models import Judgment
from tests.cast import begin, study
from tests.judgments.deliveries import address, row, send

pytestmark = pytest.mark.django_db


def test_one_bad_row_is_refused_and_the_others_are_kept():
    experiment = study()
    session, other = begin(experiment, "pia"), begin(experiment, "quentin")
    first, second, third, _ = session.trials.all()
    foreign = other.trials.first()
    document = send(session, row(first), row(foreign), row(second, response="x"), 7, row(third)).json()
    assert document["acknowledged"] == [first.public_id, third.public_id]
    codes = {refusal["trial"]: refusal["code"] for refusal in document["refused"]}
    assert codes == {"": "bad_row", foreign.public_id: "unknown_trial", second.public_id: "bad_response"}
    assert document["position"] == 1
    assert Judgment.objects.count() == 2


@pytest.mark.parametrize("response", ["0", "8", "3.5", "", "seven", "-1", "٣", "1" * 500])
def test_a_point_outside_the_scale_is_refused(response):
    session = begin(study(task="likert"))
    document = send(session, row(session.trials.first(), response=response)).json()
    assert [refusal["code"] for refusal in document["refused"]] == ["bad_response"]
    assert not Judgment.objects.exists()


@pytest.mark.parametrize("response", [None, 3.5, True, [1], {"a": 1}, "1" * 1001, 10**400])
def test_a_response_that_is_no_text_is_a_bad_row(response):
    session = begin(study(task="likert"))
    document = send(session, row(session.trials.first(), response=response)).json()
    assert [refusal["code"] for refusal in document["refused"]] == ["bad_row"]


def test_a_whole_number_will_do_for_a_point():
    session = begin(study(task="likert"))
    assert send(session, row(session.trials.first(), response=4)).json()["acknowledged"]
    assert (Judgment.objects.get().response, Judgment.objects.get().value) == ("4", 4.0)


@pytest.mark.parametrize("response", ["0", "-5", "1e3", "1,000.5", "nan", "9" * 30, "x"])
def test_what_is_no_positive_number_is_refused(response):
    session = begin(study(task="magnitude_estimation"))
    document = send(session, row(session.trials.first(), response=response)).json()
    assert [refusal["code"] for refusal in document["refused"]] == ["bad_response"]


def test_a_number_is_kept_as_it_was_typed():
    session = begin(study(task="magnitude_estimation"))
    send(session, row(session.trials.first(), response=" 62,50 "))
    assert (Judgment.objects.get().response, Judgment.objects.get().value) == (" 62,50 ", 62.5)


@pytest.mark.parametrize("token", ["forged", "x" * 500, "%00", "%F0%9F%98%80"])
@pytest.mark.parametrize("end", ["plan", "judgments"])
def test_an_unknown_token_is_404(token, end):
    body = json.dumps({"judgments": [{"trial": "a", "response": "b"}]})
    where = f"/api/v1/sessions/{token}/{end}/"
    client = Client()
    answer = client.get(where) if end == "plan" else client.post(where, body, content_type="application/json")
    assert (answer.status_code, answer.json()["code"]) == (404, "session_unknown")


def test_ten_megabytes_are_too_large():
    session = begin(study())
    big = "x" * 10_000_000
    answer = send(session, row(session.trials.first(), timing={"note": big}))
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
    assert not Judgment.objects.exists()


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", "invalid_json"),
        (b"{", "invalid_json"),
        (b"\xff\xfe", "invalid_json"),
        (b"[" * 100_000, "invalid_json"),
        (b"9" * 10_000, "invalid_json"),
        (b"[]", "invalid"),
        (b"null", "invalid"),
        (b'{"judgments": {}}', "invalid"),
        (b'{"judgments": []}', "wrong_number"),
        (json.dumps({"judgments": [{}] * 201}).encode(), "wrong_number"),
    ],
)
def test_a_body_that_is_no_delivery_is_400(body, code):
    session = begin(study())
    answer = Client().post(address(session), body, content_type="application/json")
    assert (answer.status_code, answer.json()["code"]) == (400, code)


def test_forms_and_other_methods_are_refused_with_what_the_endpoint_accepts():
    session = begin(study())
    assert Client().post(address(session), {"response": "x"}).json()["code"] == "invalid_json"
    for method, end in (("get", "judgments"), ("put", "judgments"), ("post", "plan"), ("delete", "plan")):
        answer = getattr(Client(), method)(address(session, end))
        assert (answer.status_code, answer.json()["code"]) == (405, "method_not_allowed")
        assert answer["Allow"] == ("POST" if end == "judgments" else "GET")


@pytest.mark.parametrize("trial", [None, 5, "", "a b", "\u0000", "x" * 25])
def test_a_row_without_a_trial_is_a_bad_row(trial):
    session = begin(study())
    document = send(session, {"trial": trial, "response": "x"}, row(session.trials.first())).json()
    assert [refusal["code"] for refusal in document["refused"]] == ["bad_row"]
    assert len(document["acknowledged"]) == 1


def test_a_database_that_does_not_answer_is_503_so_that_the_browser_tries_again(monkeypatch):
    session = begin(study())

    def broken(*args, **kwargs):
        raise OperationalError("database is locked")

    monkeypatch.setattr("judgments.api.session_views.record_answers", broken)
    answer = send(session, row(session.trials.first()))
    assert (answer.status_code, answer.json()["code"]) == (503, "try_again")
