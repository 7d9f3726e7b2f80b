"""The questionnaire and the consent statements of a study: validated rows, and their line syntax.

One question per line: ``Question? | kind | remarks``. Kinds are text, number, yes-no, ``choice: a; b; c``
and ``several: a; b; c``. Remarks are ``required``, ``publish`` and ``native``, or ``native: a; b`` with
the answers that count as speaking the study's language natively; ``publish`` lets a release hold the answers.
``screen_out: a; b`` names answers that end the session with a friendly page; without it, answers exclude
participants only through an exclusion plan.
"""

import re
from collections.abc import Sequence
from typing import Any

from django.utils.text import slugify

from analysis.errors import BadInput
from experiments.stored_lines import StoredLines

OPTIONAL = "optional"
MAX_STATEMENTS, MAX_CHARACTERS = 20, 500
KINDS = {
    "text": "text",
    "number": "number",
    "yes-no": "yes_no",
    "choice": "choice",
    "several": "multi_choice",
}
WORDS = {kind: word for word, kind in KINDS.items()}
LISTED = {"choice", "multi_choice"}
REMARKS = {"required", "publish", "native", "screen_out", "screen-out"}
KEYS = {
    "name",
    "label",
    "type",
    "choices",
    "required",
    "help",
    "min",
    "max",
    "role",
    "native",
    "publish",
    "screen_out",
}
LARGEST_NUMBER = 10**9  # where a question has no maximum
NAME = re.compile(r"[a-z][a-z0-9_]{0,59}")


def checked_questions(rows: Sequence[Any]) -> list[dict[str, Any]]:
    """Return the questions with names; raise BadInput for the first invalid one."""
    questions: list[dict[str, Any]] = []
    for number, row in enumerate(rows, start=1):
        question = _check_row(row, f"question {number}")
        names = {earlier["name"] for earlier in questions}
        question["name"] = question.get("name") or free_name(question["label"], names)
        if question["name"] in names:
            raise BadInput(f"question {number} has the name of another.", remedy="Give each its own name.")
        questions.append(question)
    return questions


def _check_row(row: Any, place: str) -> dict[str, Any]:
    if not isinstance(row, dict):
        raise BadInput(f"{place} is no JSON object.", remedy="Write {...}.")
    if unknown := sorted(set(row) - KEYS):
        raise BadInput(
            f"{place} has an unknown key {unknown[0]!r}.", remedy=f"There are: {', '.join(sorted(KEYS))}."
        )
    if not isinstance(label := row.get("label"), str) or not label.strip():
        raise BadInput(f"{place} has no text.", remedy="Write the question as its label.")
    kind = str(row.get("type", "text")).replace("-", "_")
    if kind not in WORDS:
        raise BadInput(f"{place} is of unknown kind {kind!r}.", remedy=f"There are: {', '.join(WORDS)}.")
    if kind in LISTED and len(_texts(row.get("choices"), place, "choices")) < 2:
        raise BadInput(f"{place} has fewer than two choices.", remedy="List what can be chosen.")
    if row.get("name") and not NAME.fullmatch(str(row["name"])):
        raise BadInput(f"{place} has the name {row['name']!r}.", remedy="Use small letters, digits and _.")
    for name in ("min", "max"):
        if not isinstance(row.get(name, 0), int):
            raise BadInput(f"{place} has a {name} that is no whole number.", remedy="Write digits.")
    if row.get("max", LARGEST_NUMBER) < row.get("min", 0):
        raise BadInput(f"{place} takes no number at all.", remedy="Let max be at least min.")
    _checked_role(row, place, kind=kind)
    _checked_screening(row, place, kind=kind)
    return {**row, "label": label.strip(), "type": kind}


def _checked_role(row: dict[str, Any], place: str, *, kind: str) -> None:
    if row.get("role", "native_language") != "native_language":
        raise BadInput(f"{place} has an unknown role {row['role']!r}.", remedy="There is: native_language.")
    native = _texts(row.get("native", []), place, "native")
    choices = {str(choice) for choice in row.get("choices", [])} if kind in LISTED else set(native)
    if missing := sorted(set(native) - choices):
        raise BadInput(f"{place} counts {missing[0]!r} as native, which cannot be chosen.", remedy="Add it.")


def _checked_screening(row: dict[str, Any], place: str, *, kind: str) -> None:
    """Only listed answers may screen out, so that no participant is sent away over a typing error."""
    ending = _texts(row.get("screen_out", []), place, "screen_out")
    choices = {"yes", "no"} if kind == "yes_no" else {str(choice) for choice in row.get("choices", [])}
    if missing := sorted(set(ending) - choices):
        raise BadInput(f"{place} screens out by {missing[0]!r}, which cannot be chosen.", remedy="Add it.")
    if ending and choices <= set(ending):
        raise BadInput(f"{place} screens everybody out.", remedy="Leave an answer that goes on.")


def _texts(value: Any, place: str, name: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(text, str) and text.strip() for text in value):
        raise BadInput(f"{place} needs a list of words as {name}.", remedy="Write them one by one.")
    return value


def free_name(label: str, taken: set[str]) -> str:
    """Return a free short name for the column of an answer."""
    base = slugify(label).replace("-", "_")[:40].strip("_")
    base = base if NAME.fullmatch(base) else f"question_{base}".strip("_")
    return next(
        name for n in range(1, len(taken) + 2) if (name := base if n == 1 else f"{base}_{n}") not in taken
    )


def questions_from_lines(text: str, *, existing: Sequence[dict[str, Any]] = ()) -> list[dict[str, Any]]:
    """Parse lines; an unchanged line keeps its stored question, an unchanged label its hidden settings."""
    by_label, stored = {row.get("label"): row for row in existing}, StoredLines(existing, write=_line)
    rows = []
    for number, line in enumerate(text.splitlines(), start=1):
        if (question := stored.take(line)) is not None:
            rows.append(question)
        elif line.strip():
            row = _question(line, number)
            stored_row = by_label.get(row["label"], {})
            rows.append({**{key: value for key, value in stored_row.items() if key in NOT_IN_LINES}, **row})
    return checked_questions(rows)


NOT_IN_LINES = {"name", "help", "min", "max"}


def _question(line: str, number: int) -> dict[str, Any]:
    parts = [part.strip() for part in re.split(r"\t|\|", line)]
    if len(parts) > 3:
        raise BadInput(
            f"line {number} has more than three parts.", remedy="Write: question | kind | remarks."
        )
    label, kind, remarks = [*parts, "", ""][:3]
    word, _, listed = kind.partition(":")
    word = word.strip().lower() or "text"
    if word not in KINDS:
        raise BadInput(
            f"line {number} is of unknown kind {word!r}.", remedy=f"There are: {', '.join(KINDS)}."
        )
    if not label:
        raise BadInput(f"line {number} has no question.", remedy="Write the question first.")
    row: dict[str, Any] = {"label": label, "type": KINDS[word]}
    if choices := _split_answers(listed):
        row["choices"] = choices
    if KINDS[word] in LISTED and len(choices) < 2:
        raise BadInput(
            f"line {number} has fewer than two choices.", remedy=f"Write: {word}: one; two; three."
        )
    return {**row, **_remarks(remarks, number)}


def _remarks(text: str, number: int) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    for remark in _split_remarks(text):
        word, _, listed = remark.partition(":")
        if word.strip().lower() == "required":
            settings["required"] = True
        elif word.strip().lower() == "publish":
            settings["publish"] = True
        elif word.strip().lower() == "native":
            settings["role"] = "native_language"
            if answers := _split_answers(listed):
                settings["native"] = answers
        elif word.strip().lower() in {"screen_out", "screen-out"}:
            settings["screen_out"] = _split_answers(listed)
        else:
            raise BadInput(
                f"line {number} has an unknown remark {remark!r}.",
                remedy="There are: required, publish, native, screen_out.",
            )
    return settings


def _split_answers(text: str) -> list[str]:
    """Split answers at semicolons."""
    return [answer.strip() for answer in text.split(";") if answer.strip()]


def _split_remarks(text: str) -> list[str]:
    """Split remarks at commas, except at a comma inside an answer that a remark lists."""
    parts: list[str] = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        is_remark = part.partition(":")[0].strip().lower() in REMARKS
        if parts and ":" in parts[-1] and not is_remark:
            parts[-1] += f", {part}"
        else:
            parts.append(part)
    return parts


def lines_from_questions(rows: Sequence[dict[str, Any]]) -> str:
    """Format questions as lines."""
    return "\n".join(_line(row) for row in rows)


def _line(row: dict[str, Any]) -> str:
    kind = str(row.get("type", "text")).replace("-", "_")
    words = WORDS.get(kind, kind)
    if row.get("choices"):
        words += ": " + "; ".join(str(choice) for choice in row["choices"])
    remarks = [name for name in ("required", "publish") if row.get(name)]
    if row.get("role") == "native_language":
        remarks.append("native" + (": " + "; ".join(row["native"]) if row.get("native") else ""))
    if row.get("screen_out"):
        remarks.append("screen_out: " + "; ".join(row["screen_out"]))
    parts = [row.get("label") or row.get("name", ""), words, ", ".join(remarks)]
    return " | ".join(parts if remarks else parts[:2])


def statements_from_lines(text: str) -> list[dict[str, Any]]:
    """Parse statements, one per line; a line that ends with ``| optional`` need not be ticked.

    >>> statements_from_lines("I am 18 or older.\\nYou may write to me. | optional")
    [{'text': 'I am 18 or older.', 'required': True}, {'text': 'You may write to me.', 'required': False}]
    """
    statements = []
    for number, line in enumerate(text.splitlines(), start=1):
        statement, bar, remark = (part.strip() for part in line.partition("|"))
        if not statement and not bar:
            continue
        if not statement or len(statement) > MAX_CHARACTERS or remark not in {"", OPTIONAL}:
            raise BadInput(
                f"line {number} is no statement.",
                remedy=f"Write at most {MAX_CHARACTERS} characters, then | optional if it may stay unticked.",
            )
        statements.append({"text": statement, "required": remark != OPTIONAL})
    return checked_statements(statements)


def checked_statements(rows: Sequence[Any]) -> list[dict[str, Any]]:
    """Return the statements to tick; raise BadInput for the first invalid one.

    >>> checked_statements([{"text": " I am 18 or older. "}])
    [{'text': 'I am 18 or older.', 'required': True}]
    """
    if len(rows) > MAX_STATEMENTS:
        raise BadInput(f"there are {len(rows)} statements.", remedy=f"Write at most {MAX_STATEMENTS}.")
    statements = []
    for number, row in enumerate(rows, start=1):
        row = row if isinstance(row, dict) else {}
        text, is_required = row.get("text"), row.get("required", True)
        # The page writes one statement per line, with a bar before its remark.
        is_text = isinstance(text, str) and 0 < len(text.strip()) <= MAX_CHARACTERS and "|" not in text
        if not is_text or not isinstance(is_required, bool) or not set(row) <= {"text", "required"}:
            raise BadInput(
                f"statement {number} is no statement.",
                remedy=f'Write {{"text", "required"}}, at most {MAX_CHARACTERS} characters without |.',
            )
        statements.append({"text": " ".join(str(text).split("\n")).strip(), "required": is_required})
    return statements


def optional_questions(questions: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return questions at the end, none of which can be required."""
    return [{**question, "required": False} for question in questions]


def lines_from_statements(statements: Sequence[dict[str, Any]]) -> str:
    """Format statements as lines."""
    return "\n".join(
        row["text"] if row.get("required", True) else f"{row['text']} | {OPTIONAL}" for row in statements
    )
