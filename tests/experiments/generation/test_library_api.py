"""Drawn pairs and word lists by a token."""

import pytest

from experiments.generation.stored.pair_sets import create_pair_set
from experiments.models import MaterialSet, MinimalPair, PairSet, WordList
from tests import api, cast

pytestmark = pytest.mark.django_db


def test_a_pair_is_changed_struck_and_the_set_becomes_materials():
    pairs = create_pair_set(cast.ada(), name="Islands", addresses=["en:wh_island"], n=3, seed=1)
    path = f"pair-sets/{pairs.pk}/"
    assert api.call("get", path)["state"] == "ready"
    first, second, _ = api.call("get", f"{path}pairs/")["results"]
    changed = api.call(
        "patch", f"{path}pairs/{first['id']}/", {"good": "Who left early?", "reason": "Clearer."}
    )
    assert (changed["good"], changed["bad"]) == ("Who left early?", first["bad"])
    assert api.call("patch", f"{path}pairs/{second['id']}/", {"is_struck": True})["is_struck"]
    made = api.call("post", f"{path}materials/", {"name": "Islands"}, status=201)
    assert made["n_pairs"] == 3 and MinimalPair.objects.filter(discard=True).count() == 1
    assert api.call("post", f"{path}materials/", {"name": "Islands"}, status=201)["slug"] == made["slug"]
    assert MaterialSet.objects.count() == 1
    PairSet.objects.filter(pk=pairs.pk).update(drawn_at=None, materials=None)
    assert api.call("get", path)["state"] == "drawing"
    for method, address, body in (("get", "pairs/", None), ("post", "materials/", {"name": "x"})):
        answer = api.send(method, path + address, body)
        assert (answer.status_code, answer["Retry-After"]) == (409, "5")


def test_rows_are_shared_with_a_lab_by_their_owner():
    pairs = create_pair_set(cast.ada(), name="Islands", addresses=["en:wh_island"], n=1, seed=1)
    cast.lab("Syntax", ada="manager", ben="viewer")
    path = f"pair-sets/{pairs.pk}/"
    api.call("get", path, who=cast.ben, status=404)
    shared = api.call("put", f"{path}sharing/", {"lab": "syntax"})
    assert shared == {"lab": "syntax", "study": None}
    api.call("get", path, who=cast.ben)
    api.call("put", f"{path}sharing/", {"lab": "phonology"}, status=400)
    api.call("put", f"{path}sharing/", {}, who=cast.ben, status=403)
    assert api.call("put", f"{path}sharing/", {}) == {"lab": None, "study": None}


def test_a_word_list_has_versions():
    text = "lemma,category,class,pl\nkestrel,noun,animal,kestrels\n"
    body = {"name": "birds", "language": "en", "source": "own", "licence": "CC0", "text": text}
    answer = api.send("post", "word-lists/", body)
    if answer.status_code == 422:  # the columns of the lexicon
        pytest.fail(answer.json()["message"])
    words = answer.json()
    path = f"word-lists/{words['id']}/"
    assert (words["version"], words["n_rows"]) == (1, 1)
    again = api.call("patch", path, {"text": text + "merlin,noun,animal,merlins\n", "based_on": 1})
    assert (again["version"], again["n_rows"]) == (2, 2)
    api.call("patch", path, {"text": text, "based_on": 1}, status=422)
    assert [row["name"] for row in api.call("get", "word-lists/")["results"]] == ["birds"]
    api.call("delete", path, who=cast.ben, status=404)
    api.call("delete", path, status=204)
    assert not WordList.objects.exists()
