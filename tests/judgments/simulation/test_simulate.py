"""Simulated participants: through the same doors as people, and through the same steps."""

import itertools
import json
from datetime import timedelta
from io import StringIO

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from experiments.models import Design
from experiments.studies.lifecycle import open_study, pause
from judgments.models import Judgment, Participant, Session
from judgments.simulation.http_client import InProcess, Live, Page
from judgments.simulation.participant import Persona, retime, sit
from judgments.simulation.walkthrough import visit
from tests import cast

pytestmark = pytest.mark.django_db
PAIR = {
    "options": [{"text": "The dog slept."}, {"text": "Slept dog the."}],
    "correct": 0,
    "feedback": "Right.",
}
QUESTIONS = [
    {"name": "native", "label": "Is English your native language?", "type": "yes_no", "required": True,
     "role": "native_language"},
    {"name": "age", "label": "How old are you?", "type": "number", "min": 18, "max": 120, "required": True},
    {"name": "languages", "label": "Which?", "type": "multi_choice", "choices": ["Welsh", "Irish"]},
    {"name": "note", "label": "Anything else?", "type": "text"},
]  # fmt: skip


def study(task="forced_choice", *, n_items=10, parameters=None, **fields):
    experiment = cast.draft(
        materials=cast.material_set(n_items=n_items, paradigms=("agreement", "island")),
        task=task,
        parameters=parameters or {},
        questionnaire=QUESTIONS,
        **fields,
    )
    Design.objects.create(experiment=experiment, n_lists=2, trials_per_block=8)
    return open_study(experiment, cast.ada())


def simulate(*arguments):
    out = StringIO()
    call_command("simulate", *arguments, "--json", stdout=out)
    return json.loads(out.getvalue())


TASKS = {
    "forced_choice": {},
    "likert": {"points": 7},
    "yes_no": {},
    "magnitude_estimation": {"reference": "The man arrived by bus.", "modulus": 100},
}


@pytest.mark.parametrize("task", TASKS)
def test_a_whole_session_goes_through_the_pages_of_every_task(task):
    experiment = study(task, parameters=TASKS[task])
    report = simulate("agreement", "--participants", "2", "--seed", "3", "--through", "forms")
    assert (report["completed"], report["judgments"]) == (2, 40)
    assert Session.objects.filter(status="complete").count() == 2
    person = experiment.participants.first()
    assert person.is_simulated and person.is_native
    assert person.background["age"] == 30 and person.background["languages"] == ["Welsh"]
    assert set(Judgment.objects.values_list("input_type", flat=True)) == {"form"}


def test_practice_feedback_and_breaks_are_passed():
    experiment = study(practice=[PAIR], catch_trials=[PAIR])
    session = visit(InProcess(), experiment, Persona("pia"))
    assert session.status == "complete" and session.completion_code
    assert session.trials.filter(judgment__isnull=False).count() == 22
    assert session.trials.get(kind="catch").judgment.is_correct


def test_the_same_seed_brings_the_same_participants_back():
    study()
    first = simulate("agreement", "--participants", "2", "--seed", "5")
    second = simulate("agreement", "--participants", "2", "--seed", "5")
    assert second["sessions"] == first["sessions"] and Participant.objects.count() == 2
    simulate("agreement", "--participants", "2", "--seed", "6")
    assert Participant.objects.count() == 4


def test_lists_are_filled_evenly():
    study(n_items=2)
    report = simulate("agreement", "--participants", "6")
    assert sorted(session["list"] for session in report["sessions"]) == ["1", "1", "1", "2", "2", "2"]


def test_profiles_differ_as_named():
    experiment = study(catch_trials=[PAIR] * 4)
    share, first = {}, {}
    for profile in ("honest", "careless", "left-biased", "random"):
        sessions = [sit(experiment, Persona(f"{profile}{n}", profile, seed=1)) for n in range(3)]
        answers = Judgment.objects.filter(trial__session__in=sessions, trial__kind="target")
        values = list(answers.values_list("value", "trial__expected_first"))
        share[profile] = sum(value for value, _ in values) / len(values)
        first[profile] = sum((value == 1) == expected for value, expected in values) / len(values)
    assert share["honest"] > 0.75 > share["random"] and share["honest"] > share["careless"]
    assert first["left-biased"] > 0.8 and 0.3 < first["honest"] < 0.7


CHECKS = {
    "likert": ({"points": 7}, 3),
    "yes_no": ({}, 0),
    "slider": ({}, [69, 71]),
    "magnitude_estimation": ({**cast.PARAMETERS["magnitude_estimation"], "own_modulus": True}, 7),
}


@pytest.mark.parametrize("task", CHECKS)
def test_attentive_simulated_participants_follow_instruction_checks_and_careless_ones_do_not(task):
    parameters, right = CHECKS[task]
    check = {"text": "Please do this.", "correct": right, "check": "instruction"}
    experiment = study(task, n_items=2, parameters=parameters, catch_trials=[check] * 3)
    right_ones = {}
    for profile in ("honest", "random"):
        sessions = [sit(experiment, Persona(f"{profile}{n}", profile)) for n in range(4)]
        checks = Judgment.objects.filter(trial__session__in=sessions, trial__kind="catch")
        right_ones[profile] = sum(checks.values_list("is_correct", flat=True))
    assert right_ones["honest"] == 12 > right_ones["random"]


def test_questions_that_screen_people_out_keep_no_simulated_one_from_the_trials():
    ask = {"type": "choice", "choices": ["never", "often"], "screen_out": ["never"]}
    experiment = study(n_items=2)
    type(experiment).objects.update(
        questionnaire=[
            {"name": "reads", "label": "How often do you read?", **ask},
            {"name": "before", "label": "Were you here before?", "type": "yes_no", "screen_out": ["yes"]},
        ]
    )
    experiment.refresh_from_db()
    experiment = open_study(experiment, cast.ada())
    assert simulate("agreement", "--participants", "2", "--through", "forms")["completed"] == 2
    assert experiment.participants.first().background == {"reads": "often", "before": "no"}


def test_sitting_again_changes_nothing():
    experiment = study(n_items=2)
    first = sit(experiment, Persona("pia"))
    assert sit(experiment, Persona("pia")).pk == first.pk
    assert Judgment.objects.count() == 4


def test_a_persona_may_leave_before_the_end():
    session = sit(study(n_items=3), Persona("quentin", stops_after=2))
    assert session.status == "withdrawn" and Judgment.objects.count() == 2


def test_a_full_study_turns_participants_away():
    study(n_items=2, max_participants=1)
    report = simulate("agreement", "--participants", "3")
    assert (report["completed"], report["turned_away"]) == (1, 2)
    out = StringIO()
    call_command("simulate", "agreement", "--participants", "2", "--seed", "1", stdout=out)
    assert "2 found the study full or closed" in out.getvalue()


def test_a_paused_study_turns_everyone_away():
    pause(study(n_items=2), cast.ada())
    assert simulate("agreement", "--participants", "1")["turned_away"] == 1


def test_unknown_study_suggests_a_near_name():
    study(n_items=2)
    with pytest.raises(CommandError, match="Did you mean 'agreement'") as caught:
        call_command("simulate", "agreemnt", "--participants", "1")
    assert caught.value.returncode == 2


def test_no_participants_is_refused():
    study(n_items=2)
    with pytest.raises(CommandError, match="at least 1"):
        call_command("simulate", "agreement", "--participants", "0")


def test_an_unreachable_address_is_named():
    study(n_items=2)
    with pytest.raises(CommandError, match="no response from http://127.0.0.1:9/"):
        call_command("simulate", "agreement", "--participants", "1", "--url", "http://127.0.0.1:9/")


@pytest.mark.django_db(transaction=True)
def test_a_running_server_is_visited_over_the_network(live_server):
    experiment = study(n_items=2)
    session = visit(Live(live_server.url), experiment, Persona("pia"))
    assert session.status == "complete" and Judgment.objects.count() == 4


def test_forms_are_read_with_fields_that_name_their_form():
    page = Page(
        "http://x/a/",
        200,
        '<form id="f" method="post" action="b/"></form><input form="f" type="radio" name="n" value="1">',
    )  # noqa: E501
    form = page.forms()[0]
    assert form.action == "http://x/a/b/" and form.takes("n", "1") and not form.takes("n", "2")


def test_times_of_a_simulated_sitting_are_plausible_and_in_order():
    began_at = timezone.now() - timedelta(hours=2)
    session = sit(study(n_items=6), Persona("rosa", seed=3), began_at=began_at)
    session.refresh_from_db()
    answers = list(Judgment.objects.filter(trial__session=session).order_by("trial__position"))
    gaps = [(b.received_at - a.received_at).total_seconds() for a, b in itertools.pairwise(answers)]
    assert session.started_at == began_at < answers[0].answered_at
    assert all(0.5 < gap < 30 for gap in gaps)
    assert answers[-1].received_at < session.completed_at < timezone.now()
    assert 20 < (session.completed_at - began_at).total_seconds() < 600
    assert all(
        answer.timing["simulated"] and answer.timing["server_ms"] >= answer.rt_ms for answer in answers
    )
    assert all(answer.trial.shown_at < answer.answered_at for answer in answers)


def test_times_of_a_person_are_never_moved():
    session = cast.sit(study(n_items=2))
    with pytest.raises(ValueError, match="simulated"):
        retime(session, timezone.now(), np.random.default_rng(0))
