"""Content of a frozen version in words, and the preregistered version of a study."""

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from django.db import models, transaction

from analysis.errors import BadInput
from analysis.text import plural
from experiments.models import AuditEntry, Design, Experiment, ExperimentVersion
from experiments.pages.editing.conflicts import REFUSED_EDIT
from experiments.studies.lifecycle import LATER_DESIGN_FIELDS, LATER_FIELDS
from experiments.templatetags.wording import in_words
from releases.gold.preregistration import LEFT_OUT, SECRETS, task_parameters

CHOSEN, QUOTAS_CHANGED = "preregistered version chosen", "quotas changed"
CONTEXT, LONGEST, LONGEST_VALUE = 6, 240, 60  # words around a change; characters of a text, of one value
LABELS = {
    "catch_trials": "Catch trials",
    "closing_comment": "Free comment at the end",
    "context_display": "Contexts of sentences",
    "context_ms": "Contexts before sentences: shown for (ms)",
    "context_label": "Contexts of sentences: label",
    "deadline_bar": "Bar of the time that is left",
    "deadline_ms": "Time for each answer, ms",
    "completion": "Proof of completion",
    "completion_url": "Return link",
    "materials": "Materials",
    "fillers": "Filler materials",
    "practice": "Practice trials",
    "questionnaire": "Questions to participants",
    "quiz": "Comprehension questions",
    "seed": "Seed of lists and orders",
    "design.n_lists": "Design: number of lists",
    "design.items_per_paradigm": "Design: items per paradigm and list",
    "design.catch_per_list": "Design: catch trials per list",
    "design.trials_per_block": "Design: trials between two breaks",
    "design.order": "Design: who shares an order of the trials",
    "design.constraints": "Design: constraints on the order",
    "design.kind": "Design: scheme",
    "design.left_out": "Design: items left out",
    "design.rounds": "Design: further rounds",
}
Settings = dict[str, Any]


def preregistered_version(study: Experiment) -> ExperimentVersion | None:
    """The version that was chosen, or the one at opening; before the opening the newest."""
    versions = study.versions.filter(is_preview=False).order_by("number")
    choice = study.audit.filter(action=CHOSEN).order_by("at", "pk").last()
    chosen = versions.filter(number=choice.details.get("version")).first() if choice else None
    if chosen is not None:
        return chosen
    if study.opened_at is None:
        return versions.last()
    return versions.filter(created_at__lte=study.opened_at).last() or versions.first()


@transaction.atomic
def choose_preregistered_version(study: Experiment, number: int, *, user: Any = None) -> ExperimentVersion:
    """Compare with another version from now on; the same again changes nothing."""
    Experiment.objects.select_for_update().get(pk=study.pk)
    version = study.versions.filter(is_preview=False, number=number).first()
    if version is None:
        raise BadInput(f"there is no version {number}.", column="version", remedy="Choose one of the list.")
    if preregistered_version(study) != version:
        AuditEntry.objects.create(experiment=study, user=user, action=CHOSEN, details={"version": number})
    return version


def stated_settings(snapshot: Mapping[str, Any]) -> Settings:
    """Every setting of a snapshot by name, parameters and design one by one.

    Settings that a snapshot leaves out at their default have it, so that two snapshots can be compared.
    """
    stated = _add_defaults(snapshot, {**_defaults(Experiment, LATER_FIELDS), "fillers": None})
    if isinstance(stated.get("parameters"), dict):
        screen = task_parameters(dict(snapshot))
        stated |= {f"parameters.{name}": value for name, value in screen.items()}
    if isinstance(stated.get("design"), dict):
        design = _add_defaults(stated["design"], _defaults(Design, LATER_DESIGN_FIELDS))
        stated |= {f"design.{name}": value for name, value in design.items()}
    return {name: value for name, value in stated.items() if name not in ("parameters", "design")}


def _add_defaults(settings: Mapping[str, Any], defaults: Settings) -> Settings:
    """The settings in their order, then those that are left out at their default."""
    return {**settings, **{name: value for name, value in defaults.items() if name not in settings}}


def _defaults(model: type[models.Model], names: tuple[str, ...]) -> Settings:
    fields = {field.name: field for field in model._meta.concrete_fields}
    return {name: fields[name].get_default() for name in names}


def setting_label(name: str) -> str:
    """The name of a setting for readers.

    >>> setting_label("parameters.points"), setting_label("instructions")
    ('Task: points', 'Instructions')
    """
    if name in LABELS:
        return LABELS[name]
    group, _, inner = name.rpartition(".")
    text = inner.replace("_", " ")
    return f"{'Task' if group == 'parameters' else 'Design'}: {text}" if group else text.capitalize()


def brief(name: str, value: Any) -> str:
    """A value in a few words: long texts and lists by their size.

    >>> brief("task", "likert"), brief("quiz", [{}, {}]), brief("consent", ""), brief("seed", 0)
    ('likert', '2 entries', 'none', '0')
    """
    if name in SECRETS:
        return LEFT_OUT if value else "none"
    if isinstance(value, list):
        return plural(len(value), "entry", "entries") if value else "none"
    if isinstance(value, str) and len(value) > LONGEST_VALUE:
        return plural(len(value.split()), "word")
    return shorten_text(in_words(value)) or "none"


def contrast(name: str, planned: Any, actual: Any) -> tuple[str, str]:
    """Two values in words, reduced to what differs.

    >>> contrast("parameters.points", 7, 5)
    ('7', '5')
    >>> contrast("quiz", ["a", "b"], ["a", "c"])
    ('2 entries, among them: b', '2 entries, among them: c')
    >>> contrast("completion_code", "A1", "B2")
    ('a code (left out)', 'another code (left out)')
    """
    if name in SECRETS:
        return ("a code (left out)" if planned else "none"), (
            ("another code (left out)" if planned else "a code (left out)") if actual else "none"
        )
    if isinstance(planned, list) and isinstance(actual, list):
        return _entries(planned, actual), _entries(actual, planned, is_later=True)
    texts = [in_words(value) or "none" for value in (planned, actual)]
    if max(map(len, texts)) > LONGEST_VALUE:
        return _excerpt(*texts), _excerpt(*reversed(texts))
    return texts[0], texts[1]


def _entries(entries: list[Any], compared: list[Any], *, is_later: bool = False) -> str:
    keys = {json.dumps(entry, sort_keys=True) for entry in compared}
    differing = [entry for entry in entries if json.dumps(entry, sort_keys=True) not in keys]
    number = plural(len(entries), "entry", "entries") if entries else "none"
    if differing:
        return shorten_text(f"{number}, among them: {in_words(differing)}")
    is_reordered = is_later and len(entries) == len(compared)
    return f"{number}, in another order" if is_reordered else number


def _excerpt(text: str, other: str) -> str:
    """The words of a text that another one does not have, with some words around them."""
    words, compared = text.split(), other.split()
    shorter = min(len(words), len(compared))
    start = next((place for place in range(shorter) if words[place] != compared[place]), shorter)
    remaining = shorter - start
    end = next((place for place in range(remaining) if words[-1 - place] != compared[-1 - place]), remaining)
    first, last = max(0, start - CONTEXT), min(len(words), len(words) - end + CONTEXT)
    ends = "… " if first else "", " …" if last < len(words) else ""
    return f"“{ends[0]}{shorten_text(' '.join(words[first:last]))}{ends[1]}”"


def shorten_text(text: str) -> str:
    """A text of at most :data:`LONGEST` characters on one line."""
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


def setting_changes(study: Experiment, since: datetime) -> Iterator[tuple[str, datetime, Any, Any]]:
    """Name, time, old and new value of every change that the history has from a time on, oldest first."""
    for entry in study.audit.filter(at__gt=since).exclude(action=REFUSED_EDIT).order_by("at", "pk"):
        changes = entry.details.get("changes")
        if isinstance(changes, dict):
            for name, change in changes.items():
                yield name, entry.at, change["old"], change["new"]
        elif entry.action == QUOTAS_CHANGED:
            yield "quotas", entry.at, entry.details["before"], entry.details["after"]
