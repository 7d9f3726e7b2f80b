"""The questions about the instructions: two attempts, then on or out as the study says."""

import random

from django.db import transaction

from experiments.models import Experiment
from experiments.quiz import ATTEMPTS
from judgments.models import Session, SessionEvent
from judgments.sessions.advance import after, next_step
from judgments.sessions.lease import renew
from judgments.sessions.protocol import protocol_of
from judgments.sessions.withdraw import screen_out


def attempt_of(session: Session) -> int:
    """Which attempt comes now, from 1."""
    return int(session.screen.removeprefix("quiz-")) if session.screen.startswith("quiz-") else 1


def answers_in_order(session: Session, number: int) -> list[str]:
    """The answers to a question in this session's own order, which is the same after a reload."""
    question = protocol_of(session.version).quiz[number]
    answers = [question["right"], *question["wrong"]]
    random.Random(f"{session.seed}-{number}-{attempt_of(session)}").shuffle(answers)
    return answers


def right_place(session: Session, number: int) -> str:
    """The opaque answer that is right: its place in the order, from 1."""
    right = protocol_of(session.version).quiz[number]["right"]
    return str(answers_in_order(session, number).index(right) + 1)


@transaction.atomic
def take_attempt(session: Session, wrong: list[int], *, attempt: str) -> None:
    """Note one attempt with the questions answered wrongly; the same attempt sent twice counts once."""
    Session.objects.select_for_update().get(pk=session.pk)
    session.refresh_from_db(fields=["screen", "status"])
    step, now = next_step(session), attempt_of(session)
    if step.screen != "quiz" or attempt != str(now):
        return
    details = {"attempt": now, "wrong": [number + 1 for number in wrong]}
    SessionEvent.objects.create(session=session, kind="quiz", details=details)
    if wrong and now < ATTEMPTS:
        renew(session, screen=f"quiz-{now + 1}")
    elif wrong and protocol_of(session.version).quiz_failure == Experiment.QuizFailure.SCREEN_OUT:
        screen_out(session, details={"quiz": "failed"})
    else:
        renew(session, screen=after(step))
