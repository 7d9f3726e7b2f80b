"""Languages of the participant's pages: which there are, and which one a study's tag leads to."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any

from django.utils import translation
from django.utils.translation import gettext

from judgments.tasks.base import Task

NAMES = {  # tag: (name in English, name in itself); catalogues lie in judgments/locale
    "ar": ("Arabic", "العربية"),
    "zh-hans": ("Chinese, simplified", "简体中文"),
    "nl": ("Dutch", "Nederlands"),
    "en": ("English", "English"),
    "de": ("German", "Deutsch"),
    "ja": ("Japanese", "日本語"),
    "pt": ("Portuguese", "Português"),
    "es": ("Spanish", "Español"),
    "tr": ("Turkish", "Türkçe"),
}
TAGS = {"zh-hans": "zh-Hans"}  # as BCP 47 writes it, where that is not all small letters
TRADITIONAL = {"hant", "hk", "mo", "tw"}


def interface_language(tag: str) -> str:
    """The language of ours that a BCP 47 tag leads to; English where there is none.

    >>> [interface_language(tag) for tag in ("de-AT", "pt-BR", "zh-CN", "zh-Hant", "fi")]
    ['de', 'pt', 'zh-hans', 'en', 'en']
    """
    first, *rest = tag.lower().replace("_", "-").split("-")
    if first == "zh":
        return "en" if TRADITIONAL.intersection(rest) else "zh-hans"
    return first if first in NAMES else "en"


def speaking(tag: str) -> AbstractContextManager[None]:
    """Within this, the interface speaks the language of a study."""
    return translation.override(interface_language(tag))


def language_choices() -> list[tuple[str, str]]:
    """Tag and name of every language, the name in English and in itself."""
    return [
        (TAGS.get(tag, tag), english if english == own else f"{english} ({own})")
        for tag, (english, own) in NAMES.items()
    ]


def tag_named(text: str) -> str:
    """The tag of a language called by its name; any other text as it is.

    >>> tag_named("german"), tag_named("Deutsch"), tag_named("fi")
    ('de', 'de', 'fi')
    """
    known = {name.casefold(): tag for tag, names in NAMES.items() for name in names}
    tag = known.get(text.strip().casefold(), text.strip())
    return TAGS.get(tag, tag)


def usual_words(task: Task, tag: str) -> dict[str, str]:
    """Our own words for a task's texts (question, labels), in the language of a study."""
    with speaking(tag):
        return {name: gettext(words) for name, words in _english(task).items()}


def worded(task: Task, parameters: Mapping[str, Any], *, language: str) -> dict[str, Any]:
    """Parameters of a study with our words in its language where it has none of its own."""
    english = _english(task)
    ours = {name: words for name, words in usual_words(task, language).items() if words != english[name]}
    return {**ours, **parameters}


def spoken_messages(task: Task) -> dict[str, str]:
    """What the task's script says, by name, in the language now spoken."""
    return {one.name: gettext(one.words) for one in task.messages}


def _english(task: Task) -> dict[str, str]:
    texts = [one for one in task.parameters if isinstance(one.default, str) and not one.choices]
    return {one.name: one.default for one in texts if one.default}
