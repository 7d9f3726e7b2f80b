"""What a session follows: texts and task of the version it began with, whatever changes later."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from experiments.models import ExperimentVersion
from judgments.tasks.base import Task
from judgments.tasks.registry import get_task


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


def protocol_of(version: ExperimentVersion) -> Protocol:
    """Read a version; versions never change, so each is read once in a process."""
    return _read(version.pk, version.sha256)


@lru_cache(maxsize=200)
def _read(version_id: int, sha256: str) -> Protocol:
    version = ExperimentVersion.objects.select_related("experiment").get(pk=version_id)

    def text(name: str) -> Any:
        return version.snapshot.get(name, getattr(version.experiment, name))

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
    )
