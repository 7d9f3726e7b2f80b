"""Yes or no, sides fixed for a participant."""

import numpy as np
import pytest

from experiments.tasks.base import BadResponse
from experiments.tasks.registry import get_task

TASK = get_task("yes_no")


def test_yes_is_one_and_no_is_nought():
    assert [TASK.parse(answer, {}, options=()).value for answer in ("yes", "no")] == [1.0, 0.0]


@pytest.mark.parametrize("wrong", ["", "Yes", "1", "maybe"])
def test_anything_else_is_refused(wrong):
    with pytest.raises(BadResponse):
        TASK.parse(wrong, {}, options=())


def test_sides_alternate_between_participants():
    settings = TASK.settings({"yes_label": "Ja", "no_label": "Nein"})
    sides = [
        TASK.screen(settings, arrangement=TASK.arrange(settings, turn=turn))["buttons"] for turn in range(4)
    ]
    assert [buttons[0]["label"] for buttons in sides] == ["Ja", "Nein", "Ja", "Nein"]


def test_the_value_does_not_depend_on_the_side():
    settings = TASK.settings({})
    for turn in (0, 1):
        for button in TASK.screen(settings, arrangement=TASK.arrange(settings, turn=turn))["buttons"]:
            assert TASK.parse(button["value"], settings, options=()).value == (button["label"] == "Yes")


@pytest.mark.parametrize("profile", ["honest", "careless", "left-biased", "random"])
def test_simulated_answers_are_answers(profile):
    rng = np.random.default_rng(1)
    for _ in range(50):
        assert TASK.simulate(rng, TASK.settings({}), options=(), acceptability=0, profile=profile) in {
            "yes",
            "no",
        }
