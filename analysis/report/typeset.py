"""Write a report as Typst source, which is compiled to PDF."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from .content import (
    Facts,
    Figure,
    Headline,
    Paragraph,
    Ready,
    References,
    Section,
    Subheading,
    Table,
)
from .document import Report

PAGE_WIDTH, MAX_FIGURE_HEIGHT = 17.0, 21.5
"""Text width and largest figure height on A4, in cm."""
WIDE_TABLE_COLUMNS = 6
"""Number of columns from which a table is set in a smaller font."""
MAX_UNBROKEN_ROWS = 24
"""Largest number of rows of a table that is kept on one page."""
FONT_NOTICE = (
    "Characters outside Latin, Greek, Cyrillic and the phonetic alphabet use the fonts of the setting "
    "PDF_FONTS. A box means that no font contained the character; the HTML report shows it."
)
_HEAD = """#set document(title: TITLE, date: none)
#set page(paper: "a4", margin: (x: 2cm, top: 2.2cm, bottom: 2.2cm), numbering: "1 / 1", number-align: right)
#set text(font: "Libertinus Serif", size: 10pt, lang: "en", hyphenate: false)
#set par(justify: false, leading: 0.62em, spacing: 0.95em)
#set heading(numbering: none)
#show heading.where(level: 1): set text(size: 13pt)
#show heading.where(level: 1): set block(above: 1.6em, below: 0.8em)
#show heading.where(level: 2): set text(size: 10pt)
#show figure.where(kind: table): set figure.caption(position: top)
#show figure.where(kind: table): set block(breakable: true)
#show figure.caption: it => align(left, text(size: 9pt, weight: "semibold", it.body))
#set table(stroke: none, inset: (x: 4pt, y: 2.6pt))
#let rule = table.hline(stroke: 0.5pt)
#let note(body) = text(size: 8pt, fill: rgb("#5b6069"), body)
"""
# Unicode blocks that the fonts built into Typst cover.
_COVERED = re.compile(
    "[\u0000-\u052f\u1d00-\u1dbf\u1e00-\u1fff\u2000-\u22ff\u2500-\u25ff\u2700-\u27bf\ufb00-\ufb06]*"
)
_HASH = re.compile(r"\b[0-9a-f]{40,}\b")


def typst_source(report: Report, heights: Mapping[str, float]) -> str:
    """Write a report as Typst source."""
    parts = [_HEAD.replace("TITLE", quote(report.title))]
    parts.append(
        f'#text(size: 18pt, weight: "semibold", {quote(report.title)})\n\n#note({quote(report.subtitle)})\n'
    )
    if needs_fonts(report.text):
        parts.append(f"#note({quote(FONT_NOTICE)})\n")
    parts += [_section(section, heights) for section in report.sections]
    return "\n".join(parts)


def needs_fonts(text: str) -> bool:
    """Return whether a text contains characters that the built-in fonts lack.

    Examples
    --------
    >>> needs_fonts("ʃʌn α ≥ Привет"), needs_fonts("我喜欢语言学")
    (False, True)
    """
    return _COVERED.fullmatch(text) is None


def quote(text: str) -> str:
    """Quote a text as a Typst string in which checksums may break across lines.

    Examples
    --------
    >>> quote('say "a\\\\b"')
    '"say \\\\"a\\\\\\\\b\\\\""'
    """
    # Zero-width spaces allow a line break after every eighth digit.
    breakable = _HASH.sub(lambda match: "\u200b".join(re.findall(".{1,8}", match[0])), text)
    escaped = breakable.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
    return f'"{escaped}"'


def _section(section: Section, heights: Mapping[str, float]) -> str:
    is_appendix = section.key == "appendix"
    blocks = [_block(block, heights, floats=not is_appendix) for block in section.blocks]
    before = ["#pagebreak(weak: true)"] if is_appendix else []
    return "\n\n".join([*before, f"#heading(level: 1, {quote(section.title)})", *blocks])


def _block(block: Any, heights: Mapping[str, float], *, floats: bool) -> str:
    if isinstance(block, Paragraph):
        return f"#par({quote(block.text)})"
    if isinstance(block, Subheading):
        return f"#heading(level: 2, {quote(block.text)})"
    if isinstance(block, Ready):
        content = "\n".join(f"#par({quote(text)})" for text in block.paragraphs)
        return f'#block(fill: rgb("#f1efe9"), inset: 10pt, radius: 4pt, width: 100%)[\n{content}\n]'
    if isinstance(block, Facts):
        return _grid(block.rows)
    if isinstance(block, Headline):
        cells = [
            f'[#text(size: 8pt, {quote(name)})\\ #text(size: 15pt, weight: "semibold", {quote(number)})\\ '
            f"#note({quote(of)})]"
            for name, number, of in block.rows
        ]
        return f"#grid(columns: (1fr,) * {len(cells)}, gutter: 8pt, {', '.join(cells)})"
    if isinstance(block, Table):
        return _table(block)
    if isinstance(block, Figure):
        return _figure(block, heights[block.key], floats=floats)
    if isinstance(block, References):
        return "\n\n".join(
            f"#par(hanging-indent: 1.2em, text(size: 9pt, {quote(work)}))" for work in block.works
        )
    raise TypeError(f"cannot typeset a {type(block).__name__}")


def _grid(rows: Sequence[tuple[str, str]]) -> str:
    cells = ", ".join(
        f"text(size: 9pt, {quote(name)}), text(size: 9pt, {quote(text)})" for name, text in rows
    )
    return f"#table(columns: (4.6cm, 1fr), inset: (x: 0pt, y: 2.4pt), {cells})"


def _table(table: Table) -> str:
    size = 8 if len(table.head) >= WIDE_TABLE_COLUMNS else 9
    align = ", ".join("right" if is_number else "left" for _, is_number in table.columns)
    head = ", ".join(f'text(weight: "semibold", {quote(word)})' for word in table.head)
    rows = "".join(", ".join(quote(cell) for cell in row) + ",\n  " for row in table.rows)
    widths = ", ".join(["1fr", *["auto"] * (len(table.head) - 1)])
    body = (
        f"table(columns: ({widths}), align: ({align},),\n  table.header(rule, {head}, rule),\n  {rows}rule)"
    )
    beside = f"\n#v(-0.4em)\n#note({quote(table.note)})" if table.note else ""
    stays = "false" if len(table.rows) <= MAX_UNBROKEN_ROWS else "true"
    return (
        f"#block(breakable: {stays}, width: 100%)[#set text(size: {size}pt)\n#figure(kind: table, "
        f"supplement: none, caption: {quote(table.caption)}, {body}){beside}]"
    )


def _figure(figure: Figure, height: float, *, floats: bool) -> str:
    size = (
        f"width: {PAGE_WIDTH}cm"
        if PAGE_WIDTH * height <= MAX_FIGURE_HEIGHT
        else f"height: {MAX_FIGURE_HEIGHT}cm"
    )
    image = f'image("{figure.key}.pdf", {size}, alt: {quote(figure.shows)})'
    if not floats:
        return f"#block(breakable: false, {image})"
    # Text and tables fill the page before a high figure.
    return f"#place(auto, float: true, clearance: 1.2em, align(left, {image}))"
