"""Further rounds: whose turn it is, which lists they get, when a round has enough, what its rows say."""

import pytest
from django.test import Client

from analysis.errors import BadInput
from experiments.lifecycle import open_study, pause, start_round
from experiments.lists import design_of
from experiments.models import Design
from judgments.frames import judgment_frame
from judgments.models import Participant, Session
from judgments.monitor import facts, list_rows, places_left
from judgments.sessions.enough import has_enough
from judgments.sessions.places import StudyClosed
from judgments.sessions.withdraw import leave
from tests import cast
from tests.judgments.screens.walk import consent

pytestmark = pytest.mark.django_db


def study(participants="new", *, items="new", **second):
    """A first round of two items per paradigm, a second one of one other item per paradigm."""
    materials = cast.material_set("two", n_items=4, paradigms=("ba", "bei"))
    made = cast.draft("two", materials=materials)
    row = {"kind": "sample", "items_per_paradigm": 1, "n_lists": 2, "items": items, "seed": 9}
    Design.objects.create(
        experiment=made,
        kind="sample",
        items_per_paradigm=2,
        n_lists=2,
        seed=3,
        rounds=[{**row, "participants": participants, **second}],
    )
    return open_study(made, cast.ada())


def items(session):
    return set(session.trials.filter(kind="target").values_list("item__key", flat=True))


def test_the_second_round_has_lists_of_other_items_and_rows_say_so():
    made = study()
    first = cast.sit(made, "pia")
    start_round(made, 2, cast.ada())
    second = cast.sit(made, "quentin")
    assert (first.list.round, second.list.round) == (1, 2) and second.list.label.startswith("R2-")
    assert len(items(first)) == 4 and len(items(second)) == 2 and not items(first) & items(second)
    frame = judgment_frame(made)
    assert frame.groupby("round")["item"].nunique().to_dict() == {1: 4, 2: 2}
    assert made.current_version().lists.count() == 4


def test_new_people_only_sends_those_of_the_first_round_to_their_end():
    made = study("new")
    first = cast.sit(made, "pia")
    start_round(made, 2, cast.ada())
    assert cast.begin(made, "pia").pk == first.pk


@pytest.mark.parametrize("participants", ["same", "any"])
def test_people_of_the_first_round_take_the_second_as_the_same_person(participants):
    made = study(participants)
    first = cast.sit(made, "pia")
    start_round(made, 2, cast.ada())
    second = cast.sit(made, "pia")
    assert second.pk != first.pk and second.participant_id == first.participant_id
    assert second.consents.filter(given=True).count() == 1
    assert cast.begin(made, "pia").pk == second.pk  # once only
    assert Participant.objects.count() == 1


def test_a_round_for_the_same_people_takes_nobody_else():
    made = study("same")
    left = cast.begin(made, "quentin")
    leave(left)
    start_round(made, 2, cast.ada())
    with pytest.raises(StudyClosed) as door:
        cast.begin(made, "rosa")
    assert door.value.reason == "known_only"
    assert cast.begin(made, "quentin").pk == left.pk  # who left the first round has left
    assert not Participant.objects.filter(sessions__isnull=True).exists()


def test_who_is_in_session_goes_on_with_the_lists_they_have():
    made = study()
    session = cast.sit(made, "pia", n=1)
    start_round(made, 2, cast.ada())
    assert cast.begin(made, "pia").pk == session.pk and cast.sit(made, "pia").status == "complete"


def test_a_browser_comes_back_for_the_second_round_and_is_asked_again(client):
    made = study("same")
    first = consent(client, "/take/two/")
    Session.objects.update(status=Session.Status.COMPLETE)
    start_round(made, 2, cast.ada())
    second = consent(client, "/take/two/")
    assert second != first and Participant.objects.count() == 1
    stranger = Client().get("/take/two/").content.decode()
    assert "for people who took part before" in stranger and "consent" not in stranger


def test_a_round_has_enough_by_its_own_target():
    made = study(target_judgments=1)
    assert made.target_judgments == 20
    cast.sit(made, "pia")
    start_round(made, 2, cast.ada())
    assert not has_enough(made) and facts(made).target == 1
    cast.sit(made, "quentin")
    assert has_enough(made) and facts(made).n_complete == 1
    assert [one.label for one in list_rows(made)] == ["R2-1", "R2-2"]


def test_the_most_participants_are_counted_in_the_round():
    made = study(max_participants=1)
    cast.sit(made, "pia")
    start_round(made, 2, cast.ada())
    assert places_left(made) == 1
    cast.sit(made, "quentin")
    with pytest.raises(StudyClosed, match="full"):
        cast.begin(made, "rosa")


def test_a_round_starts_with_the_design_as_it_is_then():
    made = study()
    cast.sit(made, "pia")
    design = design_of(made)
    design.rounds = [{**design.rounds[0], "without": ["bei"]}]
    design.save()
    start_round(made, 2, cast.ada())
    session = cast.begin(made, "quentin")
    assert session.version.number == 2
    assert {trial.item.paradigm.name for trial in session.trials.all()} == {"ba"}


def test_rounds_start_in_an_open_or_paused_study_only():
    made = study()
    with pytest.raises(BadInput, match="no round 3. The design has 2"):
        start_round(made, 3, cast.ada())
    pause(made, cast.ada())
    assert start_round(made, 2, cast.ada()).current_round == 2
    draft = cast.draft("other")
    Design.objects.create(experiment=draft, rounds=[{"kind": "all"}])
    with pytest.raises(BadInput, match="draft"):
        start_round(draft, 2, cast.ada())
