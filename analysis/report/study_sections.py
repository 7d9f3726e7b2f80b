"""The sections of a report that tell how a study was made: design, and the flow of participants."""

from collections.abc import Sequence
from typing import Any

from analysis.plurals import plural
from analysis.report.content import Block, Facts, Figure, Paragraph, Section, Table
from analysis.report.methods import task_words
from analysis.report.released import Released
from analysis.report.wording import NONE, count, ends, readable, share

STAGES = {
    "opened": "opened the study",
    "consented": "consented",
    "started": "gave an answer",
    "finished": "finished",
}
ENDED = {
    "complete": "completed",
    "refused": "ended with consent declined",
    "screened_out": "screened out",
    "abandoned": "left before the end",
    "withdrawn": "withdrawn and erased",
    "active": "still going on",
}
FEW = 5


def design_section(released: Released, numbers: dict[str, Any]) -> Section:
    """Say what was judged, how lists were made, and which texts and versions stood behind it.

    Parameters
    ----------
    released : Released
    numbers : dict
        From :func:`analysis.report.numbers.report_numbers`.

    Returns
    -------
    Section
    """
    study = released.study
    rows = [
        ("Task", task_words(study["task"])),
        *([("Round", f"{study['round']} alone, like a study of its own")] if study.get("round") else []),
        *_parameters(study),
        *_materials(study.get("materials")),
        *_design(study),
        *_lists(study),
        *_texts(study),
        *[
            (f"Version {one['number']}", f"frozen {one['frozen']}, SHA-256 {one['sha256']}")
            for one in study["versions"]
        ],
        *_rest(released),
    ]
    blocks: list[Block] = [Paragraph(study["description"])] if study["description"] else []
    if study["simulated"]:
        blocks.append(
            Paragraph(
                f"{plural(study['simulated'], 'participant')} of this study were simulated: "
                "their answers say nothing about people."
            )
        )
    return Section("design", "Design", [*blocks, Facts(rows)])


def flow_section(released: Released, numbers: dict[str, Any], figures: Sequence[Figure]) -> Section:
    """Say who came, who left where, and what the plan removed.

    Parameters
    ----------
    released : Released
    numbers : dict
        From :func:`analysis.report.numbers.report_numbers`.
    figures : sequence of Figure
        Those that apply to the study.

    Returns
    -------
    Section
    """
    study, found = released.study, numbers["exclusions"]
    blocks: list[Block] = [Paragraph(_who(study))]
    blocks += [one for one in figures if one.name == "flow"]
    screens = study["flow"]["screens"]
    if screens:
        rows = [(one["screen"], count(one["reached"]), count(one["left"])) for one in screens]
        blocks.append(Table("Sessions by screen", ("Screen", "Reached", "Left here"), rows))
    blocks += _exclusions(released, found)
    return Section("flow", "Participants and exclusions", blocks)


def _parameters(study: dict[str, Any]) -> list[tuple[str, str]]:
    given = study["parameters"]
    rows = [("Question", str(given["question"]))] if given.get("question") else []
    if given.get("points"):
        rows.append(("Scale", f"{given['points']} points"))
    if given.get("modulus"):
        rows.append(("Modulus", f"{given['modulus']} for: {given.get('reference') or 'the reference'}"))
    if study["undecided"]:
        rows.append(("Both and neither", f"could be answered; counted as {readable(study['undecided'])}"))
    return rows if study["origin"] == "collected" else []


def _materials(materials: dict[str, Any] | None) -> list[tuple[str, str]]:
    if not materials:
        return []
    sizes = [
        plural(materials[name], one, many)
        for name, one, many in (
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


def _language(one: dict[str, Any]) -> str:
    return f"{one['language_name']} ({one['language']})"


def _design(study: dict[str, Any]) -> list[tuple[str, str]]:
    design = study["design"]
    if not design:
        return [("Design", "not known: the judgments were imported")] if study["origin"] == "imported" else []
    rows = [("Design", design["scheme"] + (f" (k = {design['items_per_paradigm']})" if
             design["items_per_paradigm"] else ""))]  # fmt: skip
    rows += [("Rounds", str(design["rounds"]))] if design["rounds"] > 1 else []
    rows += [("Fillers", design["fillers"])] if design["fillers"] else []
    return [
        *rows,
        ("Judgments wanted per item", count(design["wanted"])),
        ("Seed of the lists", str(design["seed"])),
    ]


def _lists(study: dict[str, Any]) -> list[tuple[str, str]]:
    lists = study["lists"]
    if not lists:
        return []
    kinds = [
        f"{low if low == high else f'{low}–{high}'} {kind}"
        for kind, (low, high) in sorted(lists["trials"].items(), key=lambda one: (one[0] != "target", one[0]))
        if high
    ]
    return [("Lists", f"{lists['n']}, each of {', '.join(kinds)} trials")]


def _texts(study: dict[str, Any]) -> list[tuple[str, str]]:
    if study["origin"] == "imported":
        return []
    rows = [("Language of the texts", _language(study))]
    rows += [("Texts shown", ", ".join(study["texts"]))] if study["texts"] else []
    rows += [("Questions to participants", ", ".join(study["questions"]))] if study["questions"] else []
    return [*rows, ("Questions on the instructions", count(study["quiz"]))] if study["quiz"] else rows


def _rest(released: Released) -> list[tuple[str, str]]:
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


def _who(study: dict[str, Any]) -> str:
    people, ended = study["flow"]["people"], study["flow"]["ended"]
    if study["origin"] == "imported":
        return (
            f"The judgments were imported: {plural(people['opened'], 'participant')} in "
            f"{plural(study['flow']['sessions'], 'session')}. Who arrived without answering is not known."
        )
    stages = ", ".join(f"{count(people[name])} {words}" for name, words in STAGES.items() if name in people)
    ways = [f"{count(ended[name])} {words}" for name, words in ENDED.items() if ended.get(name)]
    beside = f" Of {plural(study['flow']['sessions'], 'session')}: {', '.join(ways)}." if ways else ""
    return f"{stages[0].upper()}{stages[1:]}.{beside}"


def _exclusions(released: Released, found: dict[str, Any]) -> list[Block]:
    if not released.steps:
        return [Paragraph("No judgment was excluded.")]
    reasons = {step["name"]: readable(step["name"]) for step in released.steps}
    alone = {row["step"]: row for row in found["marginal"]}
    rows = [
        (
            "all who judged" if row["step"] == "all" else reasons[row["step"]],
            count(row["participants_removed"]) if row["step"] != "all" else NONE,
            count(row["judgments_removed"]) if row["step"] != "all" else NONE,
            count(alone[row["step"]]["judgments"]) if row["step"] in alone else NONE,
            count(row["participants_left"]),
            count(row["judgments_left"]),
        )
        for row in found["flow"]
    ]
    head = (
        "Step",
        "Participants out",
        "Judgments out",
        "Out by it alone",
        "Participants left",
        "Judgments left",
    )
    note = "A row is counted under the first step that removes it; every step looks at all rows."
    blocks: list[Block] = [
        Table("Exclusions step by step (judgments are answered targets)", head, rows, note=note)
    ]
    groups = [row for row in found["groups"] if row["group"] in ("native",) or row["participants"] >= FEW]
    told = [row for row in groups if row["removed"] and row["group"] not in ("list", "submission_status")]
    if told:
        blocks.append(
            Table(
                "Removed participants by group",
                ("Group", "Participants", "Removed", "Share", "95 % CI"),
                [
                    (
                        f"{readable(row['group'])}: {row['value']}",
                        count(row["participants"]),
                        count(row["removed"]),
                        share(row["share"]),
                        ends(row["ci_low"], row["ci_high"], percent=True),
                    )
                    for row in told
                ],
                note="Shares with Wilson intervals. Shown to see whether a criterion removes a kind "
                "of people.",
            )
        )
    return blocks
