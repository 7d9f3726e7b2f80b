"""Inline markup in sentences and texts: allowed tags are rendered, everything else is shown as typed."""

import html
import re
from html.parser import HTMLParser
from typing import Any

import nh3

#: Allowed tags; ``span`` carries ``lang`` and ``dir``.
TAGS = frozenset({"b", "br", "em", "i", "rp", "rt", "ruby", "s", "span", "strong", "sub", "sup", "u"})
ATTRIBUTES = {"*": {"lang", "dir"}}

#: The column of a material file, and its value for sentences with inline markup.
COLUMN, INLINE = "markup", "inline"
MOST_NESTED = 20  # tags in each other, because functions on nodes recurse; deeper ones are left out

Node = str | dict[str, Any]

_NAMES = "|".join(sorted(TAGS, key=len, reverse=True))
_TAG = re.compile(
    rf"""</(?:{_NAMES})\s*>|<(?:{_NAMES})(?:\s+(?:lang|dir)\s*=\s*(?:"[^"<>]*"|'[^'<>]*'))*\s*/?>""", re.I
)
_REFERENCE = re.compile(r"&(?:lt|gt|amp);")
_LANGUAGE, _DIRECTION = re.compile(r"[A-Za-z0-9-]{1,35}"), re.compile(r"ltr|rtl|auto")
_ANNOTATIONS = {"rt", "rp"}  # ruby readings, which are no part of the sentence


def is_marked(attributes: Any) -> bool:
    """Whether the attributes of a sentence declare inline markup.

    Examples
    --------
    >>> is_marked({"markup": "inline"}), is_marked({}), is_marked(None)
    (True, False, False)
    """
    return declared_markup(attributes) == INLINE


def declared_markup(attributes: Any) -> str:
    """Return the value of the column ``markup`` in lower case; empty where it is absent.

    Examples
    --------
    >>> declared_markup({"Markup": " Inline "})
    'inline'
    """
    if not attributes:
        return ""
    values = (value for name, value in attributes.items() if is_markup_column(name))
    return str(next(values, "")).strip().lower()


def is_markup_column(name: Any) -> bool:
    """Whether a column of this name declares markup."""
    return str(name).strip().lower() == COLUMN


def markup_attribute(fields: Any) -> dict[str, str]:
    """Return the sentence attribute for the declared markup; no attribute where none is declared."""
    declared = declared_markup(fields)
    return {COLUMN: declared} if declared else {}


def has_tags(text: str) -> bool:
    """Whether a text contains a tag that would be rendered in marked text.

    Examples
    --------
    >>> has_tags("a < b"), has_tags("<em>John</em> left.")
    (False, True)
    """
    return "<" in text and _TAG.search(text) is not None


def as_html(text: str) -> str:
    """Render a marked text as safe HTML.

    Notes
    -----
    Everything but the allowed tags is escaped before sanitizing, so that nothing is lost: ``a < b`` and
    ``<script>`` are shown as typed. The sanitizer (nh3, ammonia) is a second line of defence.

    Examples
    --------
    >>> as_html("a < b & <em>c</em>")
    'a &lt; b &amp; <em>c</em>'
    >>> as_html("<script>alert(1)</script><b onclick='x()'>d</b>")
    "&lt;script&gt;alert(1)&lt;/script&gt;&lt;b onclick='x()'&gt;d"
    """
    parts, end = [], 0
    for tag in _TAG.finditer(text):
        parts += [_escape_text(text[end : tag.start()]), tag.group()]
        end = tag.end()
    parts.append(_escape_text(text[end:]))
    return nh3.clean(
        "".join(parts), tags=set(TAGS), attributes=ATTRIBUTES, attribute_filter=_attribute, link_rel=None
    )


def _escape_text(part: str) -> str:
    """Escape a part between tags, except for the references ``&lt;``, ``&gt;`` and ``&amp;``."""
    pieces, end = [], 0
    for reference in _REFERENCE.finditer(part):
        pieces += [html.escape(part[end : reference.start()], quote=False), reference.group()]
        end = reference.end()
    return "".join([*pieces, html.escape(part[end:], quote=False)])


def _attribute(tag: str, name: str, value: str) -> str | None:
    """Keep valid values of ``lang`` and ``dir``; the sanitizer calls this."""
    allowed = _LANGUAGE if name == "lang" else _DIRECTION
    return value if allowed.fullmatch(value) else None


def as_nodes(text: str) -> list[Node]:
    """Parse a marked text into nodes from which the script builds elements without parsing HTML.

    Examples
    --------
    >>> as_nodes("<em>John</em> left.")
    [{'tag': 'em', 'nodes': ['John']}, ' left.']
    """
    parser = _NodeParser()
    parser.feed(as_html(text))
    parser.close()
    return parser.root


def nesting(text: str) -> int:
    """Return how deep the tags of a marked text are nested.

    Examples
    --------
    >>> nesting("<em>a <b>b</b></em> <i>c"), nesting("a < b")
    (2, 0)
    """
    parser = _NodeParser()
    parser.feed(as_html(text))
    parser.close()
    return parser.deepest


def paragraphs(text: str) -> list[str]:
    """Split a text at its empty lines; single line breaks become ``<br>``.

    Examples
    --------
    >>> paragraphs("Read <em>once</em>.\\nThen answer.\\n\\nThank you.")
    ['Read <em>once</em>.<br>Then answer.', 'Thank you.']
    """
    lines = re.sub(r"\r\n?", "\n", text).strip()
    return [part.strip().replace("\n", "<br>") for part in re.split(r"\n\s*\n", lines) if part.strip()]


def plain(text: str) -> str:
    """Return the text of a marked text without its markup, as language models score it.

    Examples
    --------
    >>> plain("<em>John</em> saw <ruby>私<rt>わたし</rt></ruby>, a &lt; b.")
    'John saw 私, a < b.'
    """
    return join_words(as_nodes(text))


def join_words(nodes: list[Node]) -> str:
    """Return the text of nodes: line breaks as spaces, without ruby readings."""
    parts = []
    for node in nodes:
        if isinstance(node, str):
            parts.append(node)
        elif node["tag"] not in _ANNOTATIONS:
            parts.append(" " if node["tag"] == "br" else join_words(node["nodes"]))
    return "".join(parts)


class _NodeParser(HTMLParser):
    """Parses the output of the sanitizer, in which all tags are closed and nested."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root: list[Node] = []
        self._open: list[list[Node]] = [self.root]
        self.depth = self.deepest = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        nodes: list[Node] = []
        if tag != "br":
            self.depth += 1
            self.deepest = max(self.deepest, self.depth)
        if tag == "br" or self.depth <= MOST_NESTED:
            self._open[-1].append({"tag": tag, **dict(attrs), "nodes": nodes})
            if tag != "br":
                self._open.append(nodes)

    def handle_endtag(self, tag: str) -> None:
        if tag == "br" or not self.depth:
            return
        if self.depth <= MOST_NESTED:
            self._open.pop()
        self.depth -= 1

    def handle_data(self, data: str) -> None:
        nodes = self._open[-1]
        if nodes and isinstance(nodes[-1], str):
            nodes[-1] += data
        else:
            nodes.append(data)
