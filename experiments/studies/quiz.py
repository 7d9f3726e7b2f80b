"""The comprehension quiz after the instructions: validated rows, and the line syntax of the settings page.

One question per line: ``Question? | right answer | wrong; wrong | what to say when it is wrong``. Columns
pasted from a table with tabs work too.
"""

import re
from collections.abc import Sequence
from typing import Any

from analysis.errors import BadInput
from experiments.stored_lines import StoredLines

KEYS = {"question", "right", "wrong", "hint"}
ATTEMPTS = 2


def checked_quiz(rows: Sequence[Any]) -> list[dict[str, Any]]:
    """Return the questions; raise BadInput for the first invalid one."""
    return [_check_row(row, f"quiz question {number}") for number, row in enumerate(rows, start=1)]


def _check_row(row: Any, place: str) -> dict[str, Any]:
    if not isinstance(row, dict):
        raise BadInput(f"{place} is no JSON object.", remedy="Write {...}.")
    if unknown := sorted(set(row) - KEYS):
        raise BadInput(
            f"{place} has an unknown key {unknown[0]!r}.", remedy=f"There are: {', '.join(sorted(KEYS))}."
        )
    for name in ("question", "right"):
        if not isinstance(row.get(name), str) or not row[name].strip():
            raise BadInput(f"{place} has no {name} text.", remedy="Write question and right answer.")
    wrong = row.get("wrong")
    if (
        not isinstance(wrong, list)
        or not wrong
        or not all(isinstance(answer, str) and answer.strip() for answer in wrong)
    ):
        raise BadInput(f"{place} has no wrong answer.", remedy="Write at least one.")
    answers = [row["right"].strip(), *(answer.strip() for answer in wrong)]
    if len(set(answers)) < len(answers):
        raise BadInput(f"{place} offers the same answer twice.", remedy="Make the answers differ.")
    if not isinstance(row.get("hint", ""), str):
        raise BadInput(f"{place} has a hint that is no text.", remedy="Write words.")
    return {**row, "question": row["question"].strip(), "right": answers[0], "wrong": answers[1:]}


def quiz_from_lines(text: str, *, existing: Sequence[dict[str, Any]] = ()) -> list[dict[str, Any]]:
    """Parse lines; an unchanged line keeps its stored question. Raise BadInput for the first invalid line."""
    stored = StoredLines(existing, write=_line)
    return checked_quiz(
        [
            stored.take(line) or _row(line, number)
            for number, line in enumerate(text.splitlines(), start=1)
            if line.strip()
        ]
    )


def _row(line: str, number: int) -> dict[str, Any]:
    parts = [part.strip() for part in re.split(r"\t|\|", line)]
    if not 3 <= len(parts) <= 4 or not all(parts[:3]):
        raise BadInput(
            f"line {number} is no quiz question.",
            remedy="Write: question | right answer | wrong; wrong | hint.",
        )
    wrong = [answer.strip() for answer in parts[2].split(";") if answer.strip()]
    row: dict[str, Any] = {"question": parts[0], "right": parts[1], "wrong": wrong}
    return {**row, "hint": parts[3]} if parts[3:] and parts[3] else row


def lines_from_quiz(rows: Sequence[dict[str, Any]]) -> str:
    """Format questions as lines."""
    return "\n".join(_line(row) for row in rows)


def _line(row: dict[str, Any]) -> str:
    hint = [row["hint"]] if row.get("hint") else []
    return " | ".join([row["question"], row["right"], "; ".join(row["wrong"]), *hint])
