"""The sections of a report that tell what people said: agreement, reliability, ratings."""

from collections.abc import Sequence
from typing import Any

from analysis.report.content import Block, Figure, Headline, Paragraph, Section, Table
from analysis.report.findings import agreement_words, reliability_words
from analysis.report.wording import NONE, count, decimal, ends, readable, share
from analysis.rows import RATING_TASKS

LONG = 24
"""Rows of a table that still stands in the text; longer ones go to the appendix."""
MEASURES = {
    "percent": "Pairwise agreement",
    "fleiss_kappa": "Fleiss' κ",
    "gwet_ac1": "Gwet's AC1",
    "alpha_nominal": "Krippendorff's α, nominal",
    "alpha_ordinal": "Krippendorff's α, ordinal",
    "alpha_interval": "Krippendorff's α, interval",
    "alpha_ratio": "Krippendorff's α, ratio",
    "cohen_kappa": "Cohen's κ, mean of pairs",
    "cohen_kappa_linear": "Cohen's κ, linear weights",
    "cohen_kappa_quadratic": "Cohen's κ, quadratic weights",
}
CODED = {"label_blind": "label-blind", "expected": "by expected label"}
AGREEMENT_HEAD = ("", "Items right", "Ties", "Majority", "Individual", "95 % CI", "Judgments")


def headline_block(numbers: dict[str, Any]) -> Headline:
    """Give the few numbers a reader looks for first.

    Parameters
    ----------
    numbers : dict
        From :func:`analysis.report.numbers.report_numbers`.

    Returns
    -------
    Headline
    """
    found, counts = numbers["agreement"], numbers["counts"]
    flow = numbers["exclusions"].get("flow") or []
    rows = []
    if flow:
        of = f"of {count(flow[0]['participants_left'])}" if len(flow) > 1 else "nobody excluded"
        rows.append(("Participants", count(flow[-1]["participants_left"]), of))
        of = f"of {count(flow[0]['judgments_left'])}" if len(flow) > 1 else "none excluded"
        rows.append(("Judgments", count(flow[-1]["judgments_left"]), of))
    else:
        rows.append(("Participants", count(counts["participants"]), ""))
    if "refused" not in found and found["overall"]["individual_agreement"] is not None:
        block = found["overall_included"]
        if found["rule"]:
            short = sum(row["status"] == "insufficient_items" for row in found["paradigms"])
            of = f"of {found['overall']['paradigms'] - short}, rule {found['rule']}"
            rows.append(("Paradigms included", count(block["paradigms"]), of))
        if block["majority_agreement"] is not None:
            of = f"{block['items_right']} of {block['items']} items"
            rows.append(("Majority agreement", share(block["majority_agreement"]), of))
        interval = ends(block["ci_low"], block["ci_high"], percent=True)
        rows.append(("Individual agreement", share(block["individual_agreement"]), f"95 % CI {interval}"))
    elif numbers["effects"].get("rates"):
        rates = {row["analysis"]: row for row in numbers["effects"]["rates"]}
        row = rates["two_tailed"]
        rows.append(("Contrasts that hold", count(row["converges"]), f"of {row['estimable']}, two-tailed"))
    return Headline(rows)


def agreement_section(numbers: dict[str, Any], figures: Sequence[Figure]) -> tuple[Section, list[Block]]:
    """Say how far people agree with the expected labels; the second part is for the appendix.

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
    found = numbers["agreement"]
    if "refused" in found or found["overall"]["individual_agreement"] is None:
        nobody = (
            "nobody rated both sides of an item, so no rating can agree with the expected order; the "
            "contrasts below compare means instead."
        )
        has_sides = numbers["task"] in RATING_TASKS and numbers["effects"].get("analyses")
        why = found.get("refused") or (nobody if has_sides else "no item has an expected label.")
        return Section("agreement", "Agreement", [Paragraph(f"Not estimable: {why}")]), []
    rows = [_agreement_row("All paradigms", found["overall"])]
    if found["rule"]:
        rows.append(_agreement_row(f"Included ({found['rule']})", found["overall_included"]))
    named = [row for row in found["phenomena"] if row["phenomenon"]]
    rows += [_agreement_row(readable(row["phenomenon"]), row) for row in named]
    pooled = found["overall_included"]["individual_agreement_pooled"]
    blocks: list[Block] = [
        Paragraph(agreement_words(numbers)),
        Table(
            "Agreement with the expected labels",
            AGREEMENT_HEAD,
            rows,
            note="Individual: mean of item shares; its interval resamples participants. Pooled over all "
            f"judgments, individual agreement is {share(pooled)}. Items with fewer than "
            f"{found['conventions']['n_min']} judgments are left out.",
        ),
    ]
    table = _paradigms(found)
    drawn: list[Block] = [one for one in figures if one.name == "agreement"]
    blocks += drawn if len(table.rows) <= LONG else []
    position = found["position"]
    if position["p_first"] is not None:
        blocks.append(Paragraph(_position(position)))
    if found["undecided"]:
        blocks.append(Paragraph(f"Answers that chose no member: {found['undecided']['statement']}."))
    blocks += [one for one in figures if one.name == "items"]
    if len(table.rows) <= 1:
        return Section("agreement", "Agreement and inclusion", blocks), []
    if len(table.rows) <= LONG:
        return Section("agreement", "Agreement and inclusion", [*blocks, table]), []
    blocks.append(Paragraph(f"All {len(table.rows)} paradigms stand in the appendix."))
    return Section("agreement", "Agreement and inclusion", blocks), [*drawn, table]


def reliability_section(numbers: dict[str, Any], figures: Sequence[Figure]) -> Section:
    """Say how far people agree with each other, and the ceilings.

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
    found = numbers["reliability"]
    if "refused" in found:
        return Section("reliability", "Reliability", [Paragraph(f"Not estimable: {found['refused']}")])
    rows = [
        (MEASURES.get(row["measure"], row["measure"]), decimal(row["value"]), CODED.get(row["of"], row["of"]))
        for row in found["coefficients"]
        if row["value"] is not None
    ]
    for one in found["icc"]["forms"]:
        if one["value"] is not None:
            of = "mean of k ratings" if one["form"].endswith("k)") else "one rating"
            interval = f", 95 % CI {ends(one['ci_low'], one['ci_high'])}" if one["ci_low"] is not None else ""
            rows.append((one["form"], decimal(one["value"]), f"{of}{interval}"))
    left = [row for row in found["coefficients"] if row["value"] is None]
    reasons = sorted({row["reason"] for row in left if row["reason"]})
    note = f"Not estimable here: {'; '.join(reasons)}." if reasons else ""
    halves = [
        (
            f"Means by {row['unit']}",
            count(row["n_units"]),
            decimal(row["r"]),
            decimal(row["spearman_brown"]),
            ends(row["ci_low"], row["ci_high"]),
            decimal(row["ceiling_model"]),
            decimal(row["ceiling_sample"]),
        )
        for row in found["split_half"]
        if row["spearman_brown"] is not None
    ]
    if not rows and not halves:
        return Section("reliability", "Reliability", [Paragraph(note or "Not estimable.")])
    title = "Agreement of annotators with each other"
    blocks: list[Block] = [
        *([Paragraph(said)] if (said := reliability_words(numbers)) else []),
        *([Table(title, ("Measure", "Value", "Of"), rows, frozenset({2}), note)] if rows else []),
    ]
    if halves:
        head = ("", "Units", "r of halves", "Reliability", "95 % CI", "Ceiling, model", "Ceiling, people")
        text = (
            "Halves of the participants of each list; reliability by Spearman–Brown; interval by a "
            "delete-a-group jackknife. A perfect model can correlate with these means up to the root of the "
            "reliability, another sample of people up to the reliability."
        )
        blocks.append(Table("Split-half reliability and noise ceilings", head, halves, note=text))
    blocks += [one for one in figures if one.name == "reliability"]
    return Section("reliability", "Reliability", blocks)


def _agreement_row(name: str, block: dict[str, Any]) -> tuple[str, ...]:
    return (
        name,
        f"{block['items_right']:g}/{block['items']}" if block["items"] else NONE,
        count(block["ties"]),
        share(block["majority_agreement"]),
        share(block["individual_agreement"]),
        ends(block["ci_low"], block["ci_high"], percent=True),
        count(block["judgments"]),
    )


def _paradigms(found: dict[str, Any]) -> Table:
    words = {"insufficient_items": "too few items", "not_estimable": "not estimable"}
    head = ("Paradigm", *AGREEMENT_HEAD[1:])
    rows = [
        (*_agreement_row(readable(row["paradigm"]) or NONE, row),
         *([words.get(row["status"], row["status"])] if found["rule"] else []))
        for row in found["paradigms"]
    ]  # fmt: skip
    if not found["rule"]:
        return Table("Agreement by paradigm", head, rows)
    return Table(f"Agreement and inclusion by paradigm (rule {found['rule']})", (*head, "Status"), rows,
                 frozenset({len(head)}))  # fmt: skip


def _position(position: dict[str, Any]) -> str:
    low, high = position["ci_low"], position["ci_high"]
    interval = f" (95 % CI {ends(low, high, percent=True)})" if low is not None else ""
    said = f"The sentence shown first was chosen in {share(position['p_first'])} of judgments{interval}"
    first, second = position["accuracy_expected_first"], position["accuracy_expected_second"]
    if first is None or second is None:
        return f"{said}."
    return (
        f"{said}; annotators agreed in {share(first)} with the expected member first, {share(second)} with "
        "it second."
    )
