"""Further rounds: whose turn it is, which lists they get, when a round has enough, what its rows say."""

import json
from io import BytesIO, StringIO
from zipfile import ZipFile

import pandas as pd
import pytest
from django.core.management import call_command
from django.test import Client

from analysis.errors import BadInput
from experiments.lists.build import get_design
from experiments.models import Design, Experiment
from experiments.studies.lifecycle import open_study, pause, start_round
from judgments.frames.build import judgment_frame
from judgments.models import Participant, Session
from judgments.monitoring.overview import list_rows, places_left, study_numbers
from judgments.sessions.completion import finish
from judgments.sessions.enrollment import arrive
from judgments.sessions.places import StudyClosed, newest_version, target_reached
from judgments.sessions.removal import leave
from releases.gold.build import build_release
from releases.gold.options import Options
from releases.reports.compute import compute_agreement
from tests import cast
from tests.judgments.screens.walk import consent

pytestmark = pytest.mark.django_db


def study(participants="new", *, items="new", **second):
    """A first round of two items per paradigm, a second one of one other item per paradigm."""
    materials = cast.material_set("two", n_items=4, paradigms=("ba", "bei"))
    experiment = cast.draft("two", materials=materials)
    row = {"kind": "sample", "items_per_paradigm": 1, "n_lists": 2, "items": items, "seed": 9}
    Design.objects.create(
        experiment=experiment,
        kind="sample",
        items_per_paradigm=2,
        n_lists=2,
        seed=3,
        rounds=[{**row, "participants": participants, **second}],
    )
    return open_study(experiment, cast.ada())


def items(session):
    return set(session.trials.filter(kind="target").values_list("item__key", flat=True))


def test_the_second_round_has_lists_of_other_items_and_rows_record_the_round():
    experiment = study()
    first = cast.sit(experiment, "pia")
    start_round(experiment, 2, cast.ada())
    second = cast.sit(experiment, "quentin")
    assert (first.list.round, second.list.round) == (1, 2) and second.list.label.startswith("R2-")
    assert len(items(first)) == 4 and len(items(second)) == 2 and not items(first) & items(second)
    frame = judgment_frame(experiment)
    assert frame.groupby("round")["item"].nunique().to_dict() == {1: 4, 2: 2}
    assert experiment.current_version().lists.count() == 4


def two_rounds():
    """Pia took the first round, Quentin the second and got half of it wrong."""
    experiment = study()
    cast.sit(experiment, "pia")
    start_round(experiment, 2, cast.ada())
    wrong = cast.begin(experiment, "quentin")
    for number, trial in enumerate(wrong.trials.select_related("session__experiment")):
        cast.record(wrong, trial.public_id, cast.answer_to(trial, choose_expected=number > 0))
    finish(wrong)
    return experiment


def test_agreement_of_one_round_is_that_of_its_judgments_by_command_page_and_api(client):
    experiment = two_rounds()
    total, second = compute_agreement(experiment), compute_agreement(experiment, round_number=2)
    assert (total["overall"]["judgments"], second["overall"]["judgments"]) == (6, 2)
    assert second["overall"]["individual_agreement_pooled"] == 0.5
    assert (total["round"], second["round"]) == (None, 2)
    assert second["excluded"][0]["sessions_left"] == 1
    printed = StringIO()
    call_command("agreement", "two", round_number=2, json=True, stdout=printed)
    assert json.loads(printed.getvalue()) == json.loads(json.dumps(second))
    client.force_login(cast.ada())
    document = client.get("/api/v1/studies/two/agreement/?round=2").json()
    assert document == json.loads(json.dumps(second))
    html = client.get("/studies/two/agreement/?round=2").content.decode()
    assert "round 2 only" in html and '<option value="2" selected>' in html
    assert client.get("/studies/two/figures/items.svg?round=2").status_code == 200


def test_a_report_of_one_round_is_of_its_people_and_answers(tmp_path, client):
    experiment = two_rounds()
    printed = StringIO()
    call_command("report", "two", out=tmp_path / "report", round_number=2, json=True, stdout=printed)
    numbers = json.loads(printed.getvalue())["numbers"]
    second = compute_agreement(experiment, round_number=2)
    assert numbers["agreement"]["overall"]["judgments"] == second["overall"]["judgments"] == 2
    assert numbers["exclusions"]["flow"][0]["participants_left"] == 1
    with ZipFile(tmp_path / "report" / "replication.zip") as archive:
        facts = next(name for name in archive.namelist() if name.endswith("study.json"))
        document = json.loads(archive.read(facts))
    assert (
        document["round"] == 2 and document["flow"]["people"]["finished"] == document["flow"]["sessions"] == 1
    )
    assert "only, analysed as a separate study" in (tmp_path / "report" / "report.html").read_text()
    client.force_login(cast.ada())
    response = client.post("/api/v1/studies/two/reports/", {"round": 2}, content_type="application/json")
    assert response.status_code == 202 and response.json()["options"]["round_number"] == 2
    assert client.post("/studies/two/reports/", {"round": 2}).status_code == 302
    with pytest.raises(BadInput, match="no round 3"):
        build_release(experiment, Options(round_number=3))


def test_a_round_that_is_not_there_is_named(client):
    experiment = two_rounds()
    with pytest.raises(BadInput, match="no round 3"):
        compute_agreement(experiment, round_number=3)
    client.force_login(cast.ada())
    assert client.get("/api/v1/studies/two/agreement/?round=3").status_code == 422
    assert client.get("/studies/two/agreement/?round=3").status_code == 400


def test_judgments_over_the_api_and_in_a_release_have_their_round(client):
    experiment = two_rounds()
    client.force_login(cast.ada())
    rows = client.get("/api/v1/studies/two/judgments/").json()["results"]
    assert [row["round"] for row in rows] == [1] * 4 + [2] * 2
    only = client.get("/api/v1/studies/two/judgments/?round=2").json()["results"]
    assert [row["round"] for row in only] == [2, 2]
    assert client.get("/api/v1/studies/two/judgments/?round=1.5").status_code == 400
    files = build_release(experiment, Options()).files
    released = pd.read_csv(BytesIO(files["judgments.csv"]))
    assert released.groupby("round").size().to_dict() == {1: 4, 2: 2}
    package = json.loads(files["datapackage.json"])
    described = next(resource for resource in package["resources"] if resource["path"] == "judgments.csv")
    assert "round" in [field["name"] for field in described["schema"]["fields"]]


def test_new_people_only_sends_those_of_the_first_round_to_their_end():
    experiment = study("new")
    first = cast.sit(experiment, "pia")
    start_round(experiment, 2, cast.ada())
    assert cast.begin(experiment, "pia").pk == first.pk


@pytest.mark.parametrize("participants", ["same", "any"])
def test_people_of_the_first_round_take_the_second_as_the_same_person(participants):
    experiment = study(participants)
    first = cast.sit(experiment, "pia")
    start_round(experiment, 2, cast.ada())
    second = cast.sit(experiment, "pia")
    assert second.pk != first.pk and second.participant_id == first.participant_id
    assert second.consents.filter(given=True).count() == 1
    assert cast.begin(experiment, "pia").pk == second.pk  # once only
    assert Participant.objects.count() == 1


def test_a_round_for_the_same_people_admits_no_others():
    experiment = study("same")
    left = cast.begin(experiment, "quentin")
    leave(left)
    start_round(experiment, 2, cast.ada())
    with pytest.raises(StudyClosed) as door:
        cast.begin(experiment, "rosa")
    assert door.value.reason == "known_only"
    assert cast.begin(experiment, "quentin").pk == left.pk  # who left the first round has left
    assert not Participant.objects.filter(sessions__isnull=True).exists()


def test_running_sessions_continue_with_their_lists():
    experiment = study()
    session = cast.sit(experiment, "pia", n=1)
    start_round(experiment, 2, cast.ada())
    assert cast.begin(experiment, "pia").pk == session.pk and cast.sit(experiment, "pia").status == "complete"


def test_who_read_the_study_before_the_round_began_gets_a_list_of_the_new_one():
    experiment = study()
    read_before = newest_version(Experiment.objects.get(slug="two"))
    start_round(experiment, 2, cast.ada())
    session = arrive(read_before.experiment, cast.arrival("late"), consent_text="", version=read_before)
    assert session.list.round == 2 and len(items(session)) == 2


def test_a_browser_comes_back_for_the_second_round_and_is_asked_again(client):
    experiment = study("same")
    first = consent(client, "/take/two/")
    Session.objects.update(status=Session.Status.COMPLETE)
    start_round(experiment, 2, cast.ada())
    second = consent(client, "/take/two/")
    assert second != first and Participant.objects.count() == 1
    stranger = Client().get("/take/two/").content.decode()
    assert "for people who took part before" in stranger and "consent" not in stranger


def test_a_round_has_enough_by_its_own_target():
    experiment = study(target_judgments=1)
    assert experiment.target_judgments == 20
    cast.sit(experiment, "pia")
    start_round(experiment, 2, cast.ada())
    assert not target_reached(experiment) and study_numbers(experiment).target == 1
    cast.sit(experiment, "quentin")
    assert target_reached(experiment) and study_numbers(experiment).n_complete == 1
    assert [row.label for row in list_rows(experiment)] == ["R2-1", "R2-2"]


def test_the_most_participants_are_counted_in_the_round(client):
    experiment = study(max_participants=1)
    cast.sit(experiment, "pia")
    start_round(experiment, 2, cast.ada())
    assert places_left(experiment) == 1
    client.force_login(cast.ada())
    assert "1 <small>of 1</small>" in client.get("/studies/two/live/").content.decode()
    cast.sit(experiment, "quentin")
    with pytest.raises(StudyClosed, match="full"):
        cast.begin(experiment, "rosa")


def test_a_round_starts_with_the_design_as_it_is_then():
    experiment = study()
    cast.sit(experiment, "pia")
    design = get_design(experiment)
    design.rounds = [{**design.rounds[0], "without": ["bei"]}]
    design.save()
    start_round(experiment, 2, cast.ada())
    session = cast.begin(experiment, "quentin")
    assert session.version.number == 2
    assert {trial.item.paradigm.name for trial in session.trials.all()} == {"ba"}


def test_rounds_start_in_an_open_or_paused_study_only():
    experiment = study()
    with pytest.raises(BadInput, match="no round 3. The design has 2"):
        start_round(experiment, 3, cast.ada())
    pause(experiment, cast.ada())
    assert start_round(experiment, 2, cast.ada()).current_round == 2
    draft = cast.draft("other")
    Design.objects.create(experiment=draft, rounds=[{"kind": "all"}])
    with pytest.raises(BadInput, match="draft"):
        start_round(draft, 2, cast.ada())
