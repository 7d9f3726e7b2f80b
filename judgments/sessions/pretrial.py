"""Screens before the trials: questionnaire, quiz on the instructions, line training and own modulus.

Answers to the questionnaire become the participant's background. The quiz and the training of magnitude
estimation allow a few attempts; afterwards the session continues or ends, as the study's settings say.
"""

import random
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from analysis.magnitudes import proportionality
from experiments.lists.extra_trials import CHECK, INSTRUCTION
from experiments.models import Experiment
from experiments.studies.quiz import ATTEMPTS as QUIZ_ATTEMPTS
from experiments.tasks.magnitude_estimation import ATTEMPTS as LINES_ATTEMPTS
from experiments.tasks.magnitude_estimation import line_lengths
from judgments.models import Participant, Session, SessionEvent
from judgments.sessions.leases import renew
from judgments.sessions.navigation import Step, after, move_on, next_step
from judgments.sessions.protocol import Protocol, load_protocol
from judgments.sessions.removal import screen_out

TRAINING, MODULUS = "training", "modulus"


@dataclass(frozen=True)
class TrainingResult:
    """Fit of one attempt at the line training; ``r`` and ``exponent`` are None if undefined."""

    r: float | None
    exponent: float | None
    is_passed: bool


def training_attempt(session: Session) -> int:
    """Number of the current attempt at the line training, from 1."""
    kind, _, number = session.screen.partition("-")
    return int(number) if kind == TRAINING and number else 1


def session_line_lengths(session: Session) -> list[float]:
    """Line lengths relative to the reference, in this session's random order."""
    return line_lengths(training_attempt(session), seed=session.seed)


def training_result(lengths: list[float], estimates: list[float], *, pass_mark: float) -> TrainingResult:
    """Fit the estimates to the lengths."""
    fit = proportionality(lengths, estimates)
    return TrainingResult(fit.r, fit.exponent, fit.r is not None and fit.r >= pass_mark)


@transaction.atomic
def record_training(session: Session, typed: list[str], estimates: list[float], *, attempt: str) -> None:
    """Store one attempt at the line training; the same attempt sent twice is stored once."""
    step = _locked_step(session, TRAINING)
    if step is None or attempt != str(training_attempt(session)):
        return
    protocol, lengths, number = (
        load_protocol(session.version),
        session_line_lengths(session),
        training_attempt(session),
    )
    mark = float(protocol.settings["pass_mark"])
    result = training_result(lengths, estimates, pass_mark=mark)
    details = {
        "attempt": number,
        "lengths": lengths,
        "responses": typed,
        "r": result.r,
        "exponent": result.exponent,
        "pass_mark": mark,
        "passed": result.is_passed,
    }
    SessionEvent.objects.create(session=session, kind=TRAINING, details=details)
    if not result.is_passed and number < LINES_ATTEMPTS:
        renew(session, screen=f"{TRAINING}-{number + 1}")
    elif not result.is_passed and _screens_out(protocol):
        screen_out(session, details={TRAINING: "failed"})
    else:
        renew(session, screen=after(step))


@transaction.atomic
def skip_training(session: Session) -> None:
    """Skip the line training, for participants who cannot see the lines; neither passed nor failed."""
    step = _locked_step(session, TRAINING)
    if step is not None:
        SessionEvent.objects.create(session=session, kind=TRAINING, details={"skipped": True})
        renew(session, screen=after(step))


@transaction.atomic
def record_modulus(session: Session, typed: str, value: float) -> None:
    """Store the participant's number for the reference sentence, shown with each trial; the first is kept."""
    step = _locked_step(session, MODULUS)
    if step is None:
        return
    settings = load_protocol(session.version).settings
    default = float(settings["modulus"])
    details = {"response": typed, "value": value, "reference": settings["reference"]}
    SessionEvent.objects.create(session=session, kind=MODULUS, details=details)
    trials = list(session.trials.filter(judgment__isnull=True))
    for trial in trials:
        trial.shown = {**trial.shown, "modulus": value}
        trial.correct = _rescale_range(trial.correct, value / default)
    session.trials.model.objects.bulk_update(trials, ["shown", "correct"], batch_size=200)
    renew(session, screen=after(step))


def _rescale_range(correct: dict[str, Any], ratio: float) -> dict[str, Any]:
    """Rescale an expected range from the study's modulus; numbers that an instruction asks for stay."""
    if "low" not in correct or correct.get(CHECK) == INSTRUCTION:
        return correct
    # Rounded to 12 significant digits, so that a multiple of a decimal fraction stays inside its range.
    bounds = {name: float(f"{float(correct[name]) * ratio:.12g}") for name in ("low", "high")}
    return {**correct, **bounds}


def own_moduli(experiment: Experiment) -> dict[int, float]:
    """The modulus that the participant chose, by session."""
    events = SessionEvent.objects.filter(session__experiment=experiment, kind=MODULUS).order_by("-pk")
    return {session: float(details["value"]) for session, details in events.values_list("session", "details")}


def failed_training(experiment: Experiment) -> dict[int, bool]:
    """Whether the last attempt at the line training failed, by session; without skipped trainings."""
    events = SessionEvent.objects.filter(session__experiment=experiment, kind=TRAINING).order_by("pk")
    return {
        session: not details["passed"]
        for session, details in events.values_list("session", "details")
        if "passed" in details
    }


def _screens_out(protocol: Protocol) -> bool:
    return bool(protocol.settings["training_failure"] == Experiment.QuizFailure.SCREEN_OUT.value)


def _locked_step(session: Session, screen: str) -> Step | None:
    """The session's step if it is this screen, with the session's row locked."""
    # Race: a double click sends the same form twice; the second request waits here and finds the next screen.
    Session.objects.select_for_update().get(pk=session.pk)
    session.refresh_from_db(fields=["screen", "status"])
    step = next_step(session)
    return step if step.screen == screen else None


def quiz_attempt(session: Session) -> int:
    """Number of the current attempt at the quiz, from 1."""
    return int(session.screen.removeprefix("quiz-")) if session.screen.startswith("quiz-") else 1


def shuffled_answers(session: Session, number: int) -> list[str]:
    """The answers to a question in this session's random order, the same after a reload."""
    question = load_protocol(session.version).quiz[number]
    answers = [question["right"], *question["wrong"]]
    random.Random(f"{session.seed}-{number}-{quiz_attempt(session)}").shuffle(answers)  # noqa: S311 - a seeded order
    return answers


def correct_choice(session: Session, number: int) -> str:
    """Number of the correct answer in the shuffled order, from 1, as the form sends it."""
    correct = load_protocol(session.version).quiz[number]["right"]
    return str(shuffled_answers(session, number).index(correct) + 1)


@transaction.atomic
def record_quiz(session: Session, wrong: list[int], *, attempt: str) -> None:
    """Store one attempt at the quiz; the same attempt sent twice is stored once."""
    # Race: as in _locked_step.
    Session.objects.select_for_update().get(pk=session.pk)
    session.refresh_from_db(fields=["screen", "status"])
    step, number = next_step(session), quiz_attempt(session)
    if step.screen != "quiz" or attempt != str(number):
        return
    details = {"attempt": number, "wrong": [index + 1 for index in wrong]}
    SessionEvent.objects.create(session=session, kind="quiz", details=details)
    if wrong and number < QUIZ_ATTEMPTS:
        renew(session, screen=f"quiz-{number + 1}")
    elif wrong and load_protocol(session.version).quiz_failure == Experiment.QuizFailure.SCREEN_OUT:
        screen_out(session, details={"quiz": "failed"})
    else:
        renew(session, screen=after(step))


@transaction.atomic
def record_background(
    session: Session,
    answers: dict[str, Any],
    *,
    is_native: bool | None,
    screened_by: str = "",
    honeypot: str = "",
) -> bool:
    """Store the answers and continue; False, without effect, after the questionnaire.

    ``screened_by`` names the question by which the participant is screened out; ``honeypot`` is the content
    of the hidden field, of which only the length is stored.
    """
    if next_step(session).screen != "questionnaire":
        return False
    Participant.objects.filter(pk=session.participant_id).update(background=answers, is_native=is_native)
    if honeypot.strip():
        SessionEvent.objects.create(session=session, kind="honeypot", details={"length": len(honeypot)})
    if screened_by:
        screen_out(session, details={"question": screened_by})
    else:
        move_on(session, "questionnaire")
    return True
