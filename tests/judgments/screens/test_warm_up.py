"""Before magnitude estimation: an exercise with lines, and a number of one's own."""

import re

import numpy as np
import pytest
from django.test import Client

from analysis.magnitudes import log_ratios
from analysis.quality.report import signal_table
from judgments.frames.build import judgment_frame
from judgments.frames.measurements import evidence_frame
from judgments.models import Judgment, Session, SessionEvent
from judgments.monitoring.dropout import dropout_by_screen
from judgments.simulation.http_client import InProcess
from judgments.simulation.participant import Persona, sit
from judgments.simulation.walkthrough import visit
from tests import cast
from tests.judgments.screens.walk import answer, consent, hidden, onward

pytestmark = pytest.mark.django_db
REFERENCE = cast.PARAMETERS["magnitude_estimation"]
CATCH = {"kind": "catch", "payload": {"sentence": "The is.", "correct": [0, 50]}}


def a_study(**parameters):
    return cast.study(
        task="magnitude_estimation", n_lists=1, extras=(CATCH,), parameters={**REFERENCE, **parameters}
    )


def arrive(client: Client) -> str:
    session = consent(client, "/take/agreement/")
    onward(client, session)  # the instructions
    return session


def lengths(html: str) -> list[int]:
    """Lengths of the lines on the page, the reference first."""
    return [int(px) for px in re.findall(r'x2="(\d+)"', html)]


def estimate(client: Client, session: str, numbers: list[object] | None = None, **more: str):
    """Send estimates of the lines on the page; in proportion, unless told otherwise."""
    html = client.get(session).content.decode()
    estimates = lengths(html)[1:] if numbers is None else numbers
    data = {f"line_{place}": str(number) for place, number in enumerate(estimates, start=1)}
    return client.post(f"{session}training/", {"attempt": hidden(html, "attempt"), **data, **more})


def heading(client: Client, session: str) -> str:
    return re.search(r"<h1[^>]*>([^<]*)", client.get(session).content.decode())[1]


def test_estimates_in_proportion_pass_and_are_kept_as_typed(client):
    a_study(training=True)
    session = arrive(client)
    html = client.get(session).content.decode()
    assert lengths(html)[0] == 100 and sorted(lengths(html)[1:]) == [25, 50, 75, 150, 200, 300]
    assert " style=" not in html
    estimate(client, session, [f"{px / 10}".replace(".", ",") for px in lengths(html)[1:]])
    assert "Compared with the reference" in heading(client, session)
    details = SessionEvent.objects.get(kind="training").details
    assert details["passed"] and details["r"] == pytest.approx(1) and details["exponent"] == pytest.approx(1)
    assert details["responses"][0] == f"{lengths(html)[1] / 10}".replace(".", ",")
    assert [100 * length for length in details["lengths"]] == lengths(html)[1:]


def test_the_order_of_the_lines_stays_after_a_reload_and_the_second_attempt_has_others(client):
    a_study(training=True)
    session = arrive(client)
    first = lengths(client.get(session).content.decode())
    assert lengths(client.get(session).content.decode()) == first
    estimate(client, session, [7] * 6)
    assert heading(client, session) == "Not quite: please look once more"
    assert sorted(lengths(client.get(session).content.decode())) != sorted(first)


def test_a_lower_pass_mark_lets_a_worse_attempt_pass(client):
    a_study(training=True, pass_mark=0.3)
    session = arrive(client)
    px = lengths(client.get(session).content.decode())[1:]
    order = np.argsort(np.argsort(px))
    rough = [[10, 30, 20, 15, 40, 35][place] for place in order]
    r = np.corrcoef(np.log(px), np.log(rough))[0, 1]
    assert 0.3 < r < 0.9
    estimate(client, session, rough)
    details = SessionEvent.objects.get(kind="training").details
    assert details["passed"] and details["r"] == pytest.approx(r) and details["pass_mark"] == 0.3


def test_two_failures_go_on_and_are_flagged(client):
    study = a_study(training=True)
    session = arrive(client)
    for _ in range(2):
        estimate(client, session, [9] * 6)
    assert "Compared with the reference" in heading(client, session)
    assert [event.details["passed"] for event in SessionEvent.objects.filter(kind="training")] == [
        False,
        False,
    ]
    for _ in range(5):
        answer(client, session, "80")
    flags = signal_table(evidence_frame(study), names=["line_training"])
    assert len(flags) == 1 and "lines was not passed" in flags["reason"][0]


def test_two_failures_screen_out_where_configured(client):
    a_study(training=True, training_failure="screen_out")
    session = arrive(client)
    for _ in range(2):
        estimate(client, session, [9] * 6)
    assert Session.objects.get().status == "screened_out"
    assert "does not fit you" in heading(client, session)
    assert SessionEvent.objects.get(kind="screened_out").details == {"training": "failed"}


def test_participants_who_cannot_see_lines_continue_without_and_are_not_flagged(client):
    study = a_study(training=True)
    session = arrive(client)
    page = client.get(session).content.decode()
    assert "can only be done by eye" in page and 'role="img"' in page
    client.post(f"{session}training/", {"attempt": "1", "skip": "yes"})
    assert SessionEvent.objects.get(kind="training").details == {"skipped": True}
    for _ in range(5):
        answer(client, session, "80")
    assert signal_table(evidence_frame(study), names=["line_training"]).empty


@pytest.mark.parametrize("wrong", ["", "0", "-3", "ten", "1e3", "1,000.5", "9" * 41])
def test_what_is_no_number_is_no_attempt_and_the_rest_is_kept_on_the_page(client, wrong):
    a_study(training=True)
    session = arrive(client)
    response = estimate(client, session, ["62,5", wrong, 3, 4, 5, 6])
    assert response.status_code == 422
    assert 'value="62,5"' in response.content.decode()
    assert not SessionEvent.objects.filter(kind="training").exists()


def test_the_same_attempt_sent_twice_counts_once(client):
    a_study(training=True)
    session = arrive(client)
    html = client.get(session).content.decode()
    data = {"attempt": hidden(html, "attempt"), **{f"line_{n}": "7" for n in range(1, 7)}}
    for _ in range(2):
        client.post(f"{session}training/", data)
    assert SessionEvent.objects.filter(kind="training").count() == 1


@pytest.mark.parametrize(("typed", "value"), [("12,5", 12.5), ("0.4", 0.4), ("٢٠", 20.0)])
def test_a_number_of_ones_own_stays_in_view_and_is_kept_as_its_own_record(client, typed, value):
    study = a_study(own_modulus=True)
    session = arrive(client)
    assert heading(client, session) == "A number of your own"
    client.post(f"{session}modulus/", {"number": typed})
    client.post(f"{session}modulus/", {"number": "77"})  # a second click changes nothing
    details = SessionEvent.objects.get(kind="modulus").details
    assert (details["response"], details["value"]) == (typed, value)
    assert f'<span class="modulus num">{value:g}</span>' in client.get(session).content.decode()
    for _ in range(5):
        answer(client, session, "50")
    frame = judgment_frame(study)
    assert set(frame["modulus"]) == {value}
    assert log_ratios(frame).tolist() == pytest.approx([np.log10(50 / value)] * 5)
    assert {judgment.trial.shown["modulus"] for judgment in Judgment.objects.all()} == {value}


def test_right_ranges_are_meant_in_proportion_to_the_number_chosen(client):
    a_study(own_modulus=True)
    session = arrive(client)
    client.post(f"{session}modulus/", {"number": "10"})
    for typed in ("10", "10", "10", "10", "6"):  # the catch trial comes last: at most half the reference
        answer(client, session, typed)
    assert Judgment.objects.get(trial__kind="catch").is_correct is False
    assert Session.objects.get().trials.get(kind="catch").correct == {"low": 0.0, "high": 5.0}


def test_a_number_that_the_sentence_itself_asks_for_is_right_whatever_number_was_chosen(client):
    instruction_check = {"sentence": "Please type 7.", "correct": [7, 7], "check": "instruction"}
    exact = {"sentence": "As long as this one.", "correct": [110, 110]}
    cast.study(
        task="magnitude_estimation",
        n_lists=1,
        extras=({"kind": "catch", "payload": instruction_check}, {"kind": "catch", "payload": exact}),
        parameters={**REFERENCE, "own_modulus": True},
    )
    session = arrive(client)
    client.post(f"{session}modulus/", {"number": "3"})
    for typed in ("3", "3", "3", "3", "7", "3,3"):
        answer(client, session, typed)
    assert [judgment.is_correct for judgment in Judgment.objects.filter(trial__kind="catch")] == [True, True]


@pytest.mark.parametrize("wrong", ["", "0", "-3", "many"])
def test_an_impossible_number_is_explained(client, wrong):
    a_study(own_modulus=True)
    session = arrive(client)
    assert client.post(f"{session}modulus/", {"number": wrong}).status_code == 422
    assert not SessionEvent.objects.filter(kind="modulus").exists()


def test_lines_come_before_the_number_and_a_given_number_is_not_asked_for(client):
    study = a_study(training=True, own_modulus=True)
    session = arrive(client)
    assert heading(client, session) == "An exercise with lines"
    client.post(f"{session}modulus/", {"number": "5"})  # too early
    assert heading(client, session) == "An exercise with lines"
    estimate(client, session)
    assert heading(client, session) == "A number of your own"
    names = [stage.label for stage in dropout_by_screen(study)]
    assert names[2:4] == ["Line training", "Choice of a modulus"]


def test_without_either_the_trials_come_at_once(client):
    a_study()
    session = arrive(client)
    assert "Compared with the reference" in heading(client, session)
    assert client.post(f"{session}training/", {"attempt": "1"}).status_code == 302
    assert not SessionEvent.objects.filter(kind="training").exists()


@pytest.mark.parametrize("profile", ["honest", "random"])
def test_synthetic_people_go_through_lines_and_number(profile):
    study = a_study(training=True, own_modulus=True)
    persona = Persona("s1", profile=profile, seed=4)
    visit(InProcess(), study, persona)
    sit(study, Persona("s2", profile=profile, seed=5))
    moduli = [event.details["value"] for event in SessionEvent.objects.filter(kind="modulus")]
    assert len(moduli) == 2 and set(judgment_frame(study)["modulus"]) == set(moduli)
    passed = [event.details["passed"] for event in SessionEvent.objects.filter(kind="training")]
    assert all(passed) if profile == "honest" else not all(passed)
