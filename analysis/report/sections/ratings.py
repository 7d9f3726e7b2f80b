"""Report sections on ratings by condition and on sensitivity to exclusions."""

from collections.abc import Sequence
from typing import Any

from ...choices import MULTIVERSE_MODELS
from ...rows import RATING_TASKS
from ...text import plural
from ..content import Block, Figure, Paragraph, Section, Subheading, Table
from ..page_findings import multiverse_finding
from ..wording import (
    NONE,
    SENTENCES,
    count,
    decimal,
    format_interval,
    p_value,
    readable,
    share,
)
from .results import MAX_INLINE_ROWS


def ratings_section(numbers: dict[str, Any], figures: Sequence[Figure]) -> tuple[Section | None, list[Block]]:
    """Build the section on ratings by condition and the blocks moved to the appendix."""
    if numbers["task"] not in RATING_TASKS:
        return None, []
    conditions = numbers["conditions"]
    if "refused" in conditions or not conditions["conditions"]:
        why = conditions.get("refused") or "no target was rated."
        return Section("ratings", "Ratings", [Paragraph(f"Not estimable: {why}")]), []
    has_ends = any(row["ci_low"] is not None for row in conditions["conditions"])
    table = Table(
        "Ratings by condition",
        ("Condition", "Ratings", "Mean z", *(["95 % CI"] if has_ends else []), "Mean", "SD", "Median"),
        [
            (
                readable(row["condition"]) or "–",
                count(row["n"]),
                decimal(row["mean"], 2)
                + (f" (n {count(row['n_scored'])})" if row["n_scored"] != row["n"] else ""),
                *([format_interval(row["ci_low"], row["ci_high"])] if has_ends else []),
                decimal(row["mean_raw"], 2),
                decimal(row["sd_raw"], 2),
                decimal(row["median_raw"], 1),
            )
            for row in conditions["conditions"]
        ],
        note="z: within participants, over target and filler trials, ddof 1."
        + (
            " Intervals are within-participant intervals (Cousineau–Morey), for comparing conditions."
            if has_ends
            else ""
        )
        + (
            " n: ratings with a z; the raw columns count all."
            if any(row["n_scored"] != row["n"] for row in conditions["conditions"])
            else ""
        ),
    )
    selected: list[Block] = [
        figure for figure in figures if figure.name in ("ratings", "scale-points", "magnitudes-z")
    ]
    selected += magnitude_blocks(conditions)
    if len(table.rows) > MAX_INLINE_ROWS:
        text = f"Ratings of {plural(len(table.rows), 'condition')} are listed in the appendix."
        return Section("ratings", "Ratings", [Paragraph(text), *magnitude_blocks(conditions)]), [table]
    return Section("ratings", "Ratings", [table, *selected]), []


TRANSFORM_NAMES = {
    "z": "z",
    "z-log": "z of logarithms",
    "robust-z": "robust z",
    "z-without-outliers": "z without outliers",
}


def magnitude_blocks(conditions: dict[str, Any]) -> list[Block]:
    """Build the outliers of magnitude estimates, and the contrasts with and without their influence."""
    magnitudes = conditions.get("magnitudes") or {}
    rows = magnitudes.get("contrasts") or []
    blocks: list[Block] = []
    if magnitudes.get("outliers"):
        blocks.append(
            Paragraph(
                f"Outliers: {plural(magnitudes['outliers'], 'estimate')} beyond {magnitudes['cut']:g} robust "
                "standard deviations of the participant's median (Iglewicz & Hoaglin 1993). None was "
                "removed; one can dominate its participant's z."
            )
        )
    if rows:
        cells = [
            (
                readable(row["phenomenon"]) or NONE,
                TRANSFORM_NAMES[row["transform"]],
                decimal(row["difference"], 2),
                format_interval(row["ci_low"], row["ci_high"]),
                decimal(row["d_z"], 2),
                p_value(row["p"]),
                count(row["n"]),
            )
            for row in rows
        ]
        head = ("Contrast", "Scores", "Difference", "95 % CI", "d_z", "p", "n")
        note = "Acceptable minus unacceptable, by participants (t). n: participants."
        blocks.append(Table("Magnitude estimates under several transformations", head, cells, note=note))
    return blocks


def multiverse_blocks(numbers: dict[str, Any], figures: Sequence[Figure]) -> list[Block]:
    """Build the multiverse for the appendix; nothing where it was not asked for."""
    multiverse = numbers.get("multiverse")
    if multiverse is None:
        return []
    if not multiverse.get("specifications"):
        why = multiverse.get("refused") or SENTENCES["no_contrast"]
        return [Subheading("Multiverse"), Paragraph(f"Not estimable: {why}")]
    table = Table(
        "Specifications of the multiverse",
        ("Exclusions", "Transform", "Model", "Judgments", "Estimate", "95 % CI", "p"),
        [
            (
                f"{readable(row['exclusion'])}{' *' if row['is_current'] else ''}",
                row["transform"],
                MULTIVERSE_MODELS[row["model"]],
                count(row["judgments"]),
                decimal(row["estimate"], 2),
                format_interval(row["ci_low"], row["ci_high"]),
                p_value(row["p"]),
            )
            for row in multiverse["specifications"]
        ],
        frozenset({1, 2}),
        note=f"*: the study's own. Effect: {multiverse['conventions']['effect']}. Estimates: "
        f"{multiverse['conventions']['estimate']}. p: two-tailed, uncorrected; specifications share their "
        "data.",
    )
    selected = [figure for figure in figures if figure.name == "specification-curve"]
    return [Subheading("Multiverse"), Paragraph(multiverse_finding(multiverse)), *selected, table]


def sensitivity_section(numbers: dict[str, Any], figures: Sequence[Figure]) -> Section | None:
    """Build the section on the sensitivity of the results to the exclusion plan."""
    rows = numbers["exclusions"].get("sensitivity", [])
    if len(rows) < 2:
        return None
    words = {"none": "No exclusion", "plan": "Full plan"}
    is_rating = numbers["task"] in RATING_TASKS
    last = "Mean difference" if is_rating or numbers["task"] == "yes_no" else ""
    table = Table(
        "Main results under each exclusion plan",
        ("", "Participants", "Judgments", "Majority", "Individual", "α", *([last] if last else [])),
        [
            (
                words.get(row["recipe"]) or f"Without {readable(row['step'])}",
                count(row["participants"]),
                count(row["judgments"]),
                share(row["majority_agreement"]),
                share(row["individual_agreement"]),
                decimal(row["alpha"]),
                *([decimal(row["mean_difference"], 2)] if last else []),
            )
            for row in rows
            # without the only step of a plan nothing is excluded
            if row["recipe"] != "without" or len(rows) > 3
        ],
        note="Over all paradigms. Descriptive only: not a basis for choosing a plan.",
    )
    selected = [figure for figure in figures if figure.name in ("sensitivity", "overlap")]
    return Section("sensitivity", "Sensitivity to exclusions", [table, *selected])
