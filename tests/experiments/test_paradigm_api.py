"""Paradigms over REST: who sees and changes what, and the limits of what is drawn."""

import pytest
from rest_framework.test import APIClient

from experiments.generation.pages.editor import BEGINNING
from experiments.generation.paradigms import find_paradigm, sample_pairs, shipped_paradigms
from experiments.generation.stored import library, pair_sets
from experiments.models import OwnParadigm, PairSet
from tests import cast

pytestmark = pytest.mark.django_db
ROOT = "/api/v1/"
DRAW = {"paradigms": ["en:anaphor_gender_agreement"], "n": 3, "seed": 5}


@pytest.fixture(autouse=True)
def few_pairs(monkeypatch):
    """The linter draws few pairs, so that a check is quick."""
    monkeypatch.setattr(library, "SAVED_PAIRS", 12)


def client_of(user):
    client = APIClient()
    client.force_authenticate(user)
    return client


@pytest.fixture
def api():
    return client_of(cast.ada())


def call(client, method, address, sent=None):
    return getattr(client, method)(
        f"{ROOT}{address}", sent, **({"format": "json"} if method != "get" else {})
    )


ADDRESSES = [
    ("get", "paradigms/"),
    ("get", "paradigms/en/wh_island/"),
    ("post", "paradigms/lint/"),
    ("post", "paradigms/generate/"),
    ("get", "own-paradigms/"),
    ("post", "own-paradigms/"),
    ("get", "own-paradigms/1/"),
    ("get", "pair-sets/"),
    ("post", "pair-sets/"),
    ("get", "pair-sets/1/pairs/"),
]


@pytest.mark.parametrize(("method", "address"), ADDRESSES)
def test_strangers_without_a_token_are_asked_for_one(method, address):
    assert call(APIClient(), method, address).status_code == 401


@pytest.mark.parametrize(("method", "address"), [entry for entry in ADDRESSES if entry[0] == "post"])
def test_a_token_for_reading_changes_nothing(method, address):
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Token {cast.token(cast.ada(), scopes=('read',))}")
    assert call(client, method, address, {}).json()["code"] == "scope"


def test_the_paradigms_of_the_platform_are_listed(api):
    rows = call(api, "get", "paradigms/").json()["results"]
    assert {row["uid"] for row in rows} == set(shipped_paradigms())
    row = call(api, "get", "paradigms/en/wh_island/").json()
    assert row["address"] == "en:wh_island" and 'uid = "wh_island"' in row["text"]
    assert call(api, "get", "paradigms/en/nothing/").status_code == 404
    assert call(api, "get", "paradigms/?language=xx").status_code == 400


def test_the_linter_names_line_and_remedy(api):
    sent = {"text": BEGINNING.replace("[draw]", "[drow]")}
    report = call(api, "post", "paradigms/lint/", sent).json()
    (finding,) = report["findings"]
    assert (finding["line"], finding["remedy"], report["clean"]) == (9, "Did you mean draw or own?", False)
    report = call(api, "post", "paradigms/lint/", {"text": BEGINNING, "n": 20, "seed": 2}).json()
    assert report["clean"] and len(report["examples"]) == 10 and not OwnParadigm.objects.exists()


@pytest.mark.parametrize(
    "sent", [{}, {"text": "x" * 100_001}, {"text": BEGINNING, "n": 1001}, {"text": "a\0"}]
)
def test_what_the_linter_does_not_take(api, sent):
    assert call(api, "post", "paradigms/lint/", sent).status_code == 400


def test_drawn_pairs_are_those_of_the_command(api):
    rows = call(api, "post", "paradigms/generate/", DRAW).json()["pairs"]
    assert rows == sample_pairs(find_paradigm("anaphor_gender_agreement"), 3, seed=5)


@pytest.mark.parametrize(
    ("changes", "status", "said"),
    [
        ({"n": 2001}, 422, "more are drawn by a job"),
        ({"n": 0}, 400, ""),
        ({"seed": -1}, 400, ""),
        ({"paradigms": []}, 400, ""),
        ({"paradigms": ["en:wh_iland"]}, 422, "Did you mean 'wh_island'"),
        ({"paradigms": ["own:1"]}, 422, "There is no paradigm".lower()),
    ],
)
def test_what_is_not_drawn(api, changes, status, said):
    answer = call(api, "post", "paradigms/generate/", DRAW | changes)
    assert answer.status_code == status and said.lower() in answer.json()["message"].lower()


def test_own_paradigms_have_versions_and_roles(api):
    row = call(api, "post", "own-paradigms/", {"text": BEGINNING}).json()
    assert (row["uid"], row["version"], row["n_errors"]) == ("my_paradigm", 1, 0)
    address = f"own-paradigms/{row['id']}/"
    changed = {"text": BEGINNING.replace("tonight", "again"), "based_on": 1}
    assert call(api, "patch", address, changed).json()["version"] == 2
    answer = call(api, "patch", address, {"text": BEGINNING, "based_on": 1})
    assert answer.status_code == 422 and "saved meanwhile" in answer.json()["message"]
    assert call(api, "post", "own-paradigms/", {"text": BEGINNING}).status_code == 422
    cleo = client_of(cast.cleo())
    requests = (("get", None), ("patch", changed), ("delete", None))
    assert {call(cleo, method, address, sent).status_code for method, sent in requests} == {404}
    OwnParadigm.objects.update(lab=cast.lab(cleo="viewer"))
    assert call(cleo, "get", address).json()["lab"] == "syntax-lab"
    assert {call(cleo, method, address, sent).status_code for method, sent in requests[1:]} == {403}
    assert call(api, "delete", address).status_code == 204


def test_sets_are_drawn_and_read_by_their_owner(api, monkeypatch):
    row = call(api, "post", "pair-sets/", DRAW | {"name": "Anaphors"}).json()
    assert row["drawn_at"] and row["job"] is None and row["recipe"][0]["uid"] == "anaphor_gender_agreement"
    pairs = call(api, "get", f"pair-sets/{row['id']}/pairs/").json()["results"]
    assert len(pairs) == 3 and pairs[0]["fields_drawn"]["sentence_good"] == pairs[0]["good"]
    monkeypatch.setattr(pair_sets, "MAX_IMMEDIATE", 1)
    later = call(api, "post", "pair-sets/", DRAW | {"name": "Later"}).json()
    assert later["drawn_at"] is None and later["job"]
    cleo = client_of(cast.cleo())
    for address in (f"pair-sets/{row['id']}/", f"pair-sets/{row['id']}/pairs/"):
        assert call(cleo, "get", address).status_code == 404
    assert call(cleo, "delete", f"pair-sets/{row['id']}/").status_code == 404
    assert call(api, "delete", f"pair-sets/{row['id']}/").status_code == 204
    assert PairSet.objects.get().name == "Later"


def test_the_administrator_sets_how_many_checks_a_minute_has(api, settings):
    sent = {"text": BEGINNING.replace("[draw]", "[drow]")}
    settings.PARADIGM_CHECKS_PER_MINUTE = 1
    answers = [call(api, "post", "paradigms/lint/", sent) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 429] and answers[1]["Retry-After"]
    settings.PARADIGM_CHECKS_PER_MINUTE = 0
    assert call(api, "post", "paradigms/lint/", sent).status_code == 200
