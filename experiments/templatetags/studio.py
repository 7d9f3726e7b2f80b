"""The line of steps from materials to an open study, and codes as words."""

from dataclasses import dataclass
from typing import Any

from django import template
from django.db.models import Q

from experiments.models import Experiment
from experiments.readiness import Step, steps

register = template.Library()
TEXTS = {"consent", "instructions", "debrief", "way-back"}
CHECKS = {"balance", "practice", "catch", "retention", "time", "dry-run"}


@dataclass(frozen=True)
class Stop:
    """One step of the line."""

    label: str
    page: str
    is_done: bool
    is_next: bool = False
    anchor: str = ""


@register.filter
def spaced(code: str) -> str:
    """A code as words: ``same_string`` is *same string*."""
    return code.replace("_", " ")


@register.inclusion_tag("experiments/_plan_line.html")
def plan_line(study: Experiment) -> dict[str, Any]:
    """The steps of a study that is not open yet, the first undone one marked; nothing for others."""
    wanted = study.origin == Experiment.Origin.COLLECTED and study.status in {"draft", "pilot"}
    return {"study": study, "stops": stops(study) if wanted else []}


def stops(study: Experiment) -> list[Stop]:
    """Materials → task → texts → design → checks → preview → pilot → open."""
    found = {step.key: step for step in steps(study)}
    piloted = study.sessions.filter(Q(version__is_preview=False), is_test=True, status="complete").exists()
    line = [
        Stop("Materials", "study-settings", found["materials"].is_done, anchor="id_materials"),
        Stop("Task", "study-settings", found["task"].is_done, anchor="task"),
        Stop("Texts", "study-settings", _all(found, TEXTS), anchor="id_consent"),
        Stop("Design", "study-design", found["design"].is_done),
        Stop("Checks", "study-launch", _all(found, CHECKS)),
        Stop("Preview", "study-launch", found["preview"].is_green, anchor="preview"),
        Stop("Pilot", "study", piloted),
        Stop("Open", "study-launch", False, anchor="open"),
    ]
    following = next(place for place, stop in enumerate(line) if not stop.is_done)
    return [
        Stop(one.label, one.page, one.is_done, place == following, one.anchor)
        for place, one in enumerate(line)
    ]


def _all(found: dict[str, Step], keys: set[str]) -> bool:
    return all(found[key].is_green for key in keys if key in found)
