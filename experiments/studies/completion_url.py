"""Return link to another site: an https address with placeholders."""

import re
from urllib.parse import quote, urlsplit

from analysis.errors import BadInput

PLACEHOLDERS = ("code", "participant", "session")
PLACEHOLDER = re.compile(r"\{([^{}]*)\}")


def checked_address(template: str) -> str:
    """Validate a return link: one https host, known placeholders only."""
    template = template.strip()
    try:
        parts = urlsplit(template)
        host = parts.hostname or ""
    except ValueError:
        parts, host = urlsplit(""), ""
    if parts.scheme != "https" or not host or parts.username or re.search(r"[\s<>\"'\\]", template):
        raise BadInput(
            "the return link is not an https address.",
            remedy="Write for example https://example.org/?cc={code}.",
        )
    if PLACEHOLDER.search(parts.netloc):
        raise BadInput("the return link has a placeholder in its host.", remedy="Write the host out.")
    names = PLACEHOLDER.findall(template)
    if unknown := sorted(set(names) - set(PLACEHOLDERS)):
        raise BadInput(
            f"the return link has an unknown placeholder {{{unknown[0]}}}.",
            remedy=f"There are: {', '.join(f'{{{name}}}' for name in PLACEHOLDERS)}.",
        )
    if set("{}") & set(PLACEHOLDER.sub("", template)):
        raise BadInput("the return link has an unmatched brace.", remedy="Write {code}.")
    return template


def filled_address(template: str, **values: str) -> str:
    """Fill in the placeholders for one participant, each value quoted.

    >>> filled_address("https://example.org/?cc={code}", code="A B")
    'https://example.org/?cc=A%20B'
    """
    return PLACEHOLDER.sub(lambda match: quote(values.get(match[1], ""), safe=""), template)
