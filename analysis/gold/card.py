"""The dataset card (README) of a release: contents, labels, exclusions and participants."""

from collections.abc import Iterable, Sequence
from typing import Any

from ..text import plural
from .citation import recognize_licence
from .facts import TASK_WORDS, Facts
from .labels import label_rule
from .writers import quoted_yaml


def dataset_card(
    facts: Facts,
    files: Sequence[tuple[str, str]],
    *,
    tables: Sequence[str] = (),
    texts: Iterable[str] = (),
) -> str:
    """Write the dataset card of a release in Markdown, with a configuration for each of ``tables``.

    ``texts`` are the sentences and contexts: the card names readers that change some of them.

    References
    ----------
    Gebru et al. (2021), "Datasheets for datasets", Communications of the ACM 64(12).
    """
    head = [
        "---",
        f"pretty_name: {quoted_yaml(facts.title)}",
        f"language: [{quoted_yaml(facts.language)}]",
        *_licence(facts),
        "task_categories: [text-classification]",
        "tags: [acceptability, minimal-pairs, human-judgments]",
        *_configs(tables),
        "---",
        "",
        f"# {facts.title}",
        "",
    ]
    body = [
        *([facts.description, ""] if facts.description else []),
        f"{_judge_kind(facts)} acceptability judgments by {TASK_WORDS.get(facts.task, facts.task)}.",
        *_simulation(facts),
        "",
        *_table(("what", "how many"), [(name.replace("_", " "), n) for name, n in facts.counts.items()]),
        *(
            ["", f"Materials: {facts.materials}. Source: {facts.source or 'not stated'}."]
            if facts.materials
            else []
        ),
        "",
        "## Files",
        "",
        *_table(("file", "holds"), [(f"`{name}`", text) for name, text in files]),
        "",
        "`manifest.json` gives the SHA-256 of every file. Every column is explained in `datapackage.json`.",
        "",
        *_readers(texts),
        "## Labels",
        "",
        f"{label_rule(facts.task).capitalize()}. Fewer than {facts.n_min} kept judgments: undecided.",
        *(["", f"Answers that chose no member: {facts.undecided}."] if facts.undecided else []),
        *_timed_out(facts.n_timed_out),
        "",
        "## Exclusions",
        "",
        f"{facts.left_out} Nothing was deleted: excluded rows stand in `judgments.csv` with `excluded_by`.",
        "",
        *_flow_table(facts.flow),
        "## People",
        "",
        "Participants are pseudonyms. No identifier of any platform is part of this release.",
        "",
    ]
    return "\n".join([*head, *body])


def _timed_out(n: int) -> list[str]:
    """Count the judgments without an answer at the deadline; nothing is written where there are none."""
    if not n:
        return []
    count = plural(n, "judgment")
    return ["", f"{count} without an answer in time: `status` is `timed_out`, and there is no value."]


def _readers(texts: Iterable[str]) -> list[str]:
    """Name the readers that change texts such as these; nothing is written where there are none."""
    texts = list(texts)
    n_quoted, n_lines = (sum(sign in text for text in texts) for sign in ('"', "\n"))
    lines = []
    if n_quoted:
        lines.append(
            f"Sentences with quotation marks: {n_quoted:,}. CSV files double such marks (RFC 4180). "
            "`fread` of R's data.table keeps both: take `read.csv`, readr, or the Parquet files."
        )
    if n_lines:
        lines.append(
            f"Sentences of several lines: {n_lines:,}. Cells of CSV files have line ends then: programs "
            "that read line by line, such as `wc` or minicons, count more lines than rows."
        )
    return [part for line in lines for part in (line, "")]


def _licence(facts: Facts) -> list[str]:
    """The licence by its identifier, which the hub has in small letters, or its own words."""
    licence = recognize_licence(facts.licence)
    if licence is None:
        return ["license: unknown"]
    if licence.spdx:
        return [f"license: {licence.spdx.lower()}"]
    return ["license: other", f"license_name: {quoted_yaml(licence.title)}"]


def _configs(tables: Sequence[str]) -> list[str]:
    """One configuration for each table; all Parquet, since ``datasets`` takes one format for a folder."""
    lines = ["configs:"] if tables else []
    for name in sorted(tables, key=lambda name: (name != "pairs", name)):
        lines += [f"- config_name: {name}", f"  data_files: {name}.parquet"]
        lines += ["  default: true"] if name == "pairs" else []
    return lines


def _judge_kind(facts: Facts) -> str:
    return "Simulated" if facts.is_simulated else "Human"


def _simulation(facts: Facts) -> list[str]:
    """Write a notice if participants were simulated."""
    if not facts.n_simulated:
        return []
    share = "All" if facts.is_simulated else f"{facts.n_simulated:,} of {facts.counts['participants']:,}"
    return ["", f"**{share} participants were simulated**; `participants.csv` says which."]


def _flow_table(flow: Sequence[dict[str, Any]]) -> list[str]:
    if not flow:
        return []
    columns = [name for name in flow[0] if not isinstance(flow[0][name], dict | list)]
    return [*_table(columns, [[row.get(name, "") for name in columns] for row in flow]), ""]


def _table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[str]:
    lines = [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}"]
    return lines + [f"| {' | '.join(_cell_text(cell) for cell in row)} |" for row in rows]


def _cell_text(cell: Any) -> str:
    if cell is None:
        return ""
    return f"{cell:,}" if isinstance(cell, int) else str(cell).replace("|", "\\|").replace("\n", " ")
