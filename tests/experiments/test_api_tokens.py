"""What a token opens: its scopes, its end, and how often wrong ones may be tried."""

from datetime import timedelta

import pytest
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from experiments.models import ApiToken
from tests import cast

pytestmark = pytest.mark.django_db
API = "/api/v1/studies/agreement/"


@pytest.fixture(autouse=True)
def _one_minute(monkeypatch):
    """All requests of a test fall into one minute."""
    monkeypatch.setattr("experiments.limits.time", lambda: 30.0)
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def study():
    return cast.study("agreement")


def get(path, token, method="get", **options):
    return getattr(Client(headers={"Authorization": f"Token {token}"}), method)(path, **options)


def test_reading_alone_neither_changes_nor_shows_single_people(study):
    token = cast.token(cast.ada(), scopes=("read",))
    assert get(API, token).status_code == 200
    for path in (f"{API}judgments/", f"{API}judgments.csv", f"{API}judgments.jsonl", f"{API}mturk-batch.csv"):
        refused = get(path, token)
        assert (refused.status_code, refused.json()["code"]) == (403, "scope"), path
    changed = get(API, token, "patch", data={"title": "X"}, content_type="application/json")
    assert changed.status_code == 403


def test_each_scope_opens_its_part(study):
    people = cast.token(cast.ada(), scopes=("read", "people"))
    assert get(f"{API}judgments/", people).status_code == 200
    writing = cast.token(cast.ada(), scopes=("write",))
    assert get(API, writing).status_code == 403
    power = {"data": {}, "content_type": "application/json"}
    assert get(f"{API}releases/", writing, "post", **power).status_code != 403


def test_an_expired_token_and_one_of_a_closed_account_open_nothing(study):
    token = cast.token(cast.ada())
    assert get(API, token).status_code == 200
    ApiToken.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert get(API, token).status_code == 401
    assert "expired" in get(API, token).json()["message"]
    token = cast.token(cast.ben())
    user = cast.ben()
    user.is_active = False
    user.save(update_fields=["is_active"])
    assert get(API, token).status_code == 401


def test_the_hash_of_a_token_opens_nothing(study):
    cast.token(cast.ada())
    assert get(API, ApiToken.objects.get().digest).status_code == 401


def test_wrong_tokens_are_limited_by_network_and_right_ones_are_not(study):
    token = cast.token(cast.ada())
    answers = [get(API, f"{n:040x}") for n in range(30)]
    assert {answer.status_code for answer in answers} == {401, 429}
    assert int(answers[-1]["Retry-After"]) >= 1 and answers[-1].json()["code"] == "throttled"
    assert get(API, token).status_code == 200


def test_requests_of_one_user_are_limited_and_say_when_to_come_back(study, settings):
    settings.API_REQUESTS_PER_MINUTE = 3
    token = cast.token(cast.ada())
    answers = [get(API, token) for _ in range(8)]
    limited = [answer for answer in answers if answer.status_code == 429]
    assert answers[0].status_code == 200 and limited and int(limited[0]["Retry-After"]) >= 1
    assert get(API, cast.token(cast.ben())).status_code == 200
