"""The line of steps from materials to an open study, and codes as words."""

from dataclasses import dataclass
from typing import Any

from django import template
from django.db.models import Q
from django.forms import BaseForm

from analysis.power.money import format_money
from experiments.materials.findings import LEFT_OUT_FOR
from experiments.models import Experiment
from experiments.studies.readiness import Step, steps

register = template.Library()
TEXTS = {"consent", "instructions", "debrief", "placeholders", "text-language", "contact", "way-back"}
CHECKS = {"balance", "coverage", "practice", "catch", "retention", "time", "dry-run"}


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
    """Show a code as words: ``same_string`` is *same string*."""
    return code.replace("_", " ")


@register.filter
def left_out_for(code: str) -> str:
    """Say why the items that a check names can be left out."""
    return LEFT_OUT_FOR.get(code, "")


@register.inclusion_tag("experiments/_plan_line.html")
def plan_line(study: Experiment) -> dict[str, Any]:
    """Show the steps of a study that is not open yet, the next one marked; nothing for others."""
    is_planned = study.origin == Experiment.Origin.COLLECTED and study.status in {"draft", "pilot"}
    return {"study": study, "stops": stops(study) if is_planned else []}


def stops(study: Experiment) -> list[Stop]:
    """Materials → task → texts → design → checks → preview → pilot → open."""
    checklist = {step.key: step for step in steps(study)}
    piloted = study.sessions.filter(Q(version__is_preview=False), is_test=True, status="complete").exists()
    line = [
        Stop("Materials", "study-settings-study", checklist["materials"].is_done, anchor="id_materials"),
        Stop("Task", "study-settings-task", checklist["task"].is_done),
        Stop("Texts", "study-settings-texts", _all(checklist, TEXTS)),
        Stop("Design", "study-design", checklist["design"].is_done),
        Stop("Checks", "study-launch", _all(checklist, CHECKS)),
        Stop("Preview", "study-launch", checklist["preview"].is_green, anchor="preview"),
        Stop("Pilot", "study", piloted),
        Stop("Open", "study-launch", False, anchor="open"),
    ]
    following = next(index for index, stop in enumerate(line) if not stop.is_done)
    return [
        Stop(stop.label, stop.page, stop.is_done, index == following, stop.anchor)
        for index, stop in enumerate(line)
    ]


def _all(checklist: dict[str, Step], keys: set[str]) -> bool:
    return all(checklist[key].is_green for key in keys if key in checklist)


@register.inclusion_tag("experiments/_error_summary.html")
def error_summary(*forms: BaseForm) -> dict[str, Any]:
    """List the errors of sent forms, each with a link to its field."""
    errors: list[tuple[str, Any, Any]] = [
        ("", "", message) for form in forms for message in form.non_field_errors()
    ]
    errors += [
        (bound.id_for_label or bound.auto_id, bound.label, message)
        for form in forms
        for bound in form
        for message in bound.errors
    ]
    return {"errors": errors}


@register.filter
def money(amount_minor: int, currency: str) -> str:
    """Format an amount in minor units.

    >>> money(150, "GBP")
    '1.50 GBP'
    """
    return format_money(amount_minor, currency)
