"""Deviations from the frozen plan as a section of the report and as a paragraph of the methods."""

from collections.abc import Mapping, Sequence
from typing import Any

from ..text import plural
from .content import Block, Facts, Paragraph, Section, Subheading
from .wording import join_list

DEVIATION, NOT_STATED, PLANNED, IN_PROGRESS = "deviation", "not stated", "as planned", "in progress"
"""Verdicts on an aspect of a study."""
NOT_STATED_TEXT, NO_PLAN_TEXT = "not stated in the frozen plan", "there is no frozen plan"
NO_REASON = "no reason given"
CHOICE_PREFIX = "analysis."
"""Keys of choices of the analysis begin with it."""
Rows = Sequence[Mapping[str, Any]]


def deviations_paragraph(rows: Rows, plan: Mapping[str, Any] | None) -> str:
    """Write which frozen version counts as the plan, how the study deviated from it, and what it leaves open.

    Empty without a frozen version.
    """
    if plan is None:
        return ""
    version = f"the frozen plan (version {plan['version']} of {plan['frozen']})"
    deviating = _with(rows, DEVIATION)
    first = f"Nothing that {version} states was changed."
    if deviating:
        number = plural(len(deviating), "respect")
        clauses = "; ".join(f"({place}) {_clause(row)}" for place, row in enumerate(deviating, start=1))
        first = f"The study deviated from {version} in {number}: {clauses}."
    silent = [_lower(str(row["aspect"])) for row in _with(rows, NOT_STATED) if not _is_choice(row)]
    if any(_is_choice(row) for row in _with(rows, NOT_STATED)):
        silent.append("choices of the analysis")
    return f"{first} That plan does not state: {join_list(silent)}." if silent else first


def _with(rows: Rows, verdict: str) -> list[Mapping[str, Any]]:
    return [row for row in rows if row["verdict"] == verdict]


def _is_choice(row: Mapping[str, Any]) -> bool:
    return str(row["key"]).startswith(CHOICE_PREFIX)


def _clause(row: Mapping[str, Any]) -> str:
    details = [f"since {row['since']}"] if row["since"] else []
    if row["sessions_affected"] not in (None, ""):
        details.append(plural(int(row["sessions_affected"]), "session"))
    beside = f" ({', '.join(details)})" if details else ""
    return f"{_lower(str(row['aspect']))}{beside}: {str(row['reason']).rstrip('.') or NO_REASON}"


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]


def deviations_section(rows: Rows, plan: Mapping[str, Any] | None) -> Section | None:
    """Build the section on deviations; None for a study without a frozen version."""
    if plan is None:
        return None
    blocks: list[Block] = [
        Paragraph(
            f"What was done is compared with version {plan['version']}, frozen {plan['frozen']} "
            f"(SHA-256 {plan['sha256']}): {_sessions_by_version(plan)}."
        )
    ]
    if not _with(rows, DEVIATION):
        blocks.append(Paragraph("Nothing that the frozen plan states was changed."))
    for row in [*_with(rows, DEVIATION), *_with(rows, IN_PROGRESS)]:
        blocks += [Subheading(str(row["aspect"])), Facts(_facts(row))]
    silent = _with(rows, NOT_STATED)
    if silent:
        stated = [(str(row["aspect"]), _format_done(row)) for row in silent]
        blocks += [Subheading(f"{NOT_STATED_TEXT.capitalize()}: what was done"), Facts(stated)]
    planned = [(str(row["aspect"]), str(row["planned"])) for row in _with(rows, PLANNED)]
    blocks += [Subheading("As planned"), Facts(planned)] if planned else []
    return Section("deviations", "Deviations from the frozen plan", blocks)


def _sessions_by_version(plan: Mapping[str, Any]) -> str:
    counts = [
        f"{plural(row['sessions'], 'session')} judged under version {row['version']} ({row['frozen']})"
        for row in plan["versions"]
    ]
    return join_list(counts)


def _facts(row: Mapping[str, Any]) -> list[tuple[str, str]]:
    facts = [("Planned", str(row["planned"])), ("Done", str(row["done"]))]
    facts += [("Since", str(row["since"]))] if row["since"] else []
    if row["sessions_affected"] not in (None, ""):
        facts.append(("Sessions affected", str(row["sessions_affected"])))
    if row["verdict"] == IN_PROGRESS and not row["reason"]:
        return facts
    return [*facts, ("Reason", _reason(row))]


def _format_done(row: Mapping[str, Any]) -> str:
    # The planned text names the setting that counts in place of a statement of the plan.
    beside = str(row["planned"]).removeprefix(NOT_STATED_TEXT).removeprefix("; ")
    done = f"{row['done']} ({beside})" if beside else str(row["done"])
    return f"{done}. Remark: {_reason(row)}" if row["reason"] else done


def _reason(row: Mapping[str, Any]) -> str:
    if not row["reason"]:
        return NO_REASON
    return f"{row['reason']} (written {str(row['reason_at'])[:10]})"
