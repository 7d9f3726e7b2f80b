"""What a task asks once before its trials: an exercise with lines, and a number of one's own."""

from dataclasses import dataclass
from typing import Any

from django.db import transaction

from analysis.magnitudes import proportionality
from experiments.extras import CHECK, INSTRUCTION
from experiments.models import Experiment
from judgments.models import Session, SessionEvent
from judgments.sessions.advance import after, next_step
from judgments.sessions.lease import renew
from judgments.sessions.protocol import Protocol, protocol_of
from judgments.sessions.withdraw import screen_out
from judgments.tasks.line_lengths import ATTEMPTS, lengths_of

TRAINING, MODULUS = "training", "modulus"


@dataclass(frozen=True)
class Result:
    """How one attempt at the lines went; ``r`` and ``exponent`` are None where they are undefined."""

    r: float | None
    exponent: float | None
    is_passed: bool


def attempt_of(session: Session) -> int:
    """Which attempt at the lines comes now, from 1."""
    kind, _, number = session.screen.partition("-")
    return int(number) if kind == TRAINING and number else 1


def lengths_for(session: Session) -> list[float]:
    """Lengths of the lines, the reference being 1, in this session's own order."""
    return lengths_of(attempt_of(session), seed=session.seed)


def result_of(lengths: list[float], estimates: list[float], *, pass_mark: float) -> Result:
    """Compare estimates with lengths."""
    found = proportionality(lengths, estimates)
    return Result(found.r, found.exponent, found.r is not None and found.r >= pass_mark)


@transaction.atomic
def take_training(session: Session, typed: list[str], estimates: list[float], *, attempt: str) -> None:
    """Note one attempt at the lines; the same attempt sent twice counts once."""
    now = _locked(session, TRAINING)
    if now is None or attempt != str(attempt_of(session)):
        return
    protocol, lengths, number = protocol_of(session.version), lengths_for(session), attempt_of(session)
    mark = float(protocol.settings["pass_mark"])
    result = result_of(lengths, estimates, pass_mark=mark)
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
    if not result.is_passed and number < ATTEMPTS:
        renew(session, screen=f"{TRAINING}-{number + 1}")
    elif not result.is_passed and _ends(protocol):
        screen_out(session, details={TRAINING: "failed"})
    else:
        renew(session, screen=after(now))


@transaction.atomic
def skip_training(session: Session) -> None:
    """Go on without the lines, for who cannot see them; it is noted, and neither passed nor failed."""
    step = _locked(session, TRAINING)
    if step is not None:
        SessionEvent.objects.create(session=session, kind=TRAINING, details={"skipped": True})
        renew(session, screen=after(step))


@transaction.atomic
def take_modulus(session: Session, typed: str, value: float) -> None:
    """Keep the person's own number of the reference sentence, shown with every trial; the first stands."""
    step = _locked(session, MODULUS)
    if step is None:
        return
    settings = protocol_of(session.version).settings
    usual = float(settings["modulus"])
    details = {"response": typed, "value": value, "reference": settings["reference"]}
    SessionEvent.objects.create(session=session, kind=MODULUS, details=details)
    trials = list(session.trials.filter(judgment__isnull=True))
    for trial in trials:
        trial.shown = {**trial.shown, "modulus": value}
        trial.correct = _in_proportion(trial.correct, value / usual)
    session.trials.model.objects.bulk_update(trials, ["shown", "correct"], batch_size=200)
    renew(session, screen=after(step))


def _in_proportion(correct: dict[str, Any], ratio: float) -> dict[str, Any]:
    """Right answers are for the study's number; what a sentence tells people to type stands as it is."""
    if "low" not in correct or correct.get(CHECK) == INSTRUCTION:
        return correct
    ends = {end: float(f"{float(correct[end]) * ratio:.12g}") for end in ("low", "high")}
    return {**correct, **ends}


def own_moduli(experiment: Experiment) -> dict[int, float]:
    """The number that each session's participant chose, by session."""
    events = SessionEvent.objects.filter(session__experiment=experiment, kind=MODULUS).order_by("-pk")
    return {session: float(details["value"]) for session, details in events.values_list("session", "details")}


def failed_training(experiment: Experiment) -> dict[int, bool]:
    """Whether the last attempt at the lines failed, by session; who went on without is not among them."""
    events = SessionEvent.objects.filter(session__experiment=experiment, kind=TRAINING).order_by("pk")
    return {
        session: not details["passed"]
        for session, details in events.values_list("session", "details")
        if "passed" in details
    }


def _ends(protocol: Protocol) -> bool:
    return bool(protocol.settings["training_failure"] == Experiment.QuizFailure.SCREEN_OUT.value)


def _locked(session: Session, screen: str) -> Any:
    """The session's step, its row locked, where it stands on this screen; else None."""
    Session.objects.select_for_update().get(pk=session.pk)
    session.refresh_from_db(fields=["screen", "status"])
    step = next_step(session)
    return step if step.screen == screen else None
