"""Language tags of studies: interface language of participants' pages, writing direction, default texts."""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from django.utils import translation

from experiments.studies.wording import activate_own_texts, gettext
from experiments.tasks.base import Task

NAMES = {  # tag: (name in English, name in itself); catalogues are in judgments/locale
    "ar": ("Arabic", "العربية"),
    "zh-hans": ("Chinese, simplified", "简体中文"),
    "nl": ("Dutch", "Nederlands"),
    "en": ("English", "English"),
    "fr": ("French", "Français"),
    "de": ("German", "Deutsch"),
    "it": ("Italian", "Italiano"),
    "ja": ("Japanese", "日本語"),
    "ko": ("Korean", "한국어"),
    "pt": ("Portuguese", "Português"),
    "ru": ("Russian", "Русский"),
    "es": ("Spanish", "Español"),
    "tr": ("Turkish", "Türkçe"),
}
TAGS = {"zh-hans": "zh-Hans"}  # as BCP 47 writes it, where that is not all lower case
TRADITIONAL = {"hant", "hk", "mo", "tw"}
RIGHT_TO_LEFT = {"ar", "ckb", "dv", "fa", "he", "iw", "ji", "nqo", "ps", "sd", "syr", "ug", "ur", "yi"}
RIGHT_TO_LEFT_SCRIPTS = {"adlm", "arab", "hebr", "nkoo", "rohg", "syrc", "thaa"}
LEFT_TO_RIGHT_SCRIPTS = {"cyrl", "deva", "latn"}


SCRIPTS = {"ar": ("ARABIC",), "ja": ("CJK", "HIRAGANA", "KATAKANA"), "ko": ("HANGUL",), "ru": ("CYRILLIC",)}
SCRIPTS |= {"zh-hans": ("CJK",)}  # all other interface languages have Latin letters
FREQUENT_WORDS = {
    "de": "und die der den sie nicht das ist werden zu mit",
    "en": "the and of you to is that are your in not",
    "es": "el los de que usted una las por su y no",
    "fr": "le la les des vous est et pas une votre de",
    "it": "il di che non gli una sono per la le si",
    "nl": "de het een van niet u zijn en te dat uw",
    "pt": "o os de que não uma você para as e seu",
    "tr": "ve bir bu için olarak da ile olan siz",
}
MIN_FREQUENT = 0.12  # share of a text's words by which its language is known


def interface_language(tag: str) -> str:
    """Return the interface language of a BCP 47 tag; English where there is none.

    >>> [interface_language(tag) for tag in ("de-AT", "pt-BR", "zh-CN", "zh-Hant", "fi")]
    ['de', 'pt', 'zh-hans', 'en', 'en']
    """
    first, *subtags = tag.lower().replace("_", "-").split("-")
    if first == "zh":
        return "en" if TRADITIONAL.intersection(subtags) else "zh-hans"
    return first if first in NAMES else "en"


def language_name(tag: str) -> str:
    """Return the English name of the interface language of a tag."""
    return NAMES[interface_language(tag)][0]


def foreign_language(text: str, tag: str) -> str:
    """Return the name of the language or script that a text has instead of that of the tag; or ''.

    Short texts and languages whose frequent words are unknown are not guessed.

    >>> foreign_language("You may stop at any time, and your answers are stored in the lab.", "de")
    'English'
    >>> foreign_language("You may stop at any time.", "ar-EG"), foreign_language("Sie hören auf.", "de")
    ('letters of another script', '')
    """
    primary = tag.lower().replace("_", "-").partition("-")[0]
    language = interface_language(tag)
    letters = [unicodedata.name(sign, "").partition(" ")[0] for sign in text if sign.isalpha()]
    if not letters:
        return ""
    if language == primary or primary == "zh":
        scripts = SCRIPTS.get("zh-hans" if primary == "zh" else language, ("LATIN",))
        if sum(script in scripts for script in letters) < len(letters) / 2:
            return "letters of another script"
    words = re.findall(r"[^\W\d_]+", text.lower())
    shares = {
        name: sum(word in frequent.split() for word in words) / len(words)
        for name, frequent in FREQUENT_WORDS.items()
    }
    likely = max(shares, key=lambda name: shares[name])
    if len(words) < 8 or shares[likely] < max(MIN_FREQUENT, 2 * shares.get(primary, 0)):
        return ""
    return NAMES[likely][0] if likely != primary else ""


@lru_cache(maxsize=1000)
def direction(language: str) -> str:
    """Return the writing direction of a BCP 47 tag; a script subtag decides over the language.

    >>> direction("fa"), direction("ku-Arab"), direction("az-Latn"), direction("en-GB")
    ('rtl', 'rtl', 'ltr', 'ltr')
    """
    parts = language.lower().replace("_", "-").split("-")
    if RIGHT_TO_LEFT_SCRIPTS.intersection(parts[1:]):
        return "rtl"
    if LEFT_TO_RIGHT_SCRIPTS.intersection(parts[1:]):
        return "ltr"
    return "rtl" if parts[0] in RIGHT_TO_LEFT else "ltr"


@contextmanager
def interface_translation(tag: str) -> Iterator[None]:
    """Activate the interface language of a study, and its own texts, within a context."""
    with translation.override(interface_language(tag)), activate_own_texts(tag):
        yield


def has_interface(tag: str) -> bool:
    """Whether buttons and messages exist in this language.

    >>> has_interface("en-GB"), has_interface("ko"), has_interface("fi"), has_interface("zh-Hant")
    (True, True, False, False)
    """
    return interface_language(tag) != "en" or tag.lower().replace("_", "-").split("-")[0] == "en"


def language_choices() -> list[tuple[str, str]]:
    """Return tag and name of every language, the name in English and in the language itself."""
    return [
        (TAGS.get(tag, tag), english if english == native else f"{english} ({native})")
        for tag, (english, native) in NAMES.items()
    ]


def tag_named(text: str) -> str:
    """Return the tag of a language given by its name; any other text unchanged.

    >>> tag_named("german"), tag_named("Deutsch"), tag_named("fi")
    ('de', 'de', 'fi')
    """
    tags = {name.casefold(): tag for tag, names in NAMES.items() for name in names}
    tag = tags.get(text.strip().casefold(), text.strip())
    return TAGS.get(tag, tag)


def default_texts(task: Task, tag: str) -> dict[str, str]:
    """Return the default texts of a task (question, labels) in the language of a study."""
    with interface_translation(tag):
        return {name: gettext(text) for name, text in _english(task).items()}


def with_default_texts(task: Task, parameters: Mapping[str, Any], *, language: str) -> dict[str, Any]:
    """Add translated default texts to the parameters of a study, where it has none."""
    english = _english(task)
    translated = {name: text for name, text in default_texts(task, language).items() if text != english[name]}
    return {**translated, **parameters}


def practice_comments(tag: str) -> tuple[str, str]:
    """Return the default comments on expected and on other practice answers in the language of a study.

    They state the researchers' expectation, not the majority's answer.
    """
    with interface_translation(tag):
        return (
            gettext("The researchers had this answer in mind."),
            gettext(
                "The researchers had another answer in mind. "
                "Yours is not a mistake: your own impression counts."
            ),
        )


def translated_messages(task: Task) -> dict[str, str]:
    """Return the messages of the task's script, by name, in the active language."""
    return {message.name: gettext(message.text) for message in task.messages}


def _english(task: Task) -> dict[str, str]:
    texts = [
        parameter
        for parameter in task.parameters
        if isinstance(parameter.default, str) and not parameter.choices
    ]
    return {text.name: text.default for text in texts if text.default}
