"""Idempotency keys: a request that is sent again runs once and gets the first answer."""

from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from experiments.models import Experiment, RequestKey, Webhook
from experiments.periodic import delete_expired_rows
from tests import api, cast
from tests.judgments.simultaneous import at_once

pytestmark = pytest.mark.django_db
STUDY = {"title": "Keys", "task": "likert"}


def post(path: str, body=None, *, key: str = "k1", **options):
    return api.send("post", path, body, **{"Idempotency-Key": key}, **options)


def test_a_repetition_gets_the_first_answer_and_makes_nothing():
    first, again = post("studies/", STUDY), post("studies/", STUDY, key='"k1"')
    assert (first.status_code, again.status_code) == (201, 201) and first.json() == again.json()
    assert "Idempotency-Replayed" not in first and again["Idempotency-Replayed"] == "true"
    assert Experiment.objects.count() == 1
    assert post("studies/", STUDY, key="k2").status_code == 201
    assert post("studies/", STUDY, who=cast.ben).status_code == 201  # another user's key
    assert Experiment.objects.count() == 3


def test_a_key_belongs_to_one_request():
    post("studies/", STUDY)
    for path, body in (("studies/", {**STUDY, "title": "Other"}), ("labs/", {"name": "Keys"})):
        answer = post(path, body)
        assert (answer.status_code, answer.json()["code"]) == (422, "idempotency_key_reused")
    assert Experiment.objects.count() == 1


def test_a_request_that_is_refused_frees_its_key():
    assert post("studies/", {"title": "Keys", "task": "no such"}).status_code == 400
    assert post("studies/", STUDY, scopes=("read",)).status_code == 403
    assert not RequestKey.objects.exists()
    assert post("studies/", STUDY).status_code == 201


def test_a_first_request_without_an_answer_is_409(monkeypatch, client):
    post("studies/", STUDY)
    rows = RequestKey.objects.all()
    rows.update(status=None)
    running = post("studies/", STUDY)
    assert (running.status_code, running.json()["code"]) == (409, "in_progress")
    assert int(running["Retry-After"]) > 0
    rows.update(created_at=timezone.now() - timedelta(minutes=11))
    killed = post("studies/", STUDY)
    assert (killed.status_code, killed.json()["code"]) == (409, "unknown_outcome")
    assert "Retry-After" not in killed and Experiment.objects.count() == 1


def test_keys_expire_and_their_answers_are_encrypted(settings):
    settings.WEBHOOK_PRIVATE_TARGETS = True
    cast.draft("agreement")
    hook = {"address": "http://127.0.0.1:9/hook", "events": ["release.frozen"]}
    secret = post("studies/agreement/webhooks/", hook).json()["secret"]
    assert post("studies/agreement/webhooks/", hook).json()["secret"] == secret
    with connection.cursor() as cursor:
        cursor.execute("SELECT answer FROM experiments_requestkey")
        assert secret not in cursor.fetchone()[0]
    RequestKey.objects.update(created_at=timezone.now() - timedelta(hours=25))
    assert post("studies/agreement/webhooks/", hook).json()["secret"] != secret
    assert Webhook.objects.count() == 2
    RequestKey.objects.update(created_at=timezone.now() - timedelta(hours=25))
    delete_expired_rows()
    assert not RequestKey.objects.exists()


def test_a_key_that_would_not_be_read_is_refused():
    study = cast.study()
    pia = cast.sit(study).participant
    for method, path in (
        ("patch", "studies/agreement/"),
        ("get", "studies/"),
        ("post", f"studies/agreement/participants/{pia.pk}/data/"),
    ):
        answer = api.send(method, path, **{"Idempotency-Key": "k1"})
        assert answer.status_code == 400 and "Idempotency-Key" in answer.json()["fields"], path
    assert post("studies/", STUDY, key="").status_code == 400
    assert post("studies/", STUDY, key="x" * 256).status_code == 400


@pytest.mark.django_db(transaction=True)
def test_of_requests_at_once_one_runs():
    token = cast.token(cast.ada())
    answers = at_once([lambda: post("studies/", STUDY, token=token)] * 6)
    assert Experiment.objects.count() == 1
    assert {answer.status_code for answer in answers} <= {201, 409}
    assert sum(answer.status_code == 201 and "Idempotency-Replayed" not in answer for answer in answers) == 1
    assert {answer.json()["code"] for answer in answers if answer.status_code == 409} <= {"in_progress"}


def test_secret_links_are_not_stored_with_a_key():
    study = cast.study("agreement")
    for path, body in (
        ("invitations/", {"email": "x@example.org", "role": "viewer"}),
        ("review-links/", {"label": "Journal", "days": 9}),
        ("links/", {"labels": ["lab-01"]}),
    ):
        answer = post(f"studies/agreement/{path}", body)
        assert answer.status_code == 400 and "Idempotency-Key" in answer.content.decode(), path
    assert not RequestKey.objects.exists() and not study.review_links.exists()
