"""Navigation: the screen a participant sees next, decided from the state of the session."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, cast

from django.utils import timezone

from judgments.models import Session, Trial
from judgments.sessions.compiled_queries import Compiled
from judgments.sessions.leases import renew
from judgments.sessions.protocol import load_protocol

Screen = Literal[
    "questionnaire",
    "instructions",
    "quiz",
    "training",
    "modulus",
    "ready",
    "break",
    "context",
    "trial",
    "feedback",
    "finish",
    "end",
    "left",
    "screened_out",
    "erased",
    "lapsed",
]


BEFORE_TRIALS = ("consent", "questionnaire", "instructions", "quiz-")
AMONG_TRIALS = ("practice", "feedback-", "block-", "context-")
WARM_UP = {"training": "training-1", "modulus": "modulus"}  # stored screen at the start of each
CONTINUE_SCREENS = {"questionnaire", "instructions", "ready", "break", "context", "feedback", "lapsed"}


@dataclass(frozen=True)
class State:
    """Input of the decision.

    ``screen`` is the stored screen of the session: questionnaire, instructions, quiz-2, training-1, modulus,
    practice, block-2, feedback-3, context-2-7. ``warm_up`` are the task's screens before its trials;
    ``next_kind`` and ``next_block`` describe the first trial without a judgment, ``after_context`` the stored
    screen once its context has been read, empty where the context has no separate screen.
    """

    screen: str
    is_complete: bool = False
    is_left: bool = False
    is_lapsed: bool = False
    has_questions: bool = False
    has_instructions: bool = False
    has_quiz: bool = False
    warm_up: tuple[str, ...] = ()
    next_kind: str | None = None
    next_block: int = 0
    after_context: str = ""


def decide(state: State) -> Screen:
    """The next screen; a function of the state alone, so a late or repeated click cannot skip one."""
    if state.is_complete:
        return "end"
    if state.is_left:
        return "left"
    if state.is_lapsed and state.next_kind is not None:
        return "lapsed"
    if state.screen in {"consent", "questionnaire"} and state.has_questions:
        return "questionnaire"
    if state.screen in {"consent", "questionnaire", "instructions"} and state.has_instructions:
        return "instructions"
    if state.has_quiz and state.screen.startswith(BEFORE_TRIALS):
        return "quiz"
    if state.warm_up and state.screen.startswith(BEFORE_TRIALS):
        return cast(Screen, state.warm_up[0])
    if (kind := state.screen.partition("-")[0]) in state.warm_up:
        return cast(Screen, kind)
    if state.screen.startswith("feedback-"):
        return "feedback"
    return _among_trials(state)


def _among_trials(state: State) -> Screen:
    if state.next_kind is None:
        return "finish"
    is_practice = state.next_kind == "practice"
    if state.screen == "practice" and not is_practice:
        return "ready"
    block = state.screen.removeprefix("block-") if state.screen.startswith("block-") else ""
    if block and not is_practice and state.next_block > int(block):
        return "break"
    return "context" if state.after_context not in {"", state.screen} else "trial"


@dataclass(frozen=True)
class Step:
    """A screen with the trial that it shows or that follows it."""

    screen: Screen
    trial: Trial | None = None
    trials: Sequence[Trial] = ()  # all of the session, with their judgments
    next_warm_up: str = ""

    @property
    def mark(self) -> str:
        """A unique name of a screen between trials, so that a late click cannot leave another one."""
        if self.trial is not None and self.screen in {"ready", "break", "context", "feedback", "lapsed"}:
            return f"{self.screen}-{self.trial.position}"
        return self.screen

    @property
    def current_trial(self) -> Trial:
        """The trial of a screen that always has one."""
        assert self.trial is not None
        return self.trial

    @cached_property
    def after_practice(self) -> list[Trial]:
        """The trials that are no practice."""
        return [trial for trial in self.trials if trial.kind != "practice"]

    @property
    def n_blocks(self) -> int:
        """Number of blocks; 1 where there is none."""
        return max((trial.block for trial in self.after_practice), default=1)

    @property
    def n_answered(self) -> int:
        """Number of answered trials without practice."""
        return sum(hasattr(trial, "judgment") for trial in self.after_practice)


def next_step(session: Session) -> Step:
    """The current step of a session."""
    protocol = load_protocol(session.version)
    trials = [] if session.is_final else session_trials(session.pk)
    trial = next((trial for trial in trials if not hasattr(trial, "judgment")), None)
    has_expired = session.lease_expires_at is None or session.lease_expires_at < timezone.now()
    screen = decide(
        State(
            session.screen,
            is_complete=session.status == Session.Status.COMPLETE,
            is_left=session.is_final,
            is_lapsed=session.status == Session.Status.ABANDONED or has_expired or _was_inactive(session),
            has_questions=bool(protocol.questionnaire),
            has_instructions=bool(protocol.instructions.strip()),
            has_quiz=bool(protocol.quiz),
            warm_up=protocol.warm_up,
            next_kind=trial.kind if trial else None,
            next_block=trial.block if trial else 0,
            after_context=after_context(trial) if trial and protocol.has_context_screen(trial.shown) else "",
        )
    )
    if screen == "left":
        screen = _end_screen(session)
    if screen == "feedback":
        position = int(session.screen.removeprefix("feedback-"))
        trial = next(trial for trial in trials if trial.position == position)
    return Step(screen, trial=trial, trials=trials, next_warm_up=_next_warm_up(screen, protocol.warm_up))


session_trials = Compiled(
    lambda session: Trial.objects.filter(session=session).select_related("judgment").order_by("position")
)


def _next_warm_up(screen: Screen, warm_up: tuple[str, ...]) -> str:
    """The warm-up that follows a screen."""
    if screen in warm_up:
        return next(iter(warm_up[warm_up.index(screen) + 1 :]), "")
    return warm_up[0] if warm_up and screen in {"instructions", "quiz"} else ""


def _end_screen(session: Session) -> Screen:
    """The last screen of a session that was not completed, or whose answers were deleted."""
    if session.participant.erased_at is not None:
        return "erased"
    return "screened_out" if session.status == Session.Status.SCREENED_OUT else "left"


def _was_inactive(session: Session) -> bool:
    """Whether the participant was inactive during the trials for longer than the study's resume gap."""
    if session.last_seen_at is None or not session.screen.startswith(AMONG_TRIALS):
        return False
    return timezone.now() - session.last_seen_at > load_protocol(session.version).resume_gap


def move_on(session: Session, mark: str) -> None:
    """Leave the screen named by ``mark``; a second click on the same button has no effect."""
    step = next_step(session)
    if mark == step.mark and step.screen in CONTINUE_SCREENS:
        has_quiz = bool(load_protocol(session.version).quiz)
        renew(session, screen="quiz-1" if has_quiz and step.screen == "instructions" else after(step))


def after(step: Step) -> str:
    """The stored screen after a screen between trials; empty if it stays the same."""
    if step.screen == "lapsed":
        return ""
    if step.screen == "questionnaire":
        return "instructions"
    if step.next_warm_up:
        return WARM_UP[step.next_warm_up]
    if step.screen == "context":
        return after_context(step.current_trial)
    if step.screen == "feedback" or step.trial is None or step.trial.kind == "practice":
        return "practice"
    return f"block-{step.trial.block}"


def after_context(trial: Trial) -> str:
    """The stored screen of a participant who has read the context before a trial."""
    return f"context-{0 if trial.kind == 'practice' else trial.block}-{trial.position}"


def show(session: Session, trial: Trial) -> None:
    """Record the server's time when a trial is first shown."""
    if trial.shown_at is None:
        trial.shown_at = timezone.now()
        Trial.objects.filter(pk=trial.pk, shown_at__isnull=True).update(shown_at=trial.shown_at)
