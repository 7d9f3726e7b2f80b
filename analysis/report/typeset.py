"""A report as Typst source: what becomes its PDF."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from analysis.report.content import (
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
from analysis.report.sections import Report

PAGE_WIDTH, TALLEST = 17.0, 21.5
"""Of a figure on A4, in cm."""
WIDE = 6
"""Columns from which a table is set smaller."""
TOGETHER = 24
"""Rows up to which a table stays on one page."""
ELSEWHERE = (
    "Letters beyond Latin, Greek, Cyrillic and the phonetic alphabet are set in fonts of the machine that "
    "made this file. Boxes in their place mean that it had none; the HTML report shows them."
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
_COVERED = re.compile(
    "[\u0000-\u052f\u1d00-\u1dbf\u1e00-\u1fff\u2000-\u22ff\u2500-\u25ff\u2700-\u27bf\ufb00-\ufb06]*"
)
_HASH = re.compile(r"\b[0-9a-f]{40,}\b")


def typst_source(report: Report, heights: Mapping[str, float]) -> str:
    """Write a report as Typst source.

    Parameters
    ----------
    report : Report
    heights : mapping of str to float
        Height of each figure by its width; the source shows ``NAME.pdf``.

    Returns
    -------
    str
    """
    parts = [_HEAD.replace("TITLE", quoted(report.title))]
    parts.append(
        f'#text(size: 18pt, weight: "semibold", {quoted(report.title)})\n\n#note({quoted(report.subtitle)})\n'
    )
    if needs_fonts(report.text):
        parts.append(f"#note({quoted(ELSEWHERE)})\n")
    parts += [_section(one, heights) for one in report.sections]
    return "\n".join(parts)


def needs_fonts(text: str) -> bool:
    """Tell whether a text has letters that the built-in fonts lack.

    Parameters
    ----------
    text : str

    Returns
    -------
    bool

    Examples
    --------
    >>> needs_fonts("ʃʌn α ≥ Привет"), needs_fonts("我喜欢语言学")
    (False, True)
    """
    return _COVERED.fullmatch(text) is None


def quoted(text: str) -> str:
    """Give a text as a Typst string; checksums may break at the end of a line.

    Parameters
    ----------
    text : str

    Returns
    -------
    str

    Examples
    --------
    >>> quoted('say "a\\\\b"')
    '"say \\\\"a\\\\\\\\b\\\\""'
    """
    breakable = _HASH.sub(lambda found: "\u200b".join(re.findall(".{1,8}", found[0])), text)
    inside = breakable.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")
    return f'"{inside}"'


def _section(section: Section, heights: Mapping[str, float]) -> str:
    blocks = [_block(one, heights) for one in section.blocks]
    before = ["#pagebreak(weak: true)"] if section.key == "appendix" else []
    return "\n\n".join([*before, f"#heading(level: 1, {quoted(section.title)})", *blocks])


def _block(block: Any, heights: Mapping[str, float]) -> str:
    if isinstance(block, Paragraph):
        return f"#par({quoted(block.text)})"
    if isinstance(block, Subheading):
        return f"#heading(level: 2, {quoted(block.text)})"
    if isinstance(block, Ready):
        inside = "\n".join(f"#par({quoted(text)})" for text in block.paragraphs)
        return f'#block(fill: rgb("#f1efe9"), inset: 10pt, radius: 4pt, width: 100%)[\n{inside}\n]'
    if isinstance(block, Facts):
        return _grid(block.rows)
    if isinstance(block, Headline):
        cells = [
            f'[#text(size: 8pt, {quoted(name)})\\ #text(size: 15pt, weight: "semibold", {quoted(number)})\\ '
            f"#note({quoted(of)})]"
            for name, number, of in block.rows
        ]
        return f"#grid(columns: (1fr,) * {len(cells)}, gutter: 8pt, {', '.join(cells)})"
    if isinstance(block, Table):
        return _table(block)
    if isinstance(block, Figure):
        return _figure(block, heights[block.name])
    if isinstance(block, References):
        return "\n\n".join(
            f"#par(hanging-indent: 1.2em, text(size: 9pt, {quoted(work)}))" for work in block.works
        )
    raise TypeError(f"no way to set a {type(block).__name__}")


def _grid(rows: Sequence[tuple[str, str]]) -> str:
    cells = ", ".join(
        f"text(size: 9pt, {quoted(name)}), text(size: 9pt, {quoted(text)})" for name, text in rows
    )
    return f"#table(columns: (4.6cm, 1fr), inset: (x: 0pt, y: 2.4pt), {cells})"


def _table(table: Table) -> str:
    size = 8 if len(table.head) >= WIDE else 9
    align = ", ".join("right" if is_number else "left" for _, is_number in table.columns)
    head = ", ".join(f'text(weight: "semibold", {quoted(word)})' for word in table.head)
    rows = "".join(", ".join(quoted(cell) for cell in row) + ",\n  " for row in table.rows)
    widths = ", ".join(["1fr", *["auto"] * (len(table.head) - 1)])
    body = (
        f"table(columns: ({widths}), align: ({align},),\n  table.header(rule, {head}, rule),\n  {rows}rule)"
    )
    beside = f"\n#v(-0.4em)\n#note({quoted(table.note)})" if table.note else ""
    stays = "false" if len(table.rows) <= TOGETHER else "true"
    return (
        f"#block(breakable: {stays}, width: 100%)[#set text(size: {size}pt)\n#figure(kind: table, "
        f"supplement: none, caption: {quoted(table.caption)}, {body}){beside}]"
    )


def _figure(figure: Figure, height: float) -> str:
    size = f"width: {PAGE_WIDTH}cm" if PAGE_WIDTH * height <= TALLEST else f"height: {TALLEST}cm"
    return f'#block(breakable: false, image("{figure.name}.pdf", {size}, alt: {quoted(figure.shows)}))'
