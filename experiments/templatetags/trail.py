"""The trail of a study in words: what was noted as values, read as a sentence."""

from typing import Any

from django import template

register = template.Library()


@register.filter
def labelled(details: dict[str, Any]) -> list[tuple[str, str]]:
    """Names and values of what was noted; empty values, and old and new values, are left out."""
    visible = {name: value for name, value in (details or {}).items() if name not in ("changes", "values")}
    pairs = [(str(name).replace("_", " "), in_words(value)) for name, value in visible.items()]
    pairs = [(name, text.replace("_", " ") if name == "fields" else text) for name, text in pairs]
    return [(name, text) for name, text in pairs if text]


def in_words(value: Any) -> str:
    """A value as a reader would say it.

    >>> in_words({"exclude": "attention", "rule": "", "seed": 0}), in_words(["lp", "slor"]), in_words(True)
    ('exclude attention, seed 0', 'lp, slor', 'yes')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ", ".join(f"{name} {text}" for name, text in labelled(value))
    if isinstance(value, list | tuple):
        return ", ".join(text for text in map(in_words, value) if text)
    if isinstance(value, float):
        return format(value, "g")
    return str(value)
