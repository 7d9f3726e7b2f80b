"""Forced choice: which of two sentences."""

import numpy as np
import pytest

from analysis.errors import BadInput
from experiments.tasks.base import BadResponse, Option, is_correct
from experiments.tasks.registry import get_task

TASK = get_task("forced_choice")
OPTIONS = [
    Option("k3", "The keys is here.", expected=False),
    Option("x9", "The keys are here.", expected=True),
]


def chosen(response: str):
    return TASK.parse(response, TASK.settings({}), options=OPTIONS)


def test_choosing_the_expected_member_counts_one_wherever_it_stood():
    assert (chosen("x9").value, chosen("k3").value) == (1.0, 0.0)
    assert chosen("x9").option_id == "x9"


@pytest.mark.parametrize("forged", ["", "The keys are here.", "0", "X9", "x9 "])
def test_only_an_id_of_this_screen_is_an_answer(forged):
    with pytest.raises(BadResponse):
        chosen(forged)


def test_a_catch_trial_is_right_when_its_option_is_chosen():
    assert is_correct(chosen("x9"), {"option": "x9"}) is True
    assert is_correct(chosen("k3"), {"option": "x9"}) is False
    assert is_correct(chosen("k3"), {"feedback": "Well."}) is None


@pytest.mark.parametrize(
    ("profile", "low", "high"), [("honest", 0.9, 1.0), ("careless", 0.6, 0.9), ("random", 0.4, 0.6)]
)
def test_simulated_participants_choose_according_to_their_profile(profile, low, high):
    rng = np.random.default_rng(3)
    answers = [
        TASK.simulate(rng, TASK.settings({}), options=OPTIONS, acceptability=4, profile=profile)
        for _ in range(500)
    ]
    assert low <= answers.count("x9") / 500 <= high


def test_a_left_biased_participant_mostly_takes_the_first():
    rng = np.random.default_rng(3)
    answers = [
        TASK.simulate(rng, TASK.settings({}), options=OPTIONS, acceptability=4, profile="left-biased")
        for _ in range(500)
    ]
    assert answers.count("k3") / 500 > 0.7


@pytest.mark.parametrize("word", ["both", "neither"])
def test_both_and_neither_are_answers_only_where_they_are_offered(word):
    with pytest.raises(BadResponse):
        chosen(word)
    settings = TASK.settings({f"offer_{word}": True})
    answer = TASK.parse(word, settings, options=OPTIONS)
    assert (answer.response, answer.value, answer.option_id) == (word, 0.5, "")
    assert is_correct(answer, {"option": "x9"}) is False
    assert [button["value"] for button in TASK.screen(settings, arrangement={})["buttons"]] == [word]


@pytest.mark.parametrize("wrong", [{"undecided": "sometimes"}, {"offer_both": "yes"}, {"confirm": 1}])
def test_an_unknown_treatment_is_refused(wrong):
    with pytest.raises(BadInput):
        TASK.settings(wrong)


@pytest.mark.parametrize("profile", ["honest", "careless", "left-biased", "random"])
def test_simulated_participants_use_what_is_offered_where_they_feel_no_difference(profile):
    rng, settings = np.random.default_rng(3), TASK.settings({"offer_both": True, "offer_neither": True})

    def share(acceptability: float) -> float:
        responses = [
            TASK.simulate(rng, settings, options=OPTIONS, acceptability=acceptability, profile=profile)
            for _ in range(300)
        ]
        assert set(responses) <= {"x9", "k3", "both", "neither"}
        return sum(response in {"both", "neither"} for response in responses) / 300

    near, far = share(0.0), share(6.0)
    assert near > far if profile in {"honest", "careless"} else abs(near - far) < 0.15
