"""Inline markup in sentences and texts: a few tags keep their meaning, everything else stays text."""

import html
import re
from html.parser import HTMLParser
from typing import Any

import nh3

#: Tags that keep their meaning; ``span`` is there for ``lang`` and ``dir``.
TAGS = frozenset({"b", "br", "em", "i", "rp", "rt", "ruby", "s", "span", "strong", "sub", "sup", "u"})
ATTRIBUTES = {"*": {"lang", "dir"}}

#: Where a sentence says so, in a column of its file called ``markup``.
COLUMN, INLINE = "markup", "inline"

Node = str | dict[str, Any]

_NAMES = "|".join(sorted(TAGS, key=len, reverse=True))
_TAG = re.compile(
    rf"""</(?:{_NAMES})\s*>|<(?:{_NAMES})(?:\s+(?:lang|dir)\s*=\s*(?:"[^"<>]*"|'[^'<>]*'))*\s*/?>""", re.I
)
_REFERENCE = re.compile(r"&(?:lt|gt|amp);")
_LANGUAGE, _DIRECTION = re.compile(r"[A-Za-z0-9-]{1,35}"), re.compile(r"ltr|rtl|auto")
_UNREAD = {"rt", "rp"}


def is_marked(attributes: Any) -> bool:
    """Whether the further columns of a sentence say that its text holds inline markup.

    Parameters
    ----------
    attributes : mapping or None

    Returns
    -------
    bool

    Examples
    --------
    >>> is_marked({"markup": "inline"}), is_marked({}), is_marked(None)
    (True, False, False)
    """
    return said(attributes) == INLINE


def said(attributes: Any) -> str:
    """What a sentence says of its markup, in lower case; empty where it says nothing.

    Parameters
    ----------
    attributes : mapping or None

    Returns
    -------
    str

    Examples
    --------
    >>> said({"Markup": " Inline "})
    'inline'
    """
    found = (value for name, value in (attributes or {}).items() if str(name).strip().lower() == COLUMN)
    return str(next(found, "")).strip().lower()


def has_tags(text: str) -> bool:
    """Whether a text holds a tag that would keep its meaning in marked text.

    Parameters
    ----------
    text : str

    Returns
    -------
    bool

    Examples
    --------
    >>> has_tags("a < b"), has_tags("<em>John</em> left.")
    (False, True)
    """
    return "<" in text and _TAG.search(text) is not None


def as_html(text: str) -> str:
    """Write a marked text as safe HTML.

    Parameters
    ----------
    text : str
        Text that may hold tags of :data:`TAGS` with ``lang`` and ``dir``, and ``&lt;``, ``&gt;``, ``&amp;``.

    Returns
    -------
    str
        The allowed tags, closed and nested as HTML wants; every other sign as text.

    Notes
    -----
    What is no allowed tag is escaped before the sanitizer sees it, so nothing is lost: ``a < b`` and
    ``<script>`` are shown as typed. The sanitizer (nh3, ammonia) then stands behind this as a second wall.

    Examples
    --------
    >>> as_html("a < b & <em>c</em>")
    'a &lt; b &amp; <em>c</em>'
    >>> as_html("<script>alert(1)</script><b onclick='x()'>d</b>")
    "&lt;script&gt;alert(1)&lt;/script&gt;&lt;b onclick='x()'&gt;d"
    """
    kept, end = [], 0
    for tag in _TAG.finditer(text):
        kept += [_as_text(text[end : tag.start()]), tag.group()]
        end = tag.end()
    kept.append(_as_text(text[end:]))
    return nh3.clean(
        "".join(kept), tags=set(TAGS), attributes=ATTRIBUTES, attribute_filter=_attribute, link_rel=None
    )


def _as_text(part: str) -> str:
    """Escape a part between tags; the three references keep their meaning."""
    pieces, end = [], 0
    for reference in _REFERENCE.finditer(part):
        pieces += [html.escape(part[end : reference.start()], quote=False), reference.group()]
        end = reference.end()
    return "".join([*pieces, html.escape(part[end:], quote=False)])


def _attribute(tag: str, name: str, value: str) -> str | None:
    allowed = _LANGUAGE if name == "lang" else _DIRECTION
    return value if allowed.fullmatch(value) else None


def as_nodes(text: str) -> list[Node]:
    """Read a marked text into parts from which a browser builds elements, without reading HTML.

    Parameters
    ----------
    text : str

    Returns
    -------
    list
        Strings, and ``{"tag": name, "nodes": [...]}`` with ``lang`` and ``dir`` where they are given.

    Examples
    --------
    >>> as_nodes("<em>John</em> left.")
    [{'tag': 'em', 'nodes': ['John']}, ' left.']
    """
    reader = _Reader()
    reader.feed(as_html(text))
    reader.close()
    return reader.root


def paragraphs(text: str) -> list[str]:
    """Split a text at its empty lines; single line breaks become ``<br>``.

    Parameters
    ----------
    text : str

    Returns
    -------
    list of str
        Marked texts, one per paragraph.

    Examples
    --------
    >>> paragraphs("Read <em>once</em>.\\nThen answer.\\n\\nThank you.")
    ['Read <em>once</em>.<br>Then answer.', 'Thank you.']
    """
    lines = re.sub(r"\r\n?", "\n", text).strip()
    return [part.strip().replace("\n", "<br>") for part in re.split(r"\n\s*\n", lines) if part.strip()]


def plain(text: str) -> str:
    """Give the words of a marked text: what a language model scores.

    Parameters
    ----------
    text : str

    Returns
    -------
    str
        The text without tags; a line break becomes a space, readings over characters (``rt``) are left out.

    Examples
    --------
    >>> plain("<em>John</em> saw <ruby>私<rt>わたし</rt></ruby>, a &lt; b.")
    'John saw 私, a < b.'
    """
    return _words(as_nodes(text))


def _words(nodes: list[Node]) -> str:
    parts = []
    for node in nodes:
        if isinstance(node, str):
            parts.append(node)
        elif node["tag"] not in _UNREAD:
            parts.append(" " if node["tag"] == "br" else _words(node["nodes"]))
    return "".join(parts)


class _Reader(HTMLParser):
    """Reads what the sanitizer wrote: tags are closed and nested."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root: list[Node] = []
        self._open: list[list[Node]] = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        nodes: list[Node] = []
        self._open[-1].append({"tag": tag, **dict(attrs), "nodes": nodes})
        if tag != "br":
            self._open.append(nodes)

    def handle_endtag(self, tag: str) -> None:
        if tag != "br" and len(self._open) > 1:
            self._open.pop()

    def handle_data(self, data: str) -> None:
        here = self._open[-1]
        if here and isinstance(here[-1], str):
            here[-1] += data
        else:
            here.append(data)
