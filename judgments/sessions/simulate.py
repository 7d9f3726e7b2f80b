"""Synthetic participants: the answers they give, and a whole sitting through the same steps as people."""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import numpy as np

from analysis.errors import BadInput
from analysis.quality.speed import reading_length
from experiments.models import Experiment
from judgments.models import Judgment, Participant, Session, Trial
from judgments.sessions.advance import WARM_UP, next_step, show
from judgments.sessions.arrival import Arrival
from judgments.sessions.arrive import arrive
from judgments.sessions.clock import retime
from judgments.sessions.finish import finish
from judgments.sessions.latent import felt, felt_options
from judgments.sessions.lease import renew
from judgments.sessions.model_scores import ModelScores
from judgments.sessions.protocol import Protocol, protocol_of
from judgments.sessions.record import Delivery, options_of, record
from judgments.sessions.warm_up import attempt_of, lengths_for, take_modulus, take_training
from judgments.sessions.withdraw import leave
from judgments.tasks.base import PROFILES, BadResponse, Task, attentive, is_correct

MODEL_LIKE = "model-like"
KINDS = (*PROFILES, MODEL_LIKE)
UNREAD_MS = {"left-biased": 700, "random": 480}  # median of those who hardly read
MS_PER_CHARACTER = 42  # 238 words of six characters a minute (Brysbaert 2019)
DECIDING_MS, DOUBT_MS = 700, 600  # after reading; and more where two sentences are hardly apart
HURRY = {"careless": 0.45}
SPEED_SD, TRIAL_SD = 0.2, 0.35  # between people, and between the trials of one
RELATED = ("pair__good__item__paradigm", "pair__bad__item__paradigm", "sentence__item__paradigm")
SCALE_BIAS_SD = 0.25


@dataclass(frozen=True)
class Persona:
    """One synthetic participant: the key decides the pseudonym, the seed every answer."""

    key: str
    profile: str = "honest"
    seed: int = 0
    is_native: bool | None = True
    background: dict[str, Any] = field(default_factory=dict)
    stops_after: int | None = None


class Mind:
    """What a persona answers, trial by trial; one that is like a model needs the model's ``scores``."""

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

    def _felt(self, trial: Trial) -> float:
        """Latent z of what a trial shows: the model's view where it has one, else what people feel."""
        seen = None
        if self.scores and trial.pair is not None:
            seen = self.scores.preference(trial.pair.good.key, trial.pair.bad.key)
        elif self.scores and trial.sentence is not None:
            seen = self.scores.acceptability(trial.sentence.key)
        return felt(trial, self.protocol.task.scale(self.protocol.settings)) if seen is None else seen

    def _felt_options(self, trial: Trial) -> dict[str, float]:
        """Latent z of the members of a set."""
        known = felt_options(trial)
        if self.scores is not None:
            for one in trial.shown.get("options", ()):
                seen = self.scores.acceptability(one.get("sentence_id", ""))
                known[one["id"]] = known[one["id"]] if seen is None else seen
        return known

    def response(self, trial: Trial) -> str:
        """The response to send for a trial."""
        task, settings = self.protocol.task, self.protocol.settings
        acceptability = self._felt(trial)
        if task.shows == "sentence" and not trial.correct:
            acceptability += self.bias
        settings = {**settings, **{name: trial.shown[name] for name in settings if name in trial.shown}}
        options = options_of(trial)
        if task.shows == "set":
            known = self._felt_options(trial)
            options = [replace(one, acceptability=known[one.id]) for one in options]
        reads = "low" in trial.correct and attentive(deepcopy(self.rng), self.profile)  # as the task draws
        given = task.simulate(
            self.rng,
            settings,
            options=options,
            acceptability=acceptability,
            profile=self.profile,
        )
        return right_answer(task, settings, trial.correct, given) if reads else given

    def lines(self, lengths: Sequence[float], *, modulus: float) -> list[float]:
        """Estimates of lines: in proportion with a little noise, or anything where nobody looks."""
        looks = attentive(self.rng, self.profile)
        noise = self.rng.normal(0, 0.15, len(lengths)) if looks else self.rng.uniform(-3, 3, len(lengths))
        felt_ = lengths if looks else [1.0] * len(lengths)
        return [
            round(modulus * length * 2**one, 2) for length, one in zip(felt_, noise.tolist(), strict=True)
        ]

    def modulus(self) -> str:
        """A number of one's own, as people like them."""
        return str(self.rng.choice([1, 10, 20, 50, 100, 1000]))

    def rt_ms(self, trial: Trial) -> int:
        """A response time: reading and deciding at the person's own pace, log-normal from trial to trial."""
        noise = float(np.exp(self.rng.normal(0, TRIAL_SD)))
        unread = UNREAD_MS.get(self.profile)
        return max(120, round((unread or self._reading_ms(trial) * self.pace) * noise))

    def _reading_ms(self, trial: Trial) -> float:
        """Median time of somebody who reads: longer texts take longer, and so do close decisions."""
        texts = [one["text"] for one in trial.shown.get("options", ())] or [trial.shown.get("text", "")]
        reading = MS_PER_CHARACTER * sum(reading_length(text) for text in texts)
        doubt = DOUBT_MS * float(np.exp(-abs(self._felt(trial))))
        return (reading + DECIDING_MS + doubt) * HURRY.get(self.profile, 1.0)


def right_answer(task: Task, settings: dict[str, Any], correct: dict[str, Any], given: str) -> str:
    """What somebody who reads answers where a range is right: as felt if that is right, else its middle."""
    low, high = float(correct["low"]), float(correct["high"])
    numbers = (f"{one:.10f}".rstrip("0").rstrip(".") for one in (round((low + high) / 2), low, high))
    for response in (given, *numbers, "yes", "no"):
        try:
            if is_correct(task.parse(response, settings, options=()), correct):
                return response
        except BadResponse:
            continue
    return given


def trials_of(session: Session) -> list[Trial]:
    """The session's trials without a judgment, in order, with what they show."""
    waiting = session.trials.filter(judgment__isnull=True).select_related(*RELATED)
    return list(waiting.order_by("position"))


def sit(experiment: Experiment, persona: Persona, *, began_at: datetime | None = None) -> Session:
    """Let a persona arrive, answer and finish; asked again, give the session that stands.

    With ``began_at`` the session gets the times it would have taken from then on.
    """
    version = experiment.current_version()
    arrival = Arrival(key=persona.key, is_simulated=True)
    session = arrive(experiment, arrival, consent_text=protocol_of(version).consent if version else "")
    if session.is_final:
        return session
    Participant.objects.filter(pk=session.participant_id).update(
        background=persona.background, is_native=persona.is_native
    )
    mind = Mind(persona, protocol_of(session.version))
    _warm_up(session, mind)
    if session.is_final:  # the lines were failed, and the study ends there
        return session
    for number, trial in enumerate(trials_of(session)):
        if number == persona.stops_after:
            leave(session)
            break
        show(session, trial)
        record(session, trial.public_id, _delivery(mind, trial))
    else:
        finish(session)
    return session if began_at is None else retime(session, began_at, mind.rng)


def _warm_up(session: Session, mind: Mind) -> None:
    """Go through what the task puts before its trials, on the same steps as people."""
    protocol = mind.protocol
    if protocol.warm_up:
        renew(session, screen=WARM_UP[protocol.warm_up[0]])
    while next_step(session).screen == "training":
        estimates = mind.lines(lengths_for(session), modulus=float(protocol.settings["modulus"]))
        typed = [str(one) for one in estimates]
        take_training(session, typed, estimates, attempt=str(attempt_of(session)))
    if next_step(session).screen == "modulus":
        chosen = mind.modulus()
        take_modulus(session, chosen, float(chosen))


def _delivery(mind: Mind, trial: Trial) -> Delivery:
    return Delivery(mind.response(trial), input_type=Judgment.InputType.MOUSE, rt_ms=mind.rt_ms(trial))
