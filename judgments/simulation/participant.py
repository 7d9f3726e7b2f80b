"""Simulated participants: their answers, whole sessions, and plausible times for sessions that took none.

Answers follow a latent acceptability of each sentence in z units. Material sets may store it as the attribute
``acceptability`` of sentences. Otherwise the names of paradigm and sentence determine a contrast and a
deviation, so that the same materials have the same latent values in every study and every run.
"""

import hashlib
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from statistics import NormalDist
from typing import Any

import numpy as np
from django.db import transaction

from analysis.errors import BadInput
from analysis.quality.response_patterns import reading_length
from experiments.materials.schema import CONTEXT
from experiments.models import Experiment, Sentence
from experiments.tasks.base import PROFILES, BadResponse, Task, is_attentive, is_correct
from judgments.models import Consent, Judgment, Participant, Session, Trial
from judgments.sessions.arrival import Arrival
from judgments.sessions.completion import finish
from judgments.sessions.enrollment import arrive
from judgments.sessions.leases import renew
from judgments.sessions.navigation import WARM_UP, next_step, show
from judgments.sessions.payload import SentAnswer
from judgments.sessions.pretrial import (
    record_modulus,
    record_training,
    session_line_lengths,
    training_attempt,
)
from judgments.sessions.protocol import Protocol, load_protocol
from judgments.sessions.recording import record_answers, shown_options
from judgments.sessions.removal import leave
from judgments.simulation.model_scores import ModelScores

EASIEST, HARDEST = 4.2, 0.0
ACCEPTABLE, ITEM_SD, CATCH = 0.9, 0.5, 5.0


def latent_acceptability(trial: Trial, scale: tuple[float | None, float | None]) -> float:
    """Latent z of the sentence shown; for a pair, of the expected member over the other."""
    if trial.pair is not None:
        return sentence_acceptability(trial.pair.good) - sentence_acceptability(trial.pair.bad)
    if trial.sentence is not None:
        return sentence_acceptability(trial.sentence)
    if "option" in trial.correct:
        return CATCH
    if "low" in trial.correct:
        return _intended_answer(trial.correct, scale, modulus=float(trial.shown.get("modulus", 1)))
    return 0.0


def latent_of_options(trial: Trial) -> dict[str, float]:
    """Latent z of every sentence of a set, by the id of its option."""
    options = trial.shown.get("options", ())
    materials = trial.session.experiment.materials_id
    keys = [option["sentence_id"] for option in options if option.get("sentence_id")]
    rows = Sentence.objects.filter(material_set=materials, key__in=keys).select_related("item__paradigm")
    latent = {row.key: sentence_acceptability(row) for row in rows}
    right = trial.correct.get("option")
    return {
        option["id"]: CATCH * (option["id"] == right) + latent.get(option["sentence_id"], 0.0)
        for option in options
    }


def sentence_acceptability(sentence: Sentence) -> float:
    """Latent z of a stored sentence."""
    stored = sentence.attributes.get("acceptability")
    if stored is not None:
        return float(stored)
    paradigm = sentence.item.paradigm
    name = paradigm.name if paradigm else sentence.condition
    contrast = HARDEST + (EASIEST - HARDEST) * _share("step", name)
    deviation = NormalDist(0, ITEM_SD).inv_cdf(_share("sentence", sentence.key))
    if sentence.expected == Sentence.Expected.UNACCEPTABLE:
        return ACCEPTABLE - contrast + deviation
    if sentence.expected == Sentence.Expected.ACCEPTABLE:
        return ACCEPTABLE + deviation
    return NormalDist().inv_cdf(_share("unknown", sentence.key))


def _intended_answer(
    correct: Mapping[str, Any], scale: tuple[float | None, float | None], *, modulus: float
) -> float:
    """Middle of the right answers, from half the scale (5 z wide) or from the modulus (1 z per doubling)."""
    middle = (float(correct["low"]) + float(correct["high"])) / 2
    low, high = scale
    if low is not None and high is not None:
        return 5 * ((middle - low) / (high - low) - 0.5)
    return 2.0 if middle > modulus else -2.0


def _share(kind: str, name: str) -> float:
    """A number between 0 and 1, exclusive, determined by the name."""
    digest = hashlib.sha256(f"{kind}:{name}".encode()).digest()
    return (int.from_bytes(digest[:6], "big") + 1) / (2**48 + 1)


READING_S, QUESTIONS_S, PAUSE_S, DELIVERY_MS = 35.0, 20.0, 0.9, 120.0


@transaction.atomic
def retime(session: Session, began_at: datetime, rng: np.random.Generator) -> Session:
    """Move a simulated session to start at ``began_at``, with each answer after its own response time.

    Only times change; all other fields keep what was recorded.
    """
    if not session.participant.is_simulated:
        raise ValueError("only a simulated session can be moved in time")
    now = began_at + _seconds(READING_S + QUESTIONS_S, rng)
    deadline_ms = load_protocol(session.version).deadline_ms or 0
    for trial in (
        session.trials.filter(judgment__isnull=False).select_related("judgment").order_by("position")
    ):
        now += timedelta(milliseconds=trial.judgment.timing.get("context_ms", 0))
        now = _move_answer(trial, trial.judgment, now, rng, deadline_ms=deadline_ms)
    session.started_at, session.last_seen_at, session.lease_expires_at = began_at, now, now
    if session.completed_at is not None:
        session.completed_at = now + _seconds(2.0, rng)
    session.save(update_fields=["started_at", "last_seen_at", "lease_expires_at", "completed_at"])
    Consent.objects.filter(session=session).update(at=began_at)
    Participant.objects.filter(pk=session.participant_id).update(created_at=began_at)
    return session


def _move_answer(
    trial: Trial, judgment: Judgment, shown_at: datetime, rng: np.random.Generator, *, deadline_ms: int
) -> datetime:
    """Move one answer; return the time at which the next trial is shown."""
    answered_at = shown_at + timedelta(milliseconds=deadline_ms if judgment.rt_ms is None else judgment.rt_ms)
    received_at = answered_at + timedelta(milliseconds=_spread(DELIVERY_MS, rng))
    server_ms = round((received_at - shown_at).total_seconds() * 1000)
    timing = {**judgment.timing, "server_ms": server_ms, "simulated": True}
    Trial.objects.filter(pk=trial.pk).update(shown_at=shown_at)
    Judgment.objects.filter(pk=judgment.pk).update(
        answered_at=answered_at, received_at=received_at, timing=timing
    )
    return received_at + _seconds(PAUSE_S, rng)


def _seconds(median: float, rng: np.random.Generator) -> timedelta:
    return timedelta(seconds=_spread(median, rng))


def _spread(median: float, rng: np.random.Generator) -> float:
    return median * float(np.exp(rng.normal(0, 0.35)))


MODEL_LIKE = "model-like"
KINDS = (*PROFILES, MODEL_LIKE)
UNREAD_MS = {"left-biased": 700, "random": 480}  # median of those who hardly read
MS_PER_CHARACTER = 42  # 238 words of six characters a minute (Brysbaert 2019)
DECIDING_MS, DOUBT_MS = 700, 600  # after reading; and more where two sentences are hardly apart
HURRY = {"careless": 0.45}
SPEED_SD, TRIAL_SD = 0.2, 0.35  # between participants, and between trials of one
RELATED = ("pair__good__item__paradigm", "pair__bad__item__paradigm", "sentence__item__paradigm")
SCALE_BIAS_SD = 0.25


@dataclass(frozen=True)
class Persona:
    """One simulated participant: the key determines the pseudonym, the seed every answer."""

    key: str
    profile: str = "honest"
    seed: int = 0
    is_native: bool | None = True
    background: dict[str, Any] = field(default_factory=dict)
    stops_after: int | None = None


class Mind:
    """Answers of a persona to each trial; the profile model-like needs the model's ``scores``."""

    def __init__(self, persona: Persona, protocol: Protocol, scores: ModelScores | None = None) -> None:
        if persona.profile not in KINDS:
            raise BadInput(f"unknown profile {persona.profile!r}.", remedy=f"There are: {', '.join(KINDS)}.")
        if persona.profile == MODEL_LIKE and scores is None:
            raise BadInput("participants like a model need its scores.", remedy="Give --scores.")
        self.persona, self.protocol = persona, protocol
        self.scores = scores if persona.profile == MODEL_LIKE else None
        self.profile = "honest" if persona.profile == MODEL_LIKE else persona.profile
        self.rng = np.random.default_rng([persona.seed, *persona.key.encode()])
        self.bias = float(self.rng.normal(0, SCALE_BIAS_SD))
        self.person = np.random.default_rng([persona.seed, *persona.key.encode(), 1])
        self.pace = float(np.exp(self.person.normal(0, SPEED_SD)))
        self.device = int(self.person.integers(1000))

    def _latent(self, trial: Trial) -> float:
        """Latent z of what a trial shows: from the model's scores if there are any, else simulated."""
        score = None
        if self.scores and trial.pair is not None:
            score = self.scores.preference(trial.pair.good.key, trial.pair.bad.key)
        elif self.scores and trial.sentence is not None:
            score = self.scores.acceptability(trial.sentence.key)
        latent = latent_acceptability(trial, self.protocol.task.scale(self.protocol.settings))
        return latent if score is None else score

    def _latent_of_options(self, trial: Trial) -> dict[str, float]:
        """Latent z of the members of a set."""
        latent = latent_of_options(trial)
        if self.scores is not None:
            for option in trial.shown.get("options", ()):
                score = self.scores.acceptability(option.get("sentence_id", ""))
                latent[option["id"]] = latent[option["id"]] if score is None else score
        return latent

    def response(self, trial: Trial) -> str:
        """The response to send for a trial."""
        task, settings = self.protocol.task, self.protocol.settings
        acceptability = self._latent(trial)
        if task.shows == "sentence" and not trial.correct:
            acceptability += self.bias
        settings = {**settings, **{name: trial.shown[name] for name in settings if name in trial.shown}}
        options = shown_options(trial)
        if task.shows == "set":
            latent = self._latent_of_options(trial)
            options = [replace(option, acceptability=latent[option.id]) for option in options]
        # The task draws attention first. A copy of the generator gives the same draw without advancing it,
        # so that a seed gives the same answers.
        is_reading = "low" in trial.correct and is_attentive(deepcopy(self.rng), self.profile)
        response = task.simulate(
            self.rng,
            settings,
            options=options,
            acceptability=acceptability,
            profile=self.profile,
        )
        return right_answer(task, settings, trial.correct, response) if is_reading else response

    def lines(self, lengths: Sequence[float], *, modulus: float) -> list[float]:
        """Estimates of line lengths: proportional with some noise, or random for inattentive profiles."""
        attentive = is_attentive(self.rng, self.profile)
        noise = self.rng.normal(0, 0.15, len(lengths)) if attentive else self.rng.uniform(-3, 3, len(lengths))
        bases = lengths if attentive else [1.0] * len(lengths)
        return [
            round(modulus * base * 2**exponent, 2)
            for base, exponent in zip(bases, noise.tolist(), strict=True)
        ]

    def modulus(self) -> str:
        """A round number as the participant's own modulus."""
        return str(self.rng.choice([1, 10, 20, 50, 100, 1000]))

    def rt_ms(self, trial: Trial) -> int:
        """Response time: reading and deciding at the participant's pace, log-normal across trials."""
        noise = float(np.exp(self.rng.normal(0, TRIAL_SD)))
        without_reading = UNREAD_MS.get(self.profile)
        return max(120, round((without_reading or self._reading_ms(trial) * self.pace) * noise))

    def answer(self, trial: Trial) -> tuple[str, int | None]:
        """The response and its time; none of both where the deadline passes before."""
        response, rt_ms = self.response(trial), self.rt_ms(trial)
        deadline_ms = self.protocol.deadline_ms
        return ("", None) if deadline_ms is not None and rt_ms > deadline_ms else (response, rt_ms)

    def context_times(self, trial: Trial) -> dict[str, int]:
        """Measurements of the context before a sentence; empty without one."""
        if not self.protocol.has_context_screen(trial.shown):
            return {}
        if planned_ms := self.protocol.context_ms:
            return {"context_ms": planned_ms, "context_planned_ms": planned_ms}
        reading = MS_PER_CHARACTER * reading_length(trial.shown[CONTEXT]) * HURRY.get(self.profile, 1.0)
        noise = float(np.exp(self.rng.normal(0, TRIAL_SD)))
        context_ms = max(220, round((UNREAD_MS.get(self.profile) or reading * self.pace) * noise))
        return {"context_ms": context_ms}

    def _reading_ms(self, trial: Trial) -> float:
        """Median time with reading: longer for long texts and for close decisions."""
        texts = [option["text"] for option in trial.shown.get("options", ())] or [trial.shown.get("text", "")]
        reading = MS_PER_CHARACTER * sum(reading_length(text) for text in texts)
        doubt = DOUBT_MS * float(np.exp(-abs(self._latent(trial))))
        return (reading + DECIDING_MS + doubt) * HURRY.get(self.profile, 1.0)


def right_answer(task: Task, settings: dict[str, Any], correct: dict[str, Any], answer: str) -> str:
    """Answer of an attentive participant to a range: their own if it is right, else the middle."""
    low, high = float(correct["low"]), float(correct["high"])
    numbers = (f"{number:.10f}".rstrip("0").rstrip(".") for number in (round((low + high) / 2), low, high))
    for response in (answer, *numbers, "yes", "no"):
        try:
            if is_correct(task.parse(response, settings, options=()), correct):
                return response
        except BadResponse:
            continue
    return answer


def open_trials(session: Session) -> list[Trial]:
    """The session's trials without a judgment, in order, with what they show."""
    waiting = session.trials.filter(judgment__isnull=True).select_related(*RELATED)
    return list(waiting.order_by("position"))


def sit(experiment: Experiment, persona: Persona, *, began_at: datetime | None = None) -> Session:
    """Let a persona arrive, answer and finish; a repeated call returns the existing session.

    With ``began_at`` the session gets the times it would have taken from then on.
    """
    version = experiment.current_version()
    arrival = Arrival(key=persona.key, is_simulated=True)
    session = arrive(experiment, arrival, consent_text=load_protocol(version).consent if version else "")
    if session.is_final:
        return session
    Participant.objects.filter(pk=session.participant_id).update(
        background=persona.background, is_native=persona.is_native
    )
    mind = Mind(persona, load_protocol(session.version))
    _warm_up(session, mind)
    if session.is_final:  # the lines were failed, and the study ends there
        return session
    for number, trial in enumerate(open_trials(session)):
        if number == persona.stops_after:
            leave(session)
            break
        show(session, trial)
        record_answers(session.token, [_sent_answer(mind, trial)])
    else:
        finish(session)
    return session if began_at is None else retime(session, began_at, mind.rng)


def _warm_up(session: Session, mind: Mind) -> None:
    """Complete what the task shows before its trials, through the steps of a real participant."""
    protocol = mind.protocol
    if protocol.warm_up:
        renew(session, screen=WARM_UP[protocol.warm_up[0]])
    while next_step(session).screen == "training":
        estimates = mind.lines(session_line_lengths(session), modulus=float(protocol.settings["modulus"]))
        typed = [str(estimate) for estimate in estimates]
        record_training(session, typed, estimates, attempt=str(training_attempt(session)))
    if next_step(session).screen == "modulus":
        chosen = mind.modulus()
        record_modulus(session, chosen, float(chosen))


def _sent_answer(mind: Mind, trial: Trial) -> SentAnswer:
    (response, rt_ms), times = mind.answer(trial), mind.context_times(trial)
    input_type = Judgment.InputType.UNKNOWN if rt_ms is None else Judgment.InputType.MOUSE
    return SentAnswer(trial.public_id, response, input_type, rt_ms, timing=times, is_timed_out=rt_ms is None)
