"""Filters for texts with inline markup: allowed tags are rendered, everything else is escaped."""

import re
from itertools import pairwise
from typing import Any

from django import template
from django.utils.html import escape, format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from experiments.materials.markdown import TOP_LEVEL, as_blocks
from experiments.materials.markup import TAGS, as_html, paragraphs
from judgments.sessions.protocol import load_protocol

MAIL_ADDRESS = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
register = template.Library()


@register.filter
def inline(text: Any) -> SafeString:
    """Render a line of text with inline markup.

    >>> inline("Is <em>this</em> <script>good</script>?")
    'Is <em>this</em> &lt;script&gt;good&lt;/script&gt;?'
    """
    return mark_safe(as_html(str(text)))  # noqa: S308 - as_html() escapes all but the allowed tags


@register.filter
def prose(text: Any) -> SafeString:
    """Render a text with inline markup in paragraphs.

    >>> prose("Read.\\n\\nThen <b>answer</b>.")
    '<p>Read.</p>\\n<p>Then <b>answer</b>.</p>'
    """
    return format_html_join("\n", "<p>{}</p>", ((inline(part),) for part in paragraphs(str(text))))


@register.filter
def blocks(text: Any) -> SafeString:
    """Render Markdown: headings, lists, links.

    >>> blocks("## Time\\n\\nTen minutes.")
    '<h2>Time</h2>\\n<p>Ten minutes.</p>\\n'
    """
    return mark_safe(as_blocks(str(text)))  # noqa: S308 - as_blocks() sanitizes


@register.filter
def markdown(text: Any, top_level: int = TOP_LEVEL) -> SafeString:
    """Render Markdown as ``blocks`` does, with single line breaks as they are written.

    >>> markdown("# Keys\\n\\n**F**: yes\\nJ: no", 3)
    '<h3>Keys</h3>\\n<p><strong>F</strong>: yes<br>\\nJ: no</p>\\n'
    """
    return mark_safe(as_blocks(str(text), top_level=top_level, line_breaks=True))  # noqa: S308 - as_blocks() sanitizes


@register.filter
def contact_address(contact: str) -> str:
    """The link of a contact: of a page as it is, of a mail address with its scheme; empty for other texts."""
    if contact.startswith("https://"):
        return contact
    return f"mailto:{contact}" if MAIL_ADDRESS.fullmatch(contact) else ""


@register.simple_tag(takes_context=True)
def study_contact(context: template.Context) -> str:
    """The contact of the study that a page belongs to."""
    session, protocol = context.get("session"), context.get("protocol")
    if protocol is None and session:
        protocol = load_protocol(session.version)
    return str(context.get("contact") or getattr(protocol, "contact", ""))


@register.filter
def elements(nodes: list[Any], breaks: bool = False) -> SafeString:
    """Render the nodes of a sentence with inline markup; with ``breaks``, lines may break between two texts.

    >>> elements([{"tag": "em", "lang": "de", "nodes": ["Er"]}, " < sie"])
    '<em lang="de">Er</em> &lt; sie'
    >>> elements(["太郎が", "来た。"], True)
    '太郎が<wbr>来た。'
    """
    html = [_element(node) for node in nodes]
    if breaks:
        between = [isinstance(a, str) and isinstance(b, str) for a, b in pairwise(nodes)]
        html[1:] = ["<wbr>" * is_break + part for is_break, part in zip(between, html[1:], strict=True)]
    return mark_safe("".join(html))  # noqa: S308 - _element() escapes every node


def _element(node: Any) -> str:
    if isinstance(node, str):
        return escape(node)
    inner = elements(node["nodes"])
    if node["tag"] not in TAGS:
        return inner
    attributes = format_html_join(
        "", ' {}="{}"', ((name, node[name]) for name in ("lang", "dir") if name in node)
    )
    tag = mark_safe(node["tag"])  # noqa: S308 - one of TAGS
    return format_html("<{}{}>", tag, attributes) + (
        "" if tag == "br" else format_html("{}</{}>", inner, tag)
    )
