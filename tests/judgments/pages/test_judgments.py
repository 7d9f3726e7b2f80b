"""The page of judgments."""

import pytest

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
