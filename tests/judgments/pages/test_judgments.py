"""The page of judgments."""

import pytest

from experiments.lifecycle import open_study
from experiments.models import Design
from judgments.sessions.record import Delivery, record
from tests import cast

pytestmark = pytest.mark.django_db


def test_newest_judgment_stands_first_and_filters_narrow(client):
    session = cast.sit(cast.study("agreement"))
    client.force_login(cast.ben())
    page = client.get("/studies/agreement/judgments/")
    assert [row["position"] for row in page.context["rows"]] == [4, 3, 2, 1]
    name = session.participant.pseudonym
    assert len(client.get(f"/studies/agreement/judgments/?participant={name}").context["rows"]) == 4
    assert not client.get("/studies/agreement/judgments/?kind=catch").context["rows"]
    assert (
        "No judgment is like that"
        in client.get("/studies/agreement/judgments/?participant=x").content.decode()
    )


@pytest.mark.parametrize("query", ["?kind=dream", "?page=999", "?page=x", "?participant=%00"])
def test_senseless_queries_still_give_a_page(client, query):
    cast.study("agreement")
    client.force_login(cast.ada())
    assert client.get(f"/studies/agreement/judgments/{query}").status_code == 200


def test_empty_study_says_what_will_come(client):
    cast.study("agreement")
    client.force_login(cast.ada())
    assert "No judgment yet" in client.get("/studies/agreement/judgments/").content.decode()


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
    record(session, trial.public_id, Delivery(f"{best['id']} {worst['id']}"))
    client.force_login(cast.ben())
    page = client.get("/studies/agreement/judgments/")
    (row,) = page.context["rows"]
    told = [(one["mark"], one["text"], one["sentence_id"]) for one in row["told"]]
    assert told == [
        ("best", best["text"], best["sentence_id"]),
        ("worst", worst["text"], worst["sentence_id"]),
    ]
    assert all(one["item"].startswith("subject_verb-") and one["condition"] for one in row["told"])
    assert best["id"] not in page.content.decode() and best["text"] in page.content.decode()
