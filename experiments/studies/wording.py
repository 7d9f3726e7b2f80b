"""Texts of participants' pages that a study replaces by its own, and the list of all that it may replace.

Functions named as Django's look a text up among the study's own first, so that ``tools/messages.py`` collects
their arguments as before. The study's own texts are active where its language is.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils import translation
from django.utils.functional import lazy

from analysis.errors import BadInput
from experiments.tasks.registry import tasks

NO_TEXTS: Mapping[str, str] = {}
LONGEST = 2000  # characters of one text
_active: ContextVar[Mapping[str, str]] = ContextVar("own_texts", default=NO_TEXTS)


class StudyLanguage(str):
    """The language tag of a study, with its own texts; equal to another only with the same texts."""

    texts: Mapping[str, str]

    def __new__(cls, tag: str, texts: Mapping[str, str]) -> "StudyLanguage":
        language = super().__new__(cls, tag)
        language.texts = dict(texts)
        return language

    def __eq__(self, other: object) -> bool:
        return str.__eq__(self, other) is True and self.texts == getattr(other, "texts", NO_TEXTS)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        # Caches of rendered pages have the language in their keys.
        return hash((str(self), *sorted(self.texts.items()))) if self.texts else str.__hash__(self)


@contextmanager
def activate_own_texts(tag: str) -> Iterator[None]:
    """Activate the own texts of a study's language; a plain tag has none."""
    token = _active.set(getattr(tag, "texts", NO_TEXTS))
    try:
        yield
    finally:
        _active.reset(token)


def active_texts() -> tuple[tuple[str, str], ...]:
    """Return the active own texts, as a key of caches."""
    return tuple(sorted(_active.get().items()))


def own_text(message: str) -> str | None:
    """Return the active study's own text in place of ours; None where it has none."""
    return _active.get().get(message)


def gettext(message: str) -> str:
    """Return the study's own text, else the translation into the active language."""
    return own_text(message) or translation.gettext(message)


def ngettext(singular: str, plural: str, number: int) -> str:
    """Return the study's own text, one for every number, else the translation."""
    return own_text(singular) or translation.ngettext(singular, plural, number)


gettext_lazy = lazy(gettext, str)

CATALOGUE = "de/LC_MESSAGES/django.po"  # any language's catalogue lists every text of ours
QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
ESCAPED = {"n": "\n", "t": "\t", '"': '"', "\\": "\\"}
PLACEHOLDER = re.compile(r"%\(\w+\)[sd]")
SECTIONS = {  # by the stem of the file that shows a text first
    "Link and consent": "arrival_views consent consent_copy refused closed busy unavailable not_found "
    "bad_request",
    "Before the trials": "forms pretrial_views instructions questionnaire _question quiz training modulus",
    "Trials": "engine_texts trial_screen trial context break feedback ready offline lapsed trials",
    "The end and stopping": "end closing erased leave left withdraw screened_out _code _delete",
}


@dataclass(frozen=True)
class ParticipantText:
    """One text of ours that participants read."""

    message: str
    section: str

    @property
    def placeholders(self) -> list[str]:
        """Placeholders, such as ``%(n)s``."""
        return sorted(PLACEHOLDER.findall(self.message))


def participant_texts(task: str) -> list[ParticipantText]:
    """Return every text of ours in a study with this task, except those that are parameters of the task."""
    parameters = {
        str(parameter.default) for task_type in tasks().values() for parameter in task_type.parameters
    }
    # Texts of other tasks, and those that are settings: the neutral title, comments on practice.
    elsewhere = {*tasks(), "creation", "languages"} - {task}
    return [
        ParticipantText(message, _section(files))
        for message, files in _catalogue()
        if not (message in parameters and all("/tasks/" in file for file in files))
        and not (files and {Path(file).stem for file in files} <= elsewhere)
    ]


def _section(files: tuple[str, ...]) -> str:
    stems = [Path(file).stem for file in files]
    if any("/tasks/" in file for file in files):
        return "Trials"
    return next(
        (section for section, names in SECTIONS.items() if set(stems) & set(names.split())), "Everywhere"
    )


@cache
def _catalogue() -> list[tuple[str, tuple[str, ...]]]:
    """Every message of the catalogue with the files that show it."""
    text = (Path(settings.LOCALE_PATHS[0]) / CATALOGUE).read_text(encoding="utf-8")
    entries = []
    for block in text.split("\n\n"):
        before, _, _ = block.partition("\nmsgstr")
        before, _, _ = before.partition("\nmsgid_plural")
        _, _, message = before.partition("msgid ")
        files = tuple(
            file for line in re.findall(r"^#: (.*)$", before, re.MULTILINE) for file in line.split()
        )
        if words := _remove_quotes(message):
            entries.append((words, files))
    return entries


def _remove_quotes(lines: str) -> str:
    parts = "".join(QUOTED.findall(lines))
    return re.sub(r"\\(.)", lambda match: ESCAPED.get(match[1], match[0]), parts)


def checked_texts(texts: Mapping[str, Any], *, task: str) -> dict[str, str]:
    """Return own texts without empty ones; raise BadInput for the first that cannot replace ours."""
    replaceable = {text.message: text for text in participant_texts(task)}
    checked = {}
    for message, text_of_study in texts.items():
        if not isinstance(text_of_study, str):
            raise BadInput(f"the text for “{message}” is no text.", remedy="Write words.")
        words = text_of_study.replace("\r\n", "\n").strip()
        if not words or words == message:
            continue
        if message not in replaceable:
            raise BadInput(
                f"participants read no text “{message}” in this study.",
                remedy="The page of texts lists them all.",
            )
        if problem := text_problem(replaceable[message], words):
            raise BadInput(f"the text for “{message}”: {problem}", remedy="Correct it.")
        checked[message] = words
    return checked


def text_problem(text: ParticipantText, text_of_study: str) -> str:
    """Why a text cannot replace ours; empty where it can."""
    if len(text_of_study) > LONGEST:
        return f"It is longer than {LONGEST} characters."
    if not text.placeholders:
        return ""
    if sorted(set(PLACEHOLDER.findall(text_of_study))) != sorted(set(text.placeholders)):
        return f"Write each of {', '.join(text.placeholders)} where the value is to stand, and no other."
    if "%" in PLACEHOLDER.sub("", text_of_study):
        return "Write percent in words: the sign is reserved for values here."
    return ""
