"""The sections of a report that give ratings by condition, and what the numbers are under other plans."""

from collections.abc import Sequence
from typing import Any

from analysis.plurals import plural
from analysis.report.content import Block, Figure, Paragraph, Section, Table
from analysis.report.result_sections import LONG
from analysis.report.wording import count, decimal, ends, readable, share
from analysis.rows import RATING_TASKS


def ratings_section(numbers: dict[str, Any], figures: Sequence[Figure]) -> tuple[Section | None, list[Block]]:
    """Give ratings by condition; the second part is for the appendix.

    Parameters
    ----------
    numbers : dict
        From :func:`analysis.report.numbers.report_numbers`.
    figures : sequence of Figure
        Those that apply to the study.

    Returns
    -------
    section : Section or None
    appendix : list of Block
        What stands in the appendix.
    """
    if numbers["task"] not in RATING_TASKS:
        return None, []
    found = numbers["conditions"]
    if "refused" in found or not found["conditions"]:
        why = found.get("refused") or "no target was rated."
        return Section("ratings", "Ratings", [Paragraph(f"Not estimable: {why}")]), []
    has_ends = any(row["ci_low"] is not None for row in found["conditions"])
    table = Table(
        "Ratings by condition",
        ("Condition", "Ratings", "Mean z", *(["95 % CI"] if has_ends else []), "Mean", "SD", "Median"),
        [
            (
                readable(row["condition"]) or "–",
                count(row["n"]),
                decimal(row["mean"], 2),
                *([ends(row["ci_low"], row["ci_high"])] if has_ends else []),
                decimal(row["mean_raw"], 2),
                decimal(row["sd_raw"], 2),
                decimal(row["median_raw"], 1),
            )
            for row in found["conditions"]
        ],
        note="z: within participants, over target and filler trials, ddof 1."
        + (
            " Intervals are within participants (Cousineau–Morey): for differences between conditions."
            if has_ends
            else ""
        ),
    )
    drawn: list[Block] = [one for one in figures if one.name in ("ratings", "scale-points", "magnitudes-z")]
    if len(table.rows) > LONG:
        said = f"Ratings of {plural(len(table.rows), 'condition')} stand in the appendix."
        return Section("ratings", "Ratings", [Paragraph(said)]), [table]
    return Section("ratings", "Ratings", [table, *drawn]), []


def sensitivity_section(numbers: dict[str, Any], figures: Sequence[Figure]) -> Section | None:
    """Say whether the conclusions hang on the plan.

    Parameters
    ----------
    numbers : dict
        From :func:`analysis.report.numbers.report_numbers`.
    figures : sequence of Figure
        Those that apply to the study.

    Returns
    -------
    Section or None
    """
    rows = numbers["exclusions"].get("sensitivity", [])
    if len(rows) < 2:
        return None
    words = {"none": "No exclusion", "plan": "The plan"}
    is_rating = numbers["task"] in RATING_TASKS
    last = "Mean difference" if is_rating or numbers["task"] == "yes_no" else ""
    table = Table(
        "Headline numbers under each plan",
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
        ],
        note="Over all paradigms. Descriptive: no ground for choosing a plan.",
    )
    drawn = [one for one in figures if one.name in ("sensitivity", "overlap")]
    return Section("sensitivity", "Sensitivity to exclusions", [table, *drawn])
