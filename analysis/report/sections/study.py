"""Report sections on the design of a study, the participant flow and exclusions."""

from collections.abc import Sequence
from typing import Any

from ...text import plural
from ..content import Block, Facts, Figure, Paragraph, Section, Table
from ..findings import task_label
from ..released import Released
from ..wording import NONE, SENTENCES, count, format_interval, readable, share

STAGES = {
    "opened": "opened the study",
    "consented": "consented",
    "started": "answered at least one trial",
    "finished": "finished",
}
ENDED = {
    "complete": "completed",
    "refused": "declined consent",
    "screened_out": "screened out",
    "abandoned": "left before completing",
    "withdrawn": "withdrawn and erased",
    "active": "still in progress",
}
GROUPS = {
    ("native", "true"): "native speakers",
    ("native", "false"): "not native speakers",
    ("native", "unknown"): "native language unknown",
}
MIN_GROUP_SIZE = 5
"""Smaller groups are omitted from the table of removed participants."""


def design_section(released: Released, numbers: dict[str, Any]) -> Section:
    """Build the section on task, materials, lists, texts and versions."""
    study = released.study
    rows = [
        ("Task", task_label(study["task"])),
        *([("Round", f"{study['round']} only, analysed as a separate study")] if study.get("round") else []),
        *_parameters(study),
        *_materials(study.get("materials")),
        *_design(study),
        *_lists(study),
        *_texts(study),
        *[
            (f"Version {version['number']}", f"frozen {version['frozen']}, SHA-256 {version['sha256']}")
            for version in study["versions"]
        ],
        *_provenance(released),
    ]
    blocks: list[Block] = [Paragraph(study["description"])] if study["description"] else []
    if study["simulated"]:
        blocks.append(
            Paragraph(
                f"{plural(study['simulated'], 'simulated participant')} took part in this study: "
                "simulated answers are no evidence about human judgments."
            )
        )
    return Section("design", "Design", [*blocks, Facts(rows)])


def flow_section(released: Released, numbers: dict[str, Any], figures: Sequence[Figure]) -> Section:
    """Build the section on participant flow, drop-out and exclusions."""
    study, exclusions = released.study, numbers["exclusions"]
    blocks: list[Block] = [Paragraph(_participant_flow(study))]
    blocks += [figure for figure in figures if figure.name == "flow"]
    screens = study["flow"]["screens"]
    if screens:
        rows = [(screen["screen"], count(screen["reached"]), count(screen["left"])) for screen in screens]
        blocks.append(Table("Sessions by screen", ("Screen", "Reached", "Left here"), rows))
    blocks += _exclusions(released, exclusions)
    return Section("flow", "Participants and exclusions", blocks)


def _parameters(study: dict[str, Any]) -> list[tuple[str, str]]:
    parameters = study["parameters"]
    rows = [("Question", str(parameters["question"]))] if parameters.get("question") else []
    if parameters.get("points"):
        rows.append(("Scale", f"{parameters['points']} points"))
    if parameters.get("modulus"):
        rows.append(
            ("Modulus", f"{parameters['modulus']} for: {parameters.get('reference') or 'the reference'}")
        )
    if study["undecided"]:
        rows.append(("Both and neither", f"allowed as answers; counted as {readable(study['undecided'])}"))
    return rows if study["origin"] == "collected" else []


def _materials(materials: dict[str, Any] | None) -> list[tuple[str, str]]:
    if not materials:
        return []
    sizes = [
        plural(materials[name], singular, plural_form)
        for name, singular, plural_form in (
            ("phenomena", "phenomenon", "phenomena"),
            ("paradigms", "paradigm", ""),
            ("items", "item", ""),
            ("sentences", "sentence", ""),
            ("pairs", "minimal pair", ""),
        )
        if materials[name]
    ]
    rows = [("Materials", f"{materials['name']}: {', '.join(sizes)}")]
    rows += [("Language of the sentences", _language(materials))]
    rows += [("Source", materials["source"])] if materials["source"] else []
    rows += [("Licence", materials["licence"])] if materials["licence"] else []
    return [*rows, ("SHA-256 of the materials", materials["checksum"])]


def _language(materials: dict[str, Any]) -> str:
    name, tag = materials["language_name"], materials["language"]
    return "not stated" if tag == "und" else f"{name} ({tag})"


def _design(study: dict[str, Any]) -> list[tuple[str, str]]:
    design = study["design"]
    if not design:
        return [("Design", "unknown: the judgments were imported")] if study["origin"] == "imported" else []
    rows = [("Design", design["scheme"] + (f" (k = {design['items_per_paradigm']})" if
             design["items_per_paradigm"] else ""))]  # fmt: skip
    rows += [("Rounds", str(design["rounds"]))] if design["rounds"] > 1 else []
    rows += [("Fillers", design["fillers"])] if design["fillers"] else []
    rows += [("Order of the trials", design["order"])] if design.get("order") else []
    return [
        *rows,
        (
            "Target",
            f"{count(design['wanted'])} {design.get('wanted_of', 'judgments of each item')}"
            if design["wanted"]
            else "none",
        ),
        ("Seed of the lists", str(design["seed"])),
    ]


def _lists(study: dict[str, Any]) -> list[tuple[str, str]]:
    lists = study["lists"]
    if not lists:
        return []
    kinds = [
        f"{low if low == high else f'{low}–{high}'} {kind}"
        for kind, (low, high) in sorted(
            lists["trials"].items(), key=lambda entry: (entry[0] != "target", entry[0])
        )
        if high
    ]
    return [("Lists", f"{lists['n']}, each of {', '.join(kinds)} trials")]


def _texts(study: dict[str, Any]) -> list[tuple[str, str]]:
    if study["origin"] == "imported":
        return []
    rows = [("Language of the texts", _language(study))]
    rows += [("Texts shown", ", ".join(study["texts"]))] if study["texts"] else []
    rows += [("Questions to participants", ", ".join(study["questions"]))] if study["questions"] else []
    return [*rows, ("Comprehension questions", count(study["quiz"]))] if study["quiz"] else rows


def _provenance(released: Released) -> list[tuple[str, str]]:
    study, manifest = released.study, released.manifest
    first, last = study["answered"]["first"], study["answered"]["last"]
    rows = [("Answers", f"{first[:10]} to {last[:10]}")] if first else []
    rows += [("Median duration", f"{study['median_minutes']} minutes")] if study["median_minutes"] else []
    plan = manifest["plan"]
    steps = ", ".join(readable(step["name"]) for step in plan["steps"]) or "none"
    when = ", fixed before the first response" if plan["locked_before_first_response"] else ""
    rows.append(("Exclusion plan", f"{steps}{when}; SHA-256 {plan['sha256']}" if plan["steps"] else "none"))
    return [
        *rows,
        ("Inclusion rule", released.options["rule"] or "none"),
        ("Seed", str(released.options["seed"])),
    ]


def _participant_flow(study: dict[str, Any]) -> str:
    people, ended = study["flow"]["people"], study["flow"]["ended"]
    if study["origin"] == "imported":
        return (
            f"The judgments were imported: {plural(people['opened'], 'participant')} in "
            f"{plural(study['flow']['sessions'], 'session')}. "
            "The number of visitors who gave no answer is unknown."
        )
    stages = ", ".join(f"{count(people[name])} {words}" for name, words in STAGES.items() if name in people)
    ways = [f"{count(ended[name])} {words}" for name, words in ENDED.items() if ended.get(name)]
    beside = f" Of {plural(study['flow']['sessions'], 'session')}: {', '.join(ways)}." if ways else ""
    return f"{stages[0].upper()}{stages[1:]}.{beside}"


def _exclusions(released: Released, exclusions: dict[str, Any]) -> list[Block]:
    if not released.steps:
        return [Paragraph("No judgment was excluded.")]
    reasons = {step["name"]: readable(step["name"]) for step in released.steps}
    alone = {row["step"]: row for row in exclusions["marginal"]}
    rows = [
        (
            "before exclusion" if row["step"] == "all" else reasons[row["step"]],
            count(row["participants_removed"]) if row["step"] != "all" else NONE,
            count(row["judgments_removed"]) if row["step"] != "all" else NONE,
            count(alone[row["step"]]["judgments"]) if row["step"] in alone else NONE,
            count(row["participants_left"]),
            count(row["judgments_left"]),
        )
        for row in exclusions["flow"]
    ]
    head = (
        "Step",
        "Participants removed",
        "Judgments removed",
        "Removed by it alone",
        "Participants left",
        "Judgments left",
    )
    note = f"{SENTENCES['first_step']} Each step is evaluated on all rows."
    blocks: list[Block] = [
        Table("Exclusions step by step (judgments are answered targets)", head, rows, note=note)
    ]
    groups = [
        row
        for row in exclusions["groups"]
        if row["group"] in ("native",) or row["participants"] >= MIN_GROUP_SIZE
    ]
    listed_groups = [
        row for row in groups if row["removed"] and row["group"] not in ("list", "submission_status")
    ]
    if listed_groups:
        blocks.append(
            Table(
                "Removed participants by group",
                ("Group", "Participants", "Removed", "Share", "95 % CI"),
                [
                    (
                        GROUPS.get((row["group"], row["value"]), f"{readable(row['group'])}: {row['value']}"),
                        count(row["participants"]),
                        count(row["removed"]),
                        share(row["share"]),
                        format_interval(row["ci_low"], row["ci_high"], percent=True),
                    )
                    for row in listed_groups
                ],
                note="Shares with Wilson intervals; they show whether the exclusions affect some groups more "
                "than others.",
            )
        )
    return blocks
