"""The sections of a report that test contrasts: five analyses, interactions, power of a next study."""

from collections.abc import Sequence
from typing import Any

from analysis.plurals import plural
from analysis.report.content import Block, Figure, Paragraph, Section, Table
from analysis.report.findings import effects_words, interaction_words
from analysis.report.result_sections import LONG
from analysis.report.wording import NONE, bayes, count, decimal, ends, p_value, readable, share
from analysis.rows import RATING_TASKS

ANALYSES = {
    "direction": "Direction of the difference",
    "two_tailed": "Two-tailed test",
    "one_tailed": "One-tailed test",
    "bayes_factor": "Bayes factor",
    "mixed_model": "Mixed model",
}
OUTCOMES = {"converges": "✓", "reversed": "reversed", "null": "null", "not_estimable": NONE}


def effects_section(numbers: dict[str, Any], figures: Sequence[Figure]) -> tuple[Section, list[Block]]:
    """Test every contrast in five ways; the second part is for the appendix.

    Parameters
    ----------
    numbers : dict
        From :func:`analysis.report.numbers.report_numbers`.
    figures : sequence of Figure
        Those that apply to the study.

    Returns
    -------
    section : Section
    appendix : list of Block
        What stands in the appendix.
    """
    found = numbers["effects"]
    title = "Contrasts: five analyses"
    factorial = _interactions(numbers)
    if not found.get("analyses"):
        why = found.get("refused") or "no contrast of acceptable and unacceptable sentences was judged."
        return Section("effects", title, [Paragraph(f"Not estimable: {why}"), *factorial]), []
    table = _contrasts(found, numbers)
    rates = Table(
        "How many contrasts hold",
        ("Analysis", "Converge", "Reversed", "Null", "Not estimable", "Rate", "95 % CI"),
        [
            (
                ANALYSES[row["analysis"]],
                count(row["converges"]),
                count(row["reversed"]),
                count(row["null"]),
                count(row["not_estimable"]),
                share(row["rate"]),
                ends(row["ci_low"], row["ci_high"], percent=True),
            )
            for row in found["rates"]
        ],
        note=f"Criterion: {found['conventions']['criterion']}. Rate: of the estimable; Wilson interval.",
    )
    blocks: list[Block] = [Paragraph(effects_words(numbers))] if effects_words(numbers) else []
    has_rates = len(found["effects"]) > 1
    blocks += [rates] if has_rates else []
    drawn: list[Block] = [one for one in figures if one.name in ("five-analyses", "effect-sizes")]
    blocks += drawn if len(table.rows) <= LONG else []
    blocks += factorial
    if len(table.rows) <= LONG:
        return Section("effects", title, [*blocks, table]), []
    blocks.append(Paragraph(f"All {len(table.rows)} contrasts stand in the appendix."))
    return Section("effects", title, blocks), [*drawn, table]


def power_section(numbers: dict[str, Any], figures: Sequence[Figure]) -> Section:
    """Say how many participants a next study needs; never the power of the study that gave the data.

    Parameters
    ----------
    numbers : dict
        From :func:`analysis.report.numbers.report_numbers`.
    figures : sequence of Figure
        Those that apply to the study.

    Returns
    -------
    Section
    """
    found = numbers["power"]
    title = "Power of a replication"
    if "refused" in found:
        return Section("power", title, [Paragraph(f"Not estimable: {found['refused']}")])
    enough = next((row["n"] for row in found["sizes"] if row["share_powered"] >= 0.8), None)
    said = (
        f"In samples drawn from the participants of this study, {plural(enough, 'participant')} would give a "
        "power of at least .8 to four in five contrasts"
        if enough
        else "No size up to "
        f"{found['sizes'][-1]['n']} participants would give four in five contrasts a power of at least .8"
    )
    few = (
        " The study has fewer than 30 participants, so these powers are too high."
        if found["few_in_pilot"]
        else ""
    )
    has_ends = "share_sure" in found["sizes"][0]
    ends = f"Lower end: {found['conventions']['share_sure']}. " if has_ends else ""
    exact = found["test"] == "exact sign test"
    test = (
        "t of participants' shares against ½"
        if found["task"] == "forced_choice" and not exact
        else found["test"]
    )
    table = Table(
        "Share of contrasts with a power of at least .8",
        ("Participants", "Contrasts", "Powered", *(["also at its lower end"] if has_ends else [])),
        [
            (
                count(row["n"]),
                count(row["phenomena"]),
                share(row["share_powered"]),
                *([share(row["share_sure"])] if has_ends else []),
            )
            for row in found["sizes"]
        ],
        note=f"Test: {test}, {found['conventions']['criterion']}. Numbers of "
        f"{found['conventions']['participants']}. {ends}The power of the study itself, computed "
        "from its own result, repeats the p value and is not given (Hoenig & Heisey 2001); what the study "
        "could tell stands in its confidence intervals.",
    )
    drawn = [one for one in figures if one.name == "power-share"]
    return Section("power", title, [Paragraph(f"{said}.{few}"), table, *drawn])


def _contrasts(found: dict[str, Any], numbers: dict[str, Any]) -> Table:
    by = found["by"]
    rows_of: dict[str, dict[str, dict[str, Any]]] = {}
    for row in found["analyses"]:
        rows_of.setdefault(row[by], {})[row["analysis"]] = row
    is_choice = numbers["task"] == "forced_choice"
    rows = [_contrast(effect, rows_of[effect[by]], by=by, is_choice=is_choice) for effect in found["effects"]]
    measure = "Share" if is_choice else "Difference"
    head = ("Contrast", measure, "95 % CI", "d_z", "p", "p (Holm)", "BF₁₀", "p (mixed)", "Holds in")
    unit = "z" if numbers["task"] in RATING_TASKS else "share of yes"
    said = (
        "Share: of choices of the expected member"
        if is_choice
        else f"Difference: acceptable minus unacceptable ({unit})"
    )
    note = (
        f"{said}. p: two-tailed, {_methods(found, 'two_tailed')}; BF₁₀: {_methods(found, 'bayes_factor')}; "
        f"mixed: {_methods(found, 'mixed_model')}. Holds in: analyses of five whose criterion is met in the "
        "expected direction."
    )
    return Table(f"The five analyses by {by}", head, rows, note=note)


def _contrast(
    effect: dict[str, Any], rows: dict[str, dict[str, Any]], *, by: str, is_choice: bool
) -> tuple[str, ...]:
    if is_choice:
        size = share(effect.get("share"))
        interval = ends(effect.get("share_low"), effect.get("share_high"), percent=True)
    else:
        size = decimal(effect["mean_difference"], 2)
        interval = ends(effect["ci_low"], effect["ci_high"])
    mixed = rows["mixed_model"]
    holds = sum(row["outcome"] == "converges" for row in rows.values())
    return (
        readable(effect[by]) or "all",
        size,
        interval,
        decimal(effect.get("d_z"), 2),
        p_value(rows["two_tailed"]["p"]),
        p_value(rows["two_tailed"]["p_holm"]),
        bayes(rows["bayes_factor"]["statistic"]),
        p_value(mixed["p"]) if mixed["p"] is not None else readable(mixed["status"]),
        f"{holds}/5",
    )


def _methods(found: dict[str, Any], analysis: str) -> str:
    methods = dict.fromkeys(row["method"] for row in found["analyses"] if row["analysis"] == analysis)
    return " or ".join(name for name in methods if name) or NONE


def _interactions(numbers: dict[str, Any]) -> list[Block]:
    found = numbers["effects"].get("interactions")
    if not found:
        return []
    rows = [
        (
            readable(row[numbers["by"]]) or "all",
            f"{readable(row['first']['marked'])} × {readable(row['second']['marked'])}",
            decimal(row["participants"]["estimate"], 2),
            ends(row["participants"]["ci_low"], row["participants"]["ci_high"]),
            decimal(row["mixed"]["estimate"], 2),
            ends(row["mixed"]["ci_low"], row["mixed"]["ci_high"]),
            p_value(row["mixed"]["p"]),
            p_value(row["p_holm"]),
        )
        for row in found
    ]
    head = (
        "Contrast",
        "Marked levels",
        "By participants",
        "95 % CI",
        "Mixed model",
        "95 % CI",
        "p",
        "p (Holm)",
    )
    note = (
        "Difference of differences: the cost of the first factor's marked level at the marked level of the "
        "second, less its cost at the plain level. By participants: paired t; the mixed model has crossed "
        "random intercepts, Satterthwaite's degrees of freedom, and gives the p. A floor or a ceiling of the "
        "scale can make or hide an interaction."
    )
    if any(row["oriented_by"] == "alphabetical" for row in found):
        note += " No condition is expected to be unacceptable: marked are the later levels in the alphabet."
    table = Table("Interactions of 2×2 designs", head, rows, frozenset({1}), note=note)
    return [Paragraph(interaction_words(numbers)), table] if interaction_words(numbers) else [table]
