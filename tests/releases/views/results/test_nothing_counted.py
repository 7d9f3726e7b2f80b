"""What pages say where nothing can be counted as expected; a 2×2 design keeps its interaction there."""

import pytest
from django.core.management import call_command
from django.urls import reverse

from experiments.models import Experiment
from tests import cast
from tests.releases.study import judged_study

pytestmark = pytest.mark.django_db
PAGES = ("study-items", "study-agreement", "study-progress")


@pytest.fixture
def islands(tmp_path):
    """Ratings of two structures at two distances, and no word on what is expected."""
    lines = ["participant,item,condition,paradigm,value"]
    for person in range(8):
        for item in range(4):
            for place, cell in enumerate(("non.matrix", "non.embedded", "island.matrix", "island.embedded")):
                value = 7 - place - 2 * (place == 3) - (person + item) % 2
                lines.append(f"p{person},i{item},{cell},whether,{value}")
    path = tmp_path / "islands.csv"
    path.write_text("\n".join(lines))
    owner = cast.ada().get_username()
    call_command(
        "import_judgments",
        path,
        experiment="islands",
        format="table",
        task="likert",
        owner=owner,
        verbosity=0,
    )
    return Experiment.objects.get(slug="islands")


@pytest.mark.parametrize("name", PAGES)
def test_ratings_without_expectation_are_not_reported_as_missing(islands, ada, name):
    page = ada.get(reverse(name, args=["islands"])).content.decode()
    assert "128 judgments, but none can be counted as expected or not" in page
    assert reverse("study-ratings", args=["islands"]) in page
    assert "No judgments yet" not in page and "No item has" not in page


@pytest.mark.parametrize("name", PAGES)
def test_no_participants_and_no_rows_left_are_distinguished(client, name):
    judged_study("judged", task="likert")
    cast.study("waiting", task="likert")
    client.force_login(cast.ada())
    assert "No judgments yet" in client.get(reverse(name, args=["waiting"])).content.decode()
    page = client.get(reverse(name, args=["judged"]), {"exclude": "not_native"}).content.decode()
    assert "can be counted as expected" not in page


def test_the_interaction_is_shown_without_any_contrast(islands, ada, capsys):
    page = ada.get(reverse("study-effects", args=["islands"]), {"by": "paradigm"}).content.decode()
    assert "Difference of differences" in page and "There is no contrast" not in page
    assert "How many contrasts hold" not in page
    capsys.readouterr()
    call_command("effects", "islands", by="paradigm")
    output = capsys.readouterr().out
    assert output.count("difference of differences") == 1
    assert "alphabetically later levels count as marked" in output


@pytest.mark.parametrize("ordinal", [False, True])
def test_no_contrast_at_all_is_reported_by_the_command(capsys, ordinal):
    cast.study("waiting", task="likert")
    call_command("effects", "waiting", ordinal=ordinal)
    assert "There is no contrast" in capsys.readouterr().out
