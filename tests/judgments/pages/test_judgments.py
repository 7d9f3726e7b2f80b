"""The page of judgments."""

import pytest

from experiments.models import Design
from experiments.studies.lifecycle import open_study
from tests import cast

pytestmark = pytest.mark.django_db
PHONE = "Mozilla/5.0 (Android 14; Mobile; rv:129.0) Gecko/129.0 Firefox/129.0"
DESK = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"


def test_newest_judgment_is_first_and_filters_narrow(client):
    session = cast.sit(cast.study("agreement"))
    client.force_login(cast.ben())
    page = client.get("/studies/agreement/judgments/")
    assert [row["position"] for row in page.context["rows"]] == [4, 3, 2, 1]
    name = session.participant.pseudonym
    assert len(client.get(f"/studies/agreement/judgments/?participant={name}").context["rows"]) == 4
    assert not client.get("/studies/agreement/judgments/?kind=catch").context["rows"]
    assert "No judgments match" in client.get("/studies/agreement/judgments/?participant=x").content.decode()


@pytest.mark.parametrize("query", ["?kind=dream", "?page=999", "?page=x", "?participant=%00"])
def test_senseless_queries_still_give_a_page(client, query):
    cast.study("agreement")
    client.force_login(cast.ada())
    assert client.get(f"/studies/agreement/judgments/{query}").status_code == 200


def test_empty_study_shows_a_message(client):
    cast.study("agreement")
    client.force_login(cast.ada())
    assert "No judgments yet" in client.get("/studies/agreement/judgments/").content.decode()


def test_stranger_finds_nothing(client):
    cast.study("agreement")
    client.force_login(cast.cleo())
    assert client.get("/studies/agreement/judgments/").status_code == 404


def test_a_judged_set_shows_its_best_and_worst_sentence_in_words(client):
    materials = cast.material_set("agreement", n_items=4)
    study = cast.draft(task="best_worst", materials=materials, parameters={"size": 4, "showings": 2})
    Design.objects.create(experiment=study, n_lists=2, seed=3)
    open_study(study, cast.ada())
    session = cast.begin(study)
    trial = session.trials.first()
    best, worst = trial.shown["options"][1], trial.shown["options"][3]
    cast.record(session, trial.public_id, f"{best['id']} {worst['id']}")
    client.force_login(cast.ben())
    page = client.get("/studies/agreement/judgments/")
    (row,) = page.context["rows"]
    marks = [(sentence["mark"], sentence["text"], sentence["sentence_id"]) for sentence in row["sentences"]]
    assert marks == [
        ("best", best["text"], best["sentence_id"]),
        ("worst", worst["text"], worst["sentence_id"]),
    ]
    assert all(
        sentence["item"].startswith("subject_verb-") and sentence["condition"]
        for sentence in row["sentences"]
    )
    assert best["id"] not in page.content.decode() and best["text"] in page.content.decode()


@pytest.mark.parametrize(
    ("headers", "n"),
    [
        ({"user-agent": DESK}, 30),
        ({"user-agent": PHONE}, 25),
        ({"user-agent": DESK, "sec-ch-ua-mobile": "?1"}, 25),
        ({"user-agent": PHONE, "sec-ch-ua-mobile": "?0"}, 30),  # a phone asked for the desktop's page
    ],
)
def test_a_page_is_shorter_on_a_phone(client, headers, n):
    cast.sit(cast.study("agreement", materials=cast.material_set(n_items=30)))
    client.force_login(cast.ben())
    page = client.get("/studies/agreement/judgments/", headers=headers)
    assert len(page.context["rows"]) == n
    assert ("Next" in page.content.decode()) is (n == 25)


def test_an_id_that_only_repeats_item_and_condition_is_not_written_beside_them(client):
    materials = cast.material_set("agreement")
    repeating = materials.sentences.get(key="subject_verb-1-good")
    repeating.key = "subject_verb-1:good"
    repeating.save(update_fields=["key"])
    cast.sit(cast.study("agreement", materials=materials))
    client.force_login(cast.ben())
    rows = client.get("/studies/agreement/judgments/").context["rows"]
    beside = {part["sentence_id"]: part["label"] for row in rows for part in row["sentences"]}
    assert beside["subject_verb-1:good"] == "subject_verb-1 · good"
    assert beside["subject_verb-2-good"] == "subject_verb-2 · good · subject_verb-2-good"
