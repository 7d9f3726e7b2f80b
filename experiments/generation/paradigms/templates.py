"""Templates of sentences: text with places for slots."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from analysis.errors import BadInput

PLACE = re.compile(r"\{([^{}]*)\}")
NAME = re.compile(r"[a-z]\w*(?:\.\w+)?")
REFUSED = re.compile(r"[<>\x00-\x1f\x7f]")


@dataclass(frozen=True)
class Place:
    """A slot in a template, with the form that it takes there if this is not the slot's own."""

    slot: str
    form: str = ""


Template = tuple[str | Place, ...]


def read_template(text: str, *, marks: Sequence[str]) -> Template:
    """Read a text with ``{slot}`` and ``{slot:form}``; it ends in one of the marks, if there are any.

    Examples
    --------
    >>> read_template("the {head} {be}.", marks=["."])
    ('the ', Place(slot='head', form=''), ' ', Place(slot='be', form=''), '.')
    """
    if REFUSED.search(text):
        raise BadInput("the text has control characters or markup.", remedy="Delete < > and line breaks.")
    if marks and not text.rstrip().endswith(tuple(marks)):
        raise BadInput("the text has no final mark.", remedy=f"End it with one of {' '.join(marks)}")
    parts: list[str | Place] = []
    for number, part in enumerate(PLACE.split(text)):
        if number % 2 == 0:
            if "{" in part or "}" in part:
                raise BadInput(f"a brace is alone in {text!r}.", remedy="Write {slot}.")
            if part:
                parts.append(part)
            continue
        slot, _, form = part.partition(":")
        if not NAME.fullmatch(slot):
            raise BadInput(f"{{{part}}} is no slot.", remedy="Write {slot} or {slot:form}.")
        parts.append(Place(slot, form))
    return tuple(parts)


def fill_template(template: Template, texts: Mapping[Place, str]) -> str:
    """Return a template's text with its places filled."""
    return "".join(texts[part] if isinstance(part, Place) else part for part in template)


def places(template: Template) -> tuple[Place, ...]:
    """List the places of a template."""
    return tuple(part for part in template if isinstance(part, Place))
