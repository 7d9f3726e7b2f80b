"""Texts of a study on its pages: a few inline tags keep their meaning, everything else is text."""

from typing import Any

from django import template
from django.utils.html import escape, format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from experiments.materials.markup import TAGS, as_html, paragraphs

register = template.Library()


@register.filter
def inline(text: Any) -> SafeString:
    """A line of a study.

    >>> inline("Is <em>this</em> <script>good</script>?")
    'Is <em>this</em> &lt;script&gt;good&lt;/script&gt;?'
    """
    return mark_safe(as_html(str(text)))  # sanitized there


@register.filter
def prose(text: Any) -> SafeString:
    """A text of a study, in paragraphs.

    >>> prose("Read.\\n\\nThen <b>answer</b>.")
    '<p>Read.</p>\\n<p>Then <b>answer</b>.</p>'
    """
    return format_html_join("\n", "<p>{}</p>", ((inline(part),) for part in paragraphs(str(text))))


@register.filter
def elements(nodes: list[Any]) -> SafeString:
    """Parts of a sentence with markup, as elements.

    >>> elements([{"tag": "em", "lang": "de", "nodes": ["Er"]}, " < sie"])
    '<em lang="de">Er</em> &lt; sie'
    """
    return mark_safe("".join(_element(node) for node in nodes))  # every piece is escaped below


def _element(node: Any) -> str:
    if isinstance(node, str):
        return escape(node)
    inner = elements(node["nodes"])
    if node["tag"] not in TAGS:
        return inner
    given = format_html_join("", ' {}="{}"', ((name, node[name]) for name in ("lang", "dir") if name in node))
    tag = mark_safe(node["tag"])
    return format_html("<{}{}>", tag, given) + ("" if tag == "br" else format_html("{}</{}>", inner, tag))
