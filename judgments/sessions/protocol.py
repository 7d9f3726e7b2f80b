"""What a session follows: texts and task of the version it began with, whatever changes later."""

from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from typing import Any

from experiments.lifecycle import LATER_FIELDS
from experiments.models import Experiment, ExperimentVersion
from judgments.tasks.base import Task
from judgments.tasks.registry import get_task

RESUME_GAP_MINUTES = 10  # who is away longer reads the instructions again
RESUME_LIMIT_DAYS = 7  # who is away longer cannot come back


@dataclass(frozen=True)
class Protocol:
    """One frozen version, read."""

    title: str
    task: Task
    settings: dict[str, Any]
    language: str
    consent: str
    instructions: str
    questionnaire: tuple[dict[str, Any], ...]
    debrief: str
    completion_code: str
    resume_gap: timedelta
    resume_limit: timedelta
    quiz: tuple[dict[str, Any], ...] = ()
    quiz_failure: str = Experiment.QuizFailure.GO_ON
    completion: str = Experiment.Completion.CODE
    completion_url: str = ""
    screen_out_code: str = ""

    @property
    def warm_up(self) -> tuple[str, ...]:
        """The task's screens before its trials."""
        return self.task.warm_up(self.settings)


def protocol_of(version: ExperimentVersion) -> Protocol:
    """Read a version; versions never change, so each is read once in a process."""
    return _read(version.pk, version.sha256)


@lru_cache(maxsize=200)
def _read(version_id: int, sha256: str) -> Protocol:
    version = ExperimentVersion.objects.select_related("experiment").get(pk=version_id)

    def text(name: str) -> Any:
        return version.snapshot.get(name, getattr(version.experiment, name))

    later = {
        name: version.snapshot.get(name, Experiment._meta.get_field(name).get_default())
        for name in LATER_FIELDS
    }
    task = get_task(text("task"))
    return Protocol(
        title=text("title"),
        task=task,
        settings=task.settings(text("parameters") or {}),
        language=text("language"),
        consent=text("consent"),
        instructions=text("instructions"),
        questionnaire=tuple(text("questionnaire") or ()),
        debrief=text("debrief"),
        completion_code=text("completion_code"),
        quiz=tuple(later["quiz"]),
        quiz_failure=later["quiz_failure"],
        completion=later["completion"],
        completion_url=later["completion_url"],
        screen_out_code=later["screen_out_code"],
        resume_gap=timedelta(minutes=_number(version, "resume_gap_minutes", RESUME_GAP_MINUTES)),
        resume_limit=timedelta(days=_number(version, "resume_limit_days", RESUME_LIMIT_DAYS)),
    )


def _number(version: ExperimentVersion, name: str, usual: int) -> float:
    """A positive number of the frozen study, or the usual one."""
    given = version.snapshot.get(name)
    is_number = isinstance(given, int | float) and not isinstance(given, bool)
    return float(given) if is_number and 0 < given < 10_000 else float(usual)
