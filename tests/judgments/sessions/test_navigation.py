"""What a participant sees next, as a decision on values and as a walk."""

from itertools import product

import pytest

from judgments.sessions.navigation import State, decide, move_on, next_step
from tests.cast import answer_to, begin, record, study

FULL = {"has_questions": True, "has_instructions": True, "next_kind": "target", "next_block": 1}


@pytest.mark.parametrize(
    ("state", "screen"),
    [
        (State("questionnaire", **FULL), "questionnaire"),
        (State("instructions", **FULL), "instructions"),
        (State("questionnaire", has_instructions=True, next_kind="target", next_block=1), "instructions"),
        (State("questionnaire", next_kind="target", next_block=1), "trial"),
        (State("practice", next_kind="practice"), "trial"),
        (State("practice", next_kind="target", next_block=1), "ready"),
        (State("feedback-1", next_kind="target", next_block=1), "feedback"),
        (State("block-1", next_kind="target", next_block=1), "trial"),
        (State("block-1", next_kind="target", next_block=2), "break"),
        (State("block-2", next_kind=None), "finish"),
        (State("block-1", is_lapsed=True, next_kind="target", next_block=1), "lapsed"),
        (State("block-1", is_lapsed=True, next_kind=None), "finish"),
        (State("debrief", is_complete=True, is_left=True), "end"),
        (State("block-1", is_left=True, next_kind="target"), "left"),
    ],
)
def test_the_state_decides_the_screen(state, screen):
    assert decide(state) == screen


def test_every_state_has_a_screen():
    screens = (
        "consent",
        "questionnaire",
        "instructions",
        "practice",
        "feedback-3",
        "block-1",
        "block-12",
        "debrief",
    )
    for screen, kind, block, *flags in product(
        screens, (None, "practice", "target", "catch"), (0, 1, 2), *[(True, False)] * 5
    ):
        names = ("is_complete", "is_left", "is_lapsed", "has_questions", "has_instructions")
        assert decide(State(screen, next_kind=kind, next_block=block, **dict(zip(names, flags, strict=True))))


@pytest.mark.django_db
def test_a_whole_session_goes_through_its_screens_in_order():
    extras = ({"kind": "practice", "payload": {"good": "He goes.", "bad": "He go."}},)
    questions = [{"name": "age", "label": "Age", "type": "number"}]
    session = begin(study(n_lists=1, n_blocks=2, extras=extras, questionnaire=questions))
    screens = []
    while (step := next_step(session)).screen != "end":
        screens.append(step.screen)
        if step.screen == "trial":
            record(session, step.trial.public_id, answer_to(step.trial))
        else:
            move_on(session, step.mark)
    assert " ".join(screens) == (
        "questionnaire instructions trial feedback ready trial trial break trial trial"
    )


@pytest.mark.django_db
def test_a_second_click_on_a_button_skips_nothing():
    session = begin(study(questionnaire=[{"name": "age", "label": "Age", "type": "number"}]))
    for _ in range(2):
        move_on(session, "questionnaire")
    assert next_step(session).screen == "instructions"
