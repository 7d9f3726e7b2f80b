"""Build the document of one paper: a page with every table and figure, and the tables as CSV."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import pandas as pd

from analysis.gold.writers import csv_bytes, json_bytes
from analysis.report.content import Block, Figure, Headline, Paragraph, Section, Subheading, Table
from analysis.report.document import Report
from analysis.text import no_formula
from config.version import code_version
from releases.papers.exhibits import Exhibit, Progress, compare_with_published, read_published
from releases.papers.holdings import Holdings
from releases.study_report.build import html_report

PAPERS = {
    "blimp": "BLiMP: The Benchmark of Linguistic Minimal Pairs (Warstadt et al. 2020)",
    "adc": "The Acceptability Delta Criterion (Vázquez Martínez 2021)",
    "climp": "CLiMP: A Benchmark for Chinese Language Model Evaluation (Xiang et al. 2021)",
    "fict": "Filtered Corpus Training (Patil, Jumelet et al. 2024)",
}
HTML, NUMBERS, DIFFERENCES = "reproduction.html", "numbers.json", "differences.csv"
MAX_ROWS = 12  # of a further table in the document; the file beside it has all


@dataclass(frozen=True)
class Reproduction:
    """The files of a paper's document, and its numbers."""

    files: Mapping[str, bytes]
    numbers: Mapping[str, Any]


def reproduce(paper: str, holdings: Holdings, *, progress: Progress | None = None) -> Reproduction:
    """Build every exhibit of a paper from what is at hand.

    Parameters
    ----------
    paper : str
        A key of :data:`PAPERS`.
    holdings : Holdings
        The data folder.
    progress : callable, optional
        Called with the exhibits built, their number, and the title of the next one.
    """
    module = import_module(f"releases.papers.{paper}")
    notify = progress or (lambda step, total, message: None)
    published = read_published(paper)
    exhibits: list[Exhibit] = []
    notify(0, module.N_EXHIBITS, "reading the data")
    for exhibit in module.exhibits(holdings):
        exhibits.append(exhibit)
        notify(len(exhibits), module.N_EXHIBITS, exhibit.title)
    compared = {exhibit.key: compare_with_published(exhibit, published) for exhibit in exhibits}
    differences = pd.concat([rows.dropna(axis=1, how="all") for rows in compared.values() if len(rows)])
    differences = differences.reindex(columns=list(next(iter(compared.values())).columns))
    charts = {name: chart for exhibit in exhibits for name, chart in exhibit.charts.items()}
    numbers = _numbers(paper, exhibits, differences)
    report = Report(
        title=f"Reproduction: {PAPERS[paper]}",
        subtitle="Every table and figure from the data at hand, beside the published numbers; made with "
        f"Obelus {code_version()}",
        sections=[
            _summary(numbers),
            *(_section(exhibit, compared[exhibit.key]) for exhibit in exhibits),
        ],
    )
    files = {HTML: html_report(report, charts), NUMBERS: json_bytes(numbers), DIFFERENCES: _csv(differences)}
    for exhibit in exhibits:
        files |= {f"{name}.csv": _csv(table) for name, table in exhibit.tables.items()}
        files |= {f"{name}.tex": text.encode() for name, text in exhibit.latex.items()}
        if exhibit.values:
            files[f"{exhibit.key}.csv"] = _csv(compared[exhibit.key])
    return Reproduction(files | _figure_data(charts), numbers)


def missing(numbers: Mapping[str, Any]) -> list[str]:
    """What to bring for the numbers that are missing, each thing once."""
    return list(dict.fromkeys(text for exhibit in numbers["exhibits"] for text in exhibit["bring"]))


def _figure_data(charts: Mapping[str, Any]) -> dict[str, bytes]:
    import analysis  # figures through the package, which loads Altair when the first one is drawn

    return {
        f"{name}.data.csv": analysis.figures.export_figure(chart, "csv") for name, chart in charts.items()
    }


def _csv(table: pd.DataFrame) -> bytes:
    table = table.map(no_formula).rename(columns=no_formula)
    return csv_bytes(table, [str(name) for name in table.columns])


def _numbers(paper: str, exhibits: list[Exhibit], differences: pd.DataFrame) -> dict[str, Any]:
    rows = differences.astype(object).where(differences.notna(), None).to_dict("records")
    return {
        "paper": paper,
        "exhibits": [
            {
                "exhibit": exhibit.key,
                "title": exhibit.title,
                "state": _state(exhibit),
                "published": sum(
                    row["exhibit"] == exhibit.key and row["published"] is not None for row in rows
                ),
                "compared": sum(row["exhibit"] == exhibit.key and row["agrees"] is not None for row in rows),
                "agree": sum(row["exhibit"] == exhibit.key and row["agrees"] is True for row in rows),
                "bring": list(exhibit.bring),
            }
            for exhibit in exhibits
        ],
        "rows": rows,
    }


def _state(exhibit: Exhibit) -> str:
    has_numbers = bool(exhibit.values or exhibit.charts or exhibit.tables)
    if not has_numbers:
        return "missing"
    return "in part" if exhibit.bring else "whole"


def _summary(numbers: Mapping[str, Any]) -> Section:
    rows = numbers["exhibits"]
    states = {state: sum(row["state"] == state for row in rows) for state in ("whole", "in part", "missing")}
    compared, agree = (sum(row[name] for row in rows) for name in ("compared", "agree"))
    table = Table(
        "Tables and figures",
        ["", "state", "published numbers", "compared", "equal as printed"],
        [
            (row["title"], row["state"], str(row["published"]), str(row["compared"]), str(row["agree"]))
            for row in rows
        ],
        texts=frozenset({1}),
        note="Equal as printed: our number, rounded as the paper rounds, is the published one. Stand-ins are "
        "not compared.",
    )
    headline = Headline([
        ("Whole", str(states["whole"]), f"of {len(rows)} tables and figures"),
        ("In part", str(states["in part"]), "something must be brought"),
        ("Missing", str(states["missing"]), "weights or data are not at hand"),
        ("Equal as printed", str(agree), f"of {compared} numbers compared"),
    ])  # fmt: skip
    return Section("summary", "Summary", [headline, table])


def _section(exhibit: Exhibit, rows: pd.DataFrame) -> Section:
    blocks: list[Block] = [Paragraph(note) for note in exhibit.notes]
    if len(rows):
        blocks.append(_compared_table(exhibit, rows))
    for name, table in exhibit.tables.items():
        blocks.append(_plain_table(name, table))
    for name in exhibit.charts:
        blocks += [Figure(name, exhibit.title, f"{exhibit.title}; its data: {name}.data.csv")]
    if exhibit.latex:
        blocks.append(Paragraph(f"In LaTeX: {', '.join(f'{name}.tex' for name in exhibit.latex)}."))
    if exhibit.bring:
        blocks += [Subheading("To bring into the data folder"), *(Paragraph(text) for text in exhibit.bring)]
    return Section(exhibit.key, exhibit.title, blocks)


def _compared_table(exhibit: Exhibit, rows: pd.DataFrame) -> Table:
    """One row per row of the paper; of each measure ours, the published number and the difference."""
    measures = list(dict.fromkeys(rows["measure"]))
    has_ours = {name: rows.loc[rows["measure"] == name, "ours"].notna().any() for name in measures}
    has_published = {name: rows.loc[rows["measure"] == name, "published"].notna().any() for name in measures}
    head = [""]
    for name in measures:
        if has_ours[name]:
            head.append(f"{name}: ours")
        if has_published[name]:
            head.append(f"{name}: published")
        if has_ours[name] and has_published[name]:
            head.append("difference")
    cells = rows.set_index(["row", "measure"])
    lines, stand_ins, texts = [], {}, set()
    for label in dict.fromkeys(rows["row"]):
        line = [str(label)]
        for name in measures:
            cell = cells.loc[(label, name)] if (label, name) in cells.index else None
            mark = "*" if cell is not None and cell["stand_in"] else ""
            if cell is not None and mark:
                stand_ins[label] = cell["stand_in"]
            if has_ours[name]:
                if cell is not None and isinstance(cell["ours"], str):
                    texts |= {len(line), len(line) + 1}
                line.append(
                    "–"
                    if cell is None or cell["ours"] is None
                    else _format(cell["ours"], cell["published"]) + mark
                )
            if has_published[name]:
                line.append("–" if cell is None or cell["published"] is None else str(cell["published"]))
            if has_ours[name] and has_published[name]:
                line.append(_format_difference(cell))
        lines.append(line)
    places = ", ".join(dict.fromkeys(place.partition(", printed")[0] for place in rows["place"] if place))
    note = " ".join([
        f"Published: {places}." if places else "",
        *(f"* {text[:1].upper()}{text[1:]}." for text in dict.fromkeys(stand_ins.values())),
    ]).strip()  # fmt: skip
    return Table(exhibit.title, head, lines, frozenset(texts), note)


def _format(value: Any, published: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return f"{value:,}" if published is None else str(value)
    digits = max(3, len(str(published).partition(".")[2])) if published is not None else 3
    return f"{value:.{digits}f}".replace("-", "−")


def _format_difference(cell: Any) -> str:
    if cell is None or cell["ours"] is None or cell["published"] is None:
        return ""
    if cell["difference"] is None:
        return "same" if cell["ours"] == cell["published"] else "differs"
    is_whole = isinstance(cell["ours"], int) and "." not in cell["published"]
    digits = 0 if is_whole else max(3, len(str(cell["published"]).partition(".")[2]))
    return (
        "0"
        if abs(cell["difference"]) < 0.5 * 10**-digits
        else f"{cell['difference']:+.{digits}f}".replace("-", "−")
    )


def _plain_table(name: str, table: pd.DataFrame) -> Table:
    texts = frozenset(
        place
        for place, column in enumerate(table.columns)
        if not pd.api.types.is_numeric_dtype(table[column])
    )
    rows = [
        [
            "–" if pd.isna(value) else _format(value.item() if hasattr(value, "item") else value, None)
            for value in row
        ]
        for row in table.head(MAX_ROWS).itertuples(index=False)
    ]
    more = (
        f"The first {MAX_ROWS} of {len(table):,} rows; all are in {name}.csv."
        if len(table) > MAX_ROWS
        else f"File: {name}.csv."
    )
    return Table(name.replace("-", " "), [str(column) for column in table.columns], rows, texts, more)
