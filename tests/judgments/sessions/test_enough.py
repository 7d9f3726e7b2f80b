"""Recruiting stops when every item will have the judgments wanted."""

from datetime import timedelta

import pytest
from django.utils import timezone

from experiments.design.balance import min_expected_judgments
from experiments.lists.rounds import count_showings
from experiments.models import Design
from experiments.studies.lifecycle import open_study
from judgments.flags import lift_flag, raise_flag
from judgments.models import Session
from judgments.monitoring.overview import target_sessions
from judgments.sessions.places import StudyClosed, filled_counts, target_reached
from judgments.sessions.removal import leave
from tests import cast
from tests.judgments.screens.walk import hidden

pytestmark = pytest.mark.django_db


def test_the_item_with_fewest_judgments_decides():
    lists = [{"A": 1}, {"A": 1, "B": 1}, {"B": 2}]
    assert min_expected_judgments(lists, {"A": 3, "B": 1}) == 2
    assert min_expected_judgments([], {"A": 3}) == 0


def test_live_and_complete_sessions_count_and_lost_ones_do_not():
    study = cast.study("agreement", n_lists=2, target_judgments=2)
    cast.sit(study, "pia")
    assert not target_reached(study)
    quentin = cast.begin(study, "quentin")
    assert target_reached(study)
    leave(quentin)
    assert not target_reached(study)


def test_an_excluded_participant_frees_the_list_until_the_exclusion_is_lifted():
    study = cast.study("agreement", n_lists=2, target_judgments=4)
    first, _ = [cast.sit(study, name) for name in ("pia", "quentin")]
    flag = raise_flag(first.participant, "Answers in a rhythm", by=cast.ada())
    assert cast.begin(study, "rosa").list == first.list
    assert filled_counts([first.list_id], is_test=False) == {first.list_id: 1}
    lift_flag(flag, by=cast.ada())
    assert filled_counts([first.list_id], is_test=False) == {first.list_id: 2}


def test_recruiting_continues_for_an_excluded_person_but_not_beyond_the_limit():
    study = cast.study("agreement", target_judgments=2)
    people = [cast.sit(study, name).participant for name in ("pia", "quentin")]
    assert target_reached(study)
    raise_flag(people[0], "Answers in a rhythm", by=cast.ada())
    assert not target_reached(study)
    study.max_participants = 2
    study.save(update_fields=["max_participants"])
    with pytest.raises(StudyClosed):
        cast.begin(study, "rosa")


def test_a_lease_that_runs_out_opens_the_door_again():
    study = cast.study("agreement", target_judgments=1)
    cast.begin(study, "pia")
    assert target_reached(study)
    Session.objects.update(lease_expires_at=timezone.now() - timedelta(minutes=1))
    assert not target_reached(study)


def test_earlier_versions_count_for_the_same_items():
    study = cast.study("agreement", target_judgments=2)
    cast.sit(study, "pia")
    study.instructions = "Read slowly."
    study.save()
    cast.freeze(study)
    cast.presentation_list(study)
    assert not target_reached(study)
    cast.sit(study, "quentin")
    assert target_reached(study)


def test_no_target_and_a_pilot_never_have_enough():
    study = cast.study("agreement", target_judgments=0)
    cast.sit(study, "pia")
    assert not target_reached(study)
    pilot = cast.study("pilot", target_judgments=1, status="pilot")
    cast.sit(pilot, "quentin")
    assert not target_reached(pilot)


def test_the_door_closes_before_consent_and_not_after_it(client):
    study = cast.study("agreement", target_judgments=1)
    page = client.get("/take/agreement/").content.decode()
    assert 'name="consent"' in page
    key = hidden(page, "arrival")
    cast.begin(study, "pia")
    late = client.get("/take/agreement/").content.decode()
    assert 'name="consent"' not in late and 'name="arrival"' not in late
    response = client.post("/take/agreement/", {"arrival": key, "consent": "yes"})
    assert response.status_code == 302 and response["Location"].startswith("/s/")
    assert Session.objects.count() == 2


def test_the_target_is_read_once_and_judgments_are_counted_in_few_queries(django_assert_max_num_queries):
    study = cast.study("agreement", n_lists=4, target_judgments=50)
    target_reached(study)
    with django_assert_max_num_queries(3):
        target_reached(study)


def test_members_of_sets_are_counted_like_items():
    study = cast.draft("sets", task="best_worst", parameters={"size": 4, "showings": 4}, target_judgments=4)
    Design.objects.create(experiment=study, n_lists=2, seed=3)
    open_study(study, cast.ada())
    assert target_sessions(study) == 2
    assert not target_reached(study)
    cast.begin(study, "pia")
    assert target_reached(study) == (fewest_in(study) >= 4)
    cast.begin(study, "quentin")
    assert target_reached(study)


def fewest_in(study) -> int:
    """Fewest showings of an item in the list that the first session took."""
    taken = Session.objects.filter(experiment=study).earliest("pk").list_id
    return min(
        times.get(taken, 0) for times in count_showings(study.lists.values_list("pk", flat=True)).values()
    )
