"""Report sections on agreement with the expected labels and on reliability."""

from collections.abc import Sequence
from typing import Any

from ...reliability.response_styles import REASONS, STYLES
from ...rows import RATING_TASKS
from ...text import plural
from ..content import Block, Figure, Headline, Paragraph, Section, Table
from ..findings import agreement_sentences, reliability_sentences
from ..wording import NONE, count, decimal, format_interval, p_value, readable, share

MAX_INLINE_ROWS = 24
"""Largest number of rows of a table in the text; longer tables are moved to the appendix."""
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
CODING_LABELS = {"label_blind": "label-blind", "expected": "by expected label"}
AGREEMENT_HEAD = ("", "Items agreeing", "Ties", "Majority", "Individual", "95 % CI", "Judgments")


def headline_block(numbers: dict[str, Any]) -> Headline:
    """Build the block of headline figures."""
    agreement, counts = numbers["agreement"], numbers["counts"]
    flow = numbers["exclusions"].get("flow") or []
    rows = []
    if flow:
        of = f"of {count(flow[0]['participants_left'])}" if len(flow) > 1 else "none excluded"
        rows.append(("Participants", count(flow[-1]["participants_left"]), of))
        of = f"of {count(flow[0]['judgments_left'])}" if len(flow) > 1 else "none excluded"
        rows.append(("Judgments", count(flow[-1]["judgments_left"]), of))
    else:
        rows.append(("Participants", count(counts["participants"]), ""))
    if "refused" not in agreement and agreement["overall"]["individual_agreement"] is not None:
        block = agreement["overall_included"]
        if agreement["rule"]:
            short = sum(row["status"] == "insufficient_items" for row in agreement["paradigms"])
            of = f"of {agreement['overall']['paradigms'] - short}, rule {agreement['rule']}"
            rows.append(("Paradigms included", count(block["paradigms"]), of))
        if block["majority_agreement"] is not None:
            of = f"{block['items_right']} of {block['items']} items"
            rows.append(("Majority agreement", share(block["majority_agreement"]), of))
        interval = format_interval(block["ci_low"], block["ci_high"], percent=True)
        rows.append(("Individual agreement", share(block["individual_agreement"]), f"95 % CI {interval}"))
    elif numbers["effects"].get("rates"):
        rates = {row["analysis"]: row for row in numbers["effects"]["rates"]}
        mixed, tested = rates["mixed_model"], rates["two_tailed"]
        row, scope = (mixed, "mixed model") if mixed["estimable"] else (tested, "over these items")
        rows.append(("Contrasts that hold", count(row["converges"]), f"of {row['estimable']}, {scope}"))
    return Headline(rows)


def agreement_section(numbers: dict[str, Any], figures: Sequence[Figure]) -> tuple[Section, list[Block]]:
    """Build the section on agreement with the expected labels and the blocks moved to the appendix."""
    agreement = numbers["agreement"]
    if "refused" in agreement or agreement["overall"]["individual_agreement"] is None:
        no_paired_ratings = (
            "no participant rated both sides of an item, so agreement with the expected order cannot be "
            "computed; the contrasts below compare means instead."
        )
        has_sides = numbers["task"] in RATING_TASKS and numbers["effects"].get("analyses")
        why = agreement.get("refused") or (
            no_paired_ratings if has_sides else "no item has an expected label."
        )
        return Section("agreement", "Agreement", [Paragraph(f"Not estimable: {why}")]), []
    rows = [_agreement_row("All paradigms", agreement["overall"])]
    if agreement["rule"]:
        rows.append(_agreement_row(f"Included ({agreement['rule']})", agreement["overall_included"]))
    phenomena = [row for row in agreement["phenomena"] if row["phenomenon"]]
    rows += [_agreement_row(readable(row["phenomenon"]), row) for row in phenomena]
    pooled = agreement["overall_included"]["individual_agreement_pooled"]
    blocks: list[Block] = [
        Paragraph(agreement_sentences(numbers)),
        Table(
            "Agreement with the expected labels",
            AGREEMENT_HEAD,
            rows,
            note="Individual: mean of item shares; its interval is over participants. Pooled over all "
            f"judgments, individual agreement is {share(pooled)}. Items with fewer than "
            f"{agreement['conventions']['n_min']} judgments are not counted.",
        ),
    ]
    table = _paradigms(agreement)
    selected: list[Block] = [figure for figure in figures if figure.name == "agreement"]
    blocks += selected if len(table.rows) <= MAX_INLINE_ROWS else []
    position = agreement["position"]
    if position["p_first"] is not None:
        blocks.append(Paragraph(_position(position)))
    if agreement["undecided"]:
        blocks.append(Paragraph(f"Answers without a choice: {agreement['undecided']['statement']}."))
    blocks += [figure for figure in figures if figure.name == "items"]
    if len(table.rows) <= 1:
        return Section("agreement", "Agreement and inclusion", blocks), []
    if len(table.rows) <= MAX_INLINE_ROWS:
        return Section("agreement", "Agreement and inclusion", [*blocks, table]), []
    blocks.append(Paragraph(f"All {len(table.rows)} paradigms are listed in the appendix."))
    return Section("agreement", "Agreement and inclusion", blocks), [*selected, table]


def reliability_section(numbers: dict[str, Any], figures: Sequence[Figure]) -> Section:
    """Build the section on agreement between annotators and on noise ceilings."""
    reliability = numbers["reliability"]
    if "refused" in reliability:
        return Section("reliability", "Reliability", [Paragraph(f"Not estimable: {reliability['refused']}")])
    included = reliability["included"]
    rows = [
        (
            MEASURES.get(row["measure"], row["measure"]),
            decimal(row["value"]),
            *([decimal(row["value_included"])] if included else []),
            CODING_LABELS.get(row["of"], row["of"]),
        )
        for row in reliability["coefficients"]
        if row["value"] is not None
    ]
    for form in reliability["icc"]["forms"]:
        if form["value"] is not None:
            of = "mean of k ratings" if form["form"].endswith("k)") else "one rating"
            interval = (
                f", 95 % CI {format_interval(form['ci_low'], form['ci_high'])}"
                if form["ci_low"] is not None
                else ""
            )
            blank = [NONE] if included else []
            rows.append((form["form"], decimal(form["value"]), *blank, f"{of}{interval}"))
    left = [row for row in reliability["coefficients"] if row["value"] is None]
    reasons = sorted({row["reason"] for row in left if row["reason"]})
    note = f"Measures without a value: {'; '.join(reasons)}." if reasons else ""
    halves = [
        (
            f"Means by {row['unit']}",
            count(row["n_units"]),
            decimal(row["r"]),
            decimal(row["spearman_brown"]),
            format_interval(row["ci_low"], row["ci_high"]),
            decimal(row["ceiling_model"]),
            decimal(row["ceiling_sample"]),
        )
        for row in reliability["split_half"]
        if row["spearman_brown"] is not None
    ]
    if not rows and not halves:
        return Section("reliability", "Reliability", [Paragraph(note or "Not estimable.")])
    title = "Agreement between annotators"
    columns = ("All paradigms", "Included paradigms") if included else ("Value",)
    head: tuple[str, ...] = ("Measure", *columns, "Of")
    blocks: list[Block] = [
        *([Paragraph(text)] if (text := reliability_sentences(numbers)) else []),
        *([Table(title, head, rows, frozenset({len(head) - 1}), note)] if rows else []),
    ]
    if halves:
        head = ("", "Units", "r of halves", "Reliability", "95 % CI", "Ceiling, model", "Ceiling, human")
        text = (
            "The participants of each list were split into halves; reliability with Spearman–Brown "
            "correction, interval by a delete-a-group jackknife. These means can correlate with a perfect "
            "model at most at the square root of the reliability, and with the means of another sample of "
            "participants at most at the reliability."
        )
        blocks.append(Table("Split-half reliability and noise ceilings", head, halves, note=text))
    blocks += [figure for figure in figures if figure.name == "reliability"]
    blocks += _scale_use(reliability)
    return Section("reliability", "Reliability", blocks)


def _scale_use(reliability: dict[str, Any]) -> list[Block]:
    """Build the paragraphs on response styles and drift of ratings; nothing for choices."""
    if "styles" not in reliability:  # numbers of an earlier version
        return []
    blocks: list[Block] = []
    for row in reliability["styles"]["sample"]:
        shares = [f"{style} {share(row[style])}" for style in STYLES if row[style] is not None]
        people = [one for one in reliability["styles"]["participants"] if one["scale"] == row["scale"]]
        n_apart = sum(bool(one["apart"]) for one in people)
        scale = f" ({readable(row['scale'])})" if row["scale"] else ""
        blocks.append(
            Paragraph(
                f"Response styles{scale}, shares of {count(row['n'])} answers: {', '.join(shares)}. "
                f"{count(n_apart)} of {plural(len(people), 'participant')} differed from the sample in one "
                "of them (Wilson intervals, Bonferroni)."
            )
        )
    drift = reliability["drift"]
    if drift["estimate"] is not None:
        spread = drift["sd_participants"]
        blocks.append(
            Paragraph(
                f"From the first to the last trial ratings changed by {decimal(drift['estimate'], 2)} "
                f"({drift['transform']}; 95 % CI {format_interval(drift['ci_low'], drift['ci_high'])}, "
                f"p {equals(drift['p'])}; linear mixed model with {drift['structure']})"
                + (f"; the SD of participants' changes was {decimal(spread, 2)}" if spread else "")
                + "."
            )
        )
    elif drift["status"] not in ("no_ratings", "no_position"):
        blocks.append(Paragraph(f"Drift of ratings is not estimable. {REASONS[drift['status']]}"))
    return blocks


def equals(number: float | None) -> str:
    """Write a p value after the letter p: ``= .031`` or ``< .001``."""
    written = p_value(number)
    return written if written.startswith("<") else f"= {written}"


def _agreement_row(name: str, block: dict[str, Any]) -> tuple[str, ...]:
    return (
        name,
        f"{block['items_right']:g}/{block['items']}" if block["items"] else NONE,
        count(block["ties"]),
        share(block["majority_agreement"]),
        share(block["individual_agreement"]),
        format_interval(block["ci_low"], block["ci_high"], percent=True),
        count(block["judgments"]),
    )


def _paradigms(agreement: dict[str, Any]) -> Table:
    words = {"insufficient_items": "too few items", "not_estimable": "not estimable"}
    head = ("Paradigm", *AGREEMENT_HEAD[1:])
    rows = [
        (*_agreement_row(readable(row["paradigm"]) or NONE, row),
         *([words.get(row["status"], row["status"])] if agreement["rule"] else []))
        for row in agreement["paradigms"]
    ]  # fmt: skip
    if not agreement["rule"]:
        return Table("Agreement by paradigm", head, rows)
    return Table(f"Agreement and inclusion by paradigm (rule {agreement['rule']})", (*head, "Status"), rows,
                 frozenset({len(head)}))  # fmt: skip


def _position(position: dict[str, Any]) -> str:
    low, high = position["ci_low"], position["ci_high"]
    interval = f" (95 % CI {format_interval(low, high, percent=True)})" if low is not None else ""
    text = f"The sentence shown first was chosen in {share(position['p_first'])} of judgments{interval}"
    first, second = position["accuracy_expected_first"], position["accuracy_expected_second"]
    if first is None or second is None:
        return f"{text}."
    return (
        f"{text}; annotators agreed with the expected label in {share(first)} where the expected member was "
        f"shown first and in {share(second)} where it was shown second."
    )
