"""What a token opens: its scopes, its end, how often wrong ones may be tried; limits of the API."""

from datetime import timedelta

import pytest
from django.core.cache import cache
from django.test import Client
from django.utils import timezone
from drf_spectacular.generators import SchemaGenerator

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


def test_requests_with_a_login_count_like_those_with_a_token(study, settings):
    settings.API_REQUESTS_PER_MINUTE = 4
    browser, other = Client(), Client()
    browser.force_login(cast.ada())
    other.force_login(cast.ada())
    assert [browser.get(API).status_code, other.get(API).status_code] == [200, 200]
    assert [get(API, cast.token(cast.ada())).status_code for _ in range(2)] == [200, 200]
    for limited in (browser.get(API), other.get(API), get(API, cast.token(cast.ada()))):
        assert (limited.status_code, limited["Retry-After"]) == (429, "30")
        assert limited.json()["code"] == "throttled"
    browser.force_login(cast.ben())
    assert browser.get(API).status_code == 200


def test_participants_addresses_have_no_limit_of_the_api(study, settings):
    settings.API_REQUESTS_PER_MINUTE = 1
    browser = Client()
    browser.force_login(cast.ada())  # a researcher tries the own study
    address = f"/api/v1/sessions/{cast.begin(study).token}/plan/"
    assert {browser.get(address).status_code for _ in range(5)} == {200}
    assert [browser.get(API).status_code for _ in range(2)] == [200, 429]


def test_the_document_of_the_api_says_when_to_come_back():
    document = SchemaGenerator().get_schema(request=None, public=True)
    operations = {
        (path, method): operation
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
        if not path.startswith("/api/v1/sessions/")
    }
    assert len(operations) > 50
    for address, operation in operations.items():
        header = operation["responses"]["429"]["headers"]["Retry-After"]
        assert header["required"] and header["schema"]["type"] == "integer", address
    assert document["components"]["securitySchemes"]["cookieAuth"]["in"] == "cookie"
