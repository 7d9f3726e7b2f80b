"""Agreement so far: page, part, JSON, API and command say the same; looks are kept; nothing is opened."""

import json
import re

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from analysis.agreement.progress import progress_report
from experiments.models import Experiment
from experiments.page_cache import cache
from judgments.frames.build import judgment_frame
from judgments.models import Judgment, Session
from releases.models import Look
from tests import cast
from tests.releases.study import add_sitting, judged_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def study():
    """A study that takes answers."""
    return judged_study(status=Experiment.Status.OPEN)


def address(name, study):
    return reverse(f"study-{name}", args=[study.slug])


def test_page_shows_intervals_open_decisions_and_looks(ada, study):
    page = ada.get(address("progress", study)).content.decode()
    assert "Looks taken" in page and "95 % at all looks" in page and "hold at all looks together" in page
    assert "data-live=" in page and "js/live.js" in page and "style=" not in page
    assert "nothing is opened" in page
    study.refresh_from_db()
    assert study.status == Experiment.Status.OPEN


def test_numbers_are_those_of_the_library(ada, study):
    document = ada.get(address("progress-json", study), {"rule": "0.6", "more": 3}).json()
    expected = progress_report(judgment_frame(study), rule="0.6", more=3, experiment=study.slug)
    progress = {name: document[name] for name in expected if name != "excluded"}
    assert progress == {name: json.loads(json.dumps(expected[name])) for name in progress}


def test_page_api_and_command_give_the_same_document(ada, study, capsys):
    add_sitting(study, "careless", agrees=False, catch=False)
    call_command("progress", study.slug, "--exclude", "catch_failed", "--rule", "climp", "--json")
    command = json.loads(capsys.readouterr().out)
    query = {"steps": "catch_failed", "rule": "climp"}
    page = ada.get(address("progress-json", study), query).json()
    api = ada.get(
        reverse("api-progress", args=[study.slug]), {"exclude": "catch_failed", "rule": "climp"}
    ).json()
    assert page == api
    assert {**command, "looks": None} == {**page, "looks": None}
    assert (command["looks"]["n"], command["looks"]["people"], page["looks"]["people"]) == (1, 0, 1)
    assert command["excluded"][1]["participants_removed"] == 1
    call_command("progress", study.slug)
    assert "at all looks" in capsys.readouterr().out


def test_a_look_is_a_person_and_a_state_of_the_data(ada, client, study):
    for _ in range(2):
        ada.get(address("progress", study))
        ada.get(address("progress-part", study))
        ada.get(address("agreement", study))
    (look,) = Look.objects.all()
    assert (look.user, look.n_judgments, look.where) == (cast.ada(), Judgment.objects.count(), "progress")
    cast.sit(study, "newcomer")
    cache.clear()
    ada.get(address("progress-part", study))
    client.force_login(cast.ben())
    interim_looks = client.get(reverse("api-progress", args=[study.slug])).json()["looks"]
    assert (interim_looks["n"], interim_looks["people"]) == (2, 2)
    assert Look.objects.count() == 3


@pytest.mark.parametrize("name", ["agreement", "agreement-json", "items", "reliability", "figures"])
def test_results_pages_are_looks_too(ada, study, name):
    ada.get(address(name, study))
    assert Look.objects.get().where == name.partition("-")[0]


def test_api_agreement_is_a_look(ada, study):
    ada.get(reverse("api-agreement", args=[study.slug]))
    assert Look.objects.get().where == "agreement"


def test_looks_before_the_first_answer_or_after_closing_do_not_count(ada):
    empty = cast.study("empty", status=Experiment.Status.OPEN)
    closed = judged_study("closed", status=Experiment.Status.CLOSED)
    for other_study in (empty, closed):
        assert ada.get(address("progress", other_study)).status_code == 200
    assert not Look.objects.exists()
    assert "none while the study was open" in ada.get(address("progress", closed)).content.decode()
    assert "as answers come in" in ada.get(address("progress", empty)).content.decode()


def test_people_at_it_enter_the_interval_when_they_are_done(ada, study):
    sitting = add_sitting(study, "busy")
    Session.objects.filter(pk=sitting.pk).update(status=Session.Status.ACTIVE)
    report = ada.get(address("progress-json", study)).json()
    assert (report["participants"], report["participants_at_it"]) == (7, 1)
    assert {row["participants"] for row in report["paradigms"]} == {6}


def test_numbers_are_kept_for_some_seconds_however_many_watch(ada, study, django_assert_max_num_queries):
    ada.get(address("progress-part", study))
    with django_assert_max_num_queries(12):
        ada.get(address("progress-part", study))


def test_strangers_find_nothing_and_readers_look(client, study):
    for name in ("progress", "progress-part", "progress-json"):
        client.force_login(cast.cleo())
        assert client.get(address(name, study)).status_code == 404
        client.force_login(cast.ben())
        assert client.get(address(name, study)).status_code == 200


def test_bad_choices_are_explained(ada, study):
    answer = ada.get(address("progress", study), {"rule": "bimp", "more": "0"})
    assert answer.status_code == 400 and b"unknown rule" in answer.content.lower()
    api = reverse("api-progress", args=[study.slug])
    assert ada.get(api, {"rule": "bimp"}).status_code == 422
    assert ada.get(api, {"more": 0}).status_code == 400
    with pytest.raises(CommandError, match="1 to 100"):
        call_command("progress", study.slug, "--more", "0")
    with pytest.raises(CommandError, match="rule"):
        call_command("progress", study.slug, "--rule", "bimp")


def test_the_menu_leads_there(ada, study):
    assert address("progress", study) in ada.get(address("agreement", study)).content.decode()


def test_ratings_of_one_side_by_each_person_are_explained(ada):
    study = judged_study("one-sided", task="likert", status=Experiment.Status.OPEN)
    Judgment.objects.filter(trial__sentence__expected="unacceptable").delete()
    page = ada.get(address("progress", study)).content.decode()
    assert (
        "only where a person rated an acceptable and an unacceptable" in page
        and address("ratings", study) in page
    )


def test_the_manual_explains_it_and_gives_the_tutorial_as_a_notebook(ada, study):
    assert "/manual/statistics/progress.md" in ada.get(address("progress", study)).content.decode()
    assert "confidence sequence" in ada.get("/manual/statistics/progress.md").content.decode()
    file = ada.get("/manual/how-to/tutorial.ipynb")
    assert json.loads(file.getvalue())["nbformat"] == 4
    assert "attachment" in file["Content-Disposition"]
    page = ada.get("/manual/how-to/tutorial.md").content.decode()
    drawings = re.findall(r'<img src="(\.\./pictures/[\w-]+\.svg)" alt="[^"]+"', page)
    assert len(drawings) == 2
    for drawing in drawings:
        assert ada.get(f"/manual/{drawing.removeprefix('../')}")["Content-Type"] == "image/svg+xml"
    assert ada.get("/manual/../pyproject.ipynb").status_code == 404
