"""The way back to another site: an https address with a few known places to fill in."""

import re
from urllib.parse import quote, urlsplit

from analysis.errors import BadInput

PLACES = ("code", "participant", "session")
PLACE = re.compile(r"\{([^{}]*)\}")


def checked_address(template: str) -> str:
    """The template, if it leads to one https host and asks for nothing but what may be told."""
    template = template.strip()
    try:
        parts = urlsplit(template)
        host = parts.hostname or ""
    except ValueError:
        parts, host = urlsplit(""), ""
    if parts.scheme != "https" or not host or parts.username or re.search(r"[\s<>\"'\\]", template):
        raise BadInput(
            "the way back is no https address.", remedy="Write for example https://example.org/?cc={code}."
        )
    if PLACE.search(parts.netloc):
        raise BadInput("the way back has a place to fill in inside its host.", remedy="Write the host out.")
    named = PLACE.findall(template)
    if unknown := sorted(set(named) - set(PLACES)):
        raise BadInput(
            f"the way back asks for {{{unknown[0]}}}.",
            remedy=f"There are: {', '.join(f'{{{name}}}' for name in PLACES)}.",
        )
    if set("{}") & set(PLACE.sub("", template)):
        raise BadInput("the way back has a brace without its partner.", remedy="Write {code}.")
    return template


def filled_address(template: str, **values: str) -> str:
    """The address for one participant, each value quoted.

    >>> filled_address("https://example.org/?cc={code}", code="A B")
    'https://example.org/?cc=A%20B'
    """
    return PLACE.sub(lambda found: quote(values.get(found[1], ""), safe=""), template)
