"""The texts that go with a release: its dataset card and a methods paragraph ready for a paper."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from analysis.gold.labels import LABEL_RULES
from analysis.rows import RATING_TASKS

TASK_WORDS = {
    "forced_choice": "two-alternative forced choice between the members of a minimal pair",
    "yes_no": "a yes-no judgment of acceptability",
    "likert": "a rating on a labelled scale",
    "magnitude_estimation": "magnitude estimation against a reference sentence",
    "slider": "a rating on a slider",
    "best_worst": "best-worst scaling of small sets of sentences",
}
RULE_WORDS = {
    "blimp": (
        "a paradigm is included if a strict majority preferred the expected member in at least four of "
        "every five pairs (Warstadt et al. 2020)"
    ),
    "climp": "a paradigm is included if its mean accuracy is at least .85 (Xiang et al. 2021)",
}
TIE_WORDS = {"strict": "do not count as agreement", "half": "count one half", "drop": "are left out"}
REFERENCES = {
    "wilson": (
        "Brown, Cai & DasGupta (2001). Interval estimation for a binomial proportion. Statistical Science 16."
    ),
    "z": (
        "Schütze & Sprouse (2013). Judgment data. In Research Methods in Linguistics. "
        "Cambridge University Press."
    ),
    "blimp": (
        "Warstadt et al. (2020). BLiMP: The Benchmark of Linguistic Minimal Pairs for English. TACL 8."
    ),
    "climp": "Xiang et al. (2021). CLiMP: A Benchmark for Chinese Language Model Evaluation. EACL.",
    "flow": "Moher et al. (2010). CONSORT 2010 explanation and elaboration. BMJ 340.",
}


@dataclass(frozen=True)
class Facts:
    """Everything the texts of a release state."""

    slug: str
    title: str
    task: str
    language: str
    code_version: str
    seed: int
    exclusions: str
    ties: str
    n_min: int
    description: str = ""
    licence: str = ""
    source: str = ""
    materials: str = ""
    rule: str = ""
    first_answer: str = ""
    last_answer: str = ""
    counts: dict[str, int] = field(default_factory=dict)
    """Participants, judgments (both also kept), sessions, sentences, pairs, discarded pairs."""
    flow: Sequence[dict[str, Any]] = ()
    agreement: dict[str, Any] | None = None
    """The block over all paradigms, and the block over included ones."""
    undecided: str = ""
    """How often both and neither were answered, and how they count."""
    n_simulated: int = 0
    """Participants who were no people."""


def label_rule(task: str) -> str:
    """Give the rule by which a task's labels are made.

    Parameters
    ----------
    task : str

    Returns
    -------
    str

    Examples
    --------
    >>> label_rule("forced_choice").partition(",")[0]
    'expected if more than half of the kept judgments chose the expected member'
    """
    return LABEL_RULES["rating" if task in RATING_TASKS else task if task in LABEL_RULES else "forced_choice"]


def methods_text(facts: Facts) -> str:
    """Write the methods paragraph: participants, task, exclusions, aggregation, agreement, references.

    Parameters
    ----------
    facts : Facts

    Returns
    -------
    str
        Markdown.

    See Also
    --------
    dataset_card : The whole card.
    """
    sentences = [_collected(facts), _excluded(facts), _aggregated(facts), *_agreement(facts), _made(facts)]
    cited = _cited(facts)
    return f"# Methods\n\n{' '.join(sentences)}\n\n## References\n\n" + "".join(
        f"- {line}\n" for line in cited
    )


def dataset_card(facts: Facts, files: Sequence[tuple[str, str]]) -> str:
    """Write the card that opens the release.

    Parameters
    ----------
    facts : Facts
    files : sequence of (str, str)
        Name and one sentence for each file.

    Returns
    -------
    str
        Markdown with a YAML head, as dataset hubs read it.

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
        f"{_whose(facts)} acceptability judgments by {TASK_WORDS.get(facts.task, facts.task)}.",
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
        f"{_excluded(facts)} Nothing was deleted: excluded rows stand in `judgments.csv` with `excluded_by`.",
        "",
        *_flow_table(facts.flow),
        "## People",
        "",
        "Participants are pseudonyms. No identifier of any platform is part of this release.",
        "",
    ]
    return "\n".join([*head, *body])


def _collected(facts: Facts) -> str:
    counts = facts.counts
    when = ""
    if facts.first_answer:
        when = f" between {facts.first_answer[:10]} and {facts.last_answer[:10]}"
        when = when if facts.first_answer[:10] != facts.last_answer[:10] else f" on {facts.first_answer[:10]}"
    return (
        f"{_participants(facts)} gave {counts.get('judgments', 0):,} judgments"
        f"{when}. The task was {TASK_WORDS.get(facts.task, facts.task)} (language: {facts.language})."
    )


def _whose(facts: Facts) -> str:
    return "Simulated" if _all_simulated(facts) else "Human"


def _simulation(facts: Facts) -> list[str]:
    """A paragraph where participants were simulated, so that nobody takes their answers for people's."""
    if not facts.n_simulated:
        return []
    who = "All" if _all_simulated(facts) else f"{facts.n_simulated:,} of {facts.counts['participants']:,}"
    return ["", f"**{who} participants were simulated**; `participants.csv` says which."]


def _participants(facts: Facts) -> str:
    n = f"{facts.counts.get('participants', 0):,}"
    if _all_simulated(facts):
        return f"{n} simulated participants"
    return f"{n} participants" + (f" ({facts.n_simulated:,} of them simulated)" if facts.n_simulated else "")


def _all_simulated(facts: Facts) -> bool:
    return 0 < facts.n_simulated >= facts.counts.get("participants", 0)


def _excluded(facts: Facts) -> str:
    counts = facts.counts
    if not facts.exclusions:
        return "No judgment was excluded."
    gone = counts.get("judgments", 0) - counts.get("judgments_kept", 0)
    return (
        f"Exclusions followed {facts.exclusions}; they removed {gone:,} judgments and left "
        f"{counts.get('judgments_kept', 0):,} of {counts.get('participants_kept', 0):,} participants."
    )


def _aggregated(facts: Facts) -> str:
    if facts.task in RATING_TASKS:
        return (
            "Ratings were standardized within each participant (ddof 1, over target and filler trials, at "
            "least four ratings; participants who gave one answer throughout were left out) and averaged by "
            "sentence (Schütze & Sprouse 2013)."
        )
    return (
        f"Labels: {label_rule(facts.task)}; items with fewer than {facts.n_min} kept judgments are "
        "undecided. Intervals of single items are Wilson score intervals (Brown et al. 2001)."
        + (f" Participants could also answer without a choice: {facts.undecided}." if facts.undecided else "")
    )


def _agreement(facts: Facts) -> list[str]:
    if not facts.agreement:
        return []
    block = facts.agreement.get("overall_included" if facts.rule else "overall") or {}
    sentences = [_rule(facts)] if facts.rule else []
    shares = {name: block.get(name) for name in ("majority_agreement", "individual_agreement")}
    if shares["majority_agreement"] is not None:
        sentences.append(
            f"The majority agreed with the expected label on {block.get('items_right')} of "
            f"{block.get('items')} items ({_percent(shares['majority_agreement'])}; "
            f"ties {TIE_WORDS.get(facts.ties, facts.ties)})."
        )
    if shares["individual_agreement"] is not None:
        sentences.append(
            f"Individual agreement, the mean of item shares, was {_percent(shares['individual_agreement'])}"
            f"{_interval(block)}."
        )
    return sentences


def _rule(facts: Facts) -> str:
    words = RULE_WORDS.get(facts.rule, f"paradigms are included by the rule {facts.rule}")
    overall, kept = facts.agreement or {}, (facts.agreement or {}).get("overall_included") or {}
    judged = (overall.get("overall") or {}).get("paradigms", 0)
    return f"Inclusion: {words}; {kept.get('paradigms', 0)} of {judged} paradigms are included."


def _interval(block: dict[str, Any]) -> str:
    if block.get("ci_low") is None:
        return ""
    low, high = _percent(block["ci_low"]), _percent(block["ci_high"])
    return f" (95 % interval {low} to {high}, bootstrap over participants)"


def _made(facts: Facts) -> str:
    return f"The release was made by Obelus {facts.code_version} with seed {facts.seed}."


def _cited(facts: Facts) -> list[str]:
    keys = ["z"] if facts.task in RATING_TASKS else ["wilson"]
    keys += [facts.rule] if facts.rule in REFERENCES else []
    return sorted(REFERENCES[key] for key in [*keys, *(["flow"] if facts.flow else [])])


def _flow_table(flow: Sequence[dict[str, Any]]) -> list[str]:
    if not flow:
        return []
    columns = [name for name in flow[0] if not isinstance(flow[0][name], dict | list)]
    return [*_table(columns, [[row.get(name, "") for name in columns] for row in flow]), ""]


def _table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[str]:
    lines = [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}"]
    return lines + [f"| {' | '.join(_shown(cell) for cell in row)} |" for row in rows]


def _shown(cell: Any) -> str:
    if cell is None:
        return ""
    return f"{cell:,}" if isinstance(cell, int) else str(cell).replace("|", "\\|").replace("\n", " ")


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
