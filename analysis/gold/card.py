"""The dataset card (README) of a release: contents, labels, exclusions and participants."""

from collections.abc import Sequence
from typing import Any

from analysis.gold.facts import TASK_WORDS, Facts
from analysis.gold.labels import label_rule


def dataset_card(facts: Facts, files: Sequence[tuple[str, str]]) -> str:
    """Write the dataset card of a release in Markdown.

    References
    ----------
    Gebru et al. (2021), "Datasheets for datasets", Communications of the ACM 64(12).
    """
    head = [
        "---",
        f"pretty_name: {_quoted(facts.title)}",
        f"language: [{facts.language}]",
        f"license: {_quoted(facts.licence or 'unknown')}",
        "task_categories: [text-classification]",
        "tags: [acceptability, minimal-pairs, human-judgments]",
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
        "## Labels",
        "",
        f"{label_rule(facts.task).capitalize()}. Fewer than {facts.n_min} kept judgments: undecided.",
        *(["", f"Answers that chose no member: {facts.undecided}."] if facts.undecided else []),
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


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
