"""Markdown in participants' texts: headings, lists, links and mail addresses; all else is shown as typed."""

import re
from collections.abc import Sequence
from functools import lru_cache

import nh3
from markdown_it import MarkdownIt
from markdown_it.token import Token

from experiments.materials.markup import TAGS, as_html

_PARSER = MarkdownIt("commonmark", {"html": True}).disable(["code", "image", "html_block"])
_BREAKING_PARSER = MarkdownIt("commonmark", {"html": True, "breaks": True})  # renders only
_TAGS = {*TAGS, "a", "blockquote", "code", "h2", "h3", "h4", "h5", "hr", "li", "ol", "p", "ul"}
_SCHEMES = {"http", "https", "mailto", "tel"}
TOP_LEVEL, LOWEST_LEVEL = 2, 5  # of headings: the page has one of level 1
_PLACEHOLDER = re.compile(r"(?<![\]\\])\[[^\[\]\n]*[^\W\d_][^\[\]\n]*\](?![(\[])")
_BARE = re.compile(r"(?<![\w.+/@:(\[<-])(?:https?://[^\s<>()\[\]]+[\w/]|[\w.+-]+@[\w-]+(?:\.[\w-]+)+)")


@lru_cache(maxsize=500)  # pages of trials show the same instructions again and again
def as_blocks(text: str, *, top_level: int = TOP_LEVEL, line_breaks: bool = False) -> str:
    """Render Markdown as safe HTML.

    Parameters
    ----------
    text : str
        Markdown.
    top_level : int
        Level of the highest heading.
    line_breaks : bool
        Whether a single line break is shown, as in plain text.

    Returns
    -------
    str
        HTML.

    Notes
    -----
    Tags other than those of inline markup are escaped before parsing, so that they are shown as typed. The
    highest heading becomes one of ``top_level``. The sanitizer (nh3, ammonia) is a second line of defence.

    Examples
    --------
    >>> as_blocks("# Time\\n\\nTen *short* minutes.\\n\\n- <script>")
    '<h2>Time</h2>\\n<p>Ten <em>short</em> minutes.</p>\\n<ul>\\n<li>&lt;script&gt;</li>\\n</ul>\\n'
    """
    parser = _BREAKING_PARSER if line_breaks else _PARSER
    html = parser.renderer.render(parse_markdown(text, top_level=top_level), parser.options, {})
    return nh3.clean(
        html,
        tags=_TAGS,
        attributes={"*": {"lang", "dir"}, "a": {"href"}, "ol": {"start"}},
        url_schemes=_SCHEMES,
        set_tag_attribute_values={"a": {"target": "_blank"}},
    )


def parse_markdown(text: str, *, top_level: int = TOP_LEVEL) -> Sequence[Token]:
    """Parse Markdown; bare addresses become links, and headings begin at ``top_level``."""
    linked = _BARE.sub(lambda match: f"[{match[0]}]({_target(match[0])})", as_html(text))
    tokens = _PARSER.parse(linked)
    levels = [int(token.tag[1]) for token in tokens if token.type == "heading_open"]
    shift = top_level - min(levels, default=top_level)
    for token in tokens:
        if token.type in {"heading_open", "heading_close"}:
            token.tag = f"h{min(LOWEST_LEVEL, int(token.tag[1]) + shift)}"
    return tokens


def as_plain(text: str) -> str:
    """Return Markdown as plain text, its blocks separated by an empty line.

    Examples
    --------
    >>> as_plain("Say **how natural** it is, see [our page](https://example.org).\\n\\n- one\\n- two")
    'Say how natural it is, see our page.\\n\\none\\n\\ntwo'
    """
    shown = {"softbreak": " ", "hardbreak": "\n"}
    blocks = [token.children or [] for token in parse_markdown(text) if token.type == "inline"]
    return "\n\n".join(
        "".join(shown.get(token.type, token.content) for token in block if token.type != "html_inline")
        for block in blocks
    )


def placeholders(text: str) -> list[str]:
    """Return the parts in square brackets that are still to be filled in; links are none.

    Examples
    --------
    >>> placeholders("[Name], [our page](https://example.org), [1], [Name]")
    ['[Name]']
    """
    return list(dict.fromkeys(_PLACEHOLDER.findall(text)))


def _target(address: str) -> str:
    return f"mailto:{address}" if "@" in address and "://" not in address else address
