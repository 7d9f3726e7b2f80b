"""Drop-out by screen: how many participants reached each screen, and how many left there."""

from dataclasses import dataclass

from django.db.models import Count, Max, Q
from django.utils import timezone

from experiments.models import Experiment, ExperimentVersion, PlannedTrial, TrialKind
from judgments.models import Session
from judgments.monitoring.overview import counted_sessions, is_lost
from judgments.sessions.protocol import load_protocol

CONSENT, END = "consent", "debrief"
LABELS = {
    CONSENT: "Consent",
    "questionnaire": "Background questions",
    "instructions": "Instructions",
    "quiz": "Comprehension questions",
    "training": "Line training",
    "modulus": "Choice of a modulus",
    "practice": "Practice",
    END: "Done",
}
ORDER = ("questionnaire", "instructions", "quiz", "training", "modulus", "practice", "block-1")


@dataclass(frozen=True)
class Stage:
    """One screen, or one block of trials."""

    label: str
    n_reached: int
    n_left: int

    @property
    def left_share(self) -> float | None:
        """Percent of the participants who reached it."""
        return 100 * self.n_left / self.n_reached if self.n_reached else None


def dropout_by_screen(study: Experiment) -> list[Stage]:
    """The screens of the newest version in order, with the participants who reached and left them."""
    version = study.current_version()
    if version is None:
        return []
    names = screen_names(version)
    now = timezone.now()
    counts = counted_sessions(study).order_by().values_list("screen")
    n_here, n_left = [0] * len(names), [0] * len(names)
    for screen, n, n_lost in counts.annotate(n=Count("pk"), n_lost=Count("pk", filter=is_lost(now))):
        place = names.index(session_stage(screen, names))
        n_here[place], n_left[place] = n_here[place] + n, n_left[place] + n_lost
    n_here[0] = n_left[0] = refusals(study)
    return [
        Stage(
            LABELS.get(name) or f"Trials, block {name.removeprefix('block-')}",
            sum(n_here[place:]),
            n_left[place],
        )
        for place, name in enumerate(names)
    ]


def screen_names(version: ExperimentVersion) -> list[str]:
    """Names of the screens of this version, in order."""
    protocol = load_protocol(version)
    planned = PlannedTrial.objects.filter(list__version=version).aggregate(
        n_blocks=Max("block"), n_practice=Count("pk", filter=Q(kind=TrialKind.PRACTICE))
    )
    present = {
        "questionnaire": bool(protocol.questionnaire),
        "instructions": bool(protocol.instructions.strip()),
        "quiz": bool(version.snapshot.get("quiz")),
        **{name: name in protocol.warm_up for name in ("training", "modulus")},
        "practice": bool(planned["n_practice"]),
    }
    blocks = [f"block-{number}" for number in range(1, (planned["n_blocks"] or 1) + 1)]
    return [CONSENT, *(name for name, is_there in present.items() if is_there), *blocks, END]


def session_stage(screen: str, names: list[str]) -> str:
    """Stage of a session; a screen that this version does not have counts as the next one that it has.

    >>> session_stage("questionnaire", ["consent", "instructions", "block-1", "debrief"])
    'instructions'
    >>> session_stage("feedback-2", ["consent", "practice", "block-1", "debrief"])
    'practice'
    >>> session_stage("context-1-7", ["consent", "practice", "block-1", "debrief"])
    'block-1'
    """
    if screen.startswith("context-"):  # of a block, 0 for practice
        block = screen.split("-")[1]
        screen = "practice" if block == "0" else f"block-{block}"
    if screen.startswith("block-"):
        return screen if screen in names else names[-2]
    kind = {"consent": ORDER[0], "feedback": "practice"}.get(
        screen.partition("-")[0], screen.partition("-")[0]
    )
    if kind not in ORDER:
        return END
    return next(name for name in ORDER[ORDER.index(kind) :] if name in names)


def refusals(study: Experiment) -> int:
    """Number of participants who declined consent."""
    refused = Session.objects.filter(experiment=study, is_test=False, status=Session.Status.REFUSED)
    return refused.count()
