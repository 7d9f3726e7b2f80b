"""The questionnaire of a study: checked rows, and lines that a researcher can write.

One question per line: ``Question? | kind | remarks``. Kinds are text, number, yes-no, ``choice: a; b; c``
and ``several: a; b; c``. Remarks are ``required``, ``publish`` and ``native``, or ``native: a; b`` with
the answers that count as speaking the study's language natively; ``publish`` lets a release hold the answers.
``screen_out: a; b`` names answers that end the session kindly; without it answers exclude nobody until a
plan says so.
"""

import re
from collections.abc import Sequence
from typing import Any

from django.utils.text import slugify

from analysis.errors import BadInput
from experiments.untouched import Untouched

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
MOST = 10**9  # where a question names no largest number
NAME = re.compile(r"[a-z][a-z0-9_]{0,59}")


def checked_questions(rows: Sequence[Any]) -> list[dict[str, Any]]:
    """The questions with their names filled in; the first that cannot be asked is refused and named."""
    found: list[dict[str, Any]] = []
    for number, row in enumerate(rows, start=1):
        question = _checked(row, f"question {number}")
        question["name"] = question.get("name") or free_name(
            question["label"], {one["name"] for one in found}
        )
        if question["name"] in {one["name"] for one in found}:
            raise BadInput(f"question {number} has the name of another.", remedy="Give each its own name.")
        found.append(question)
    return found


def _checked(row: Any, place: str) -> dict[str, Any]:
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
    if row.get("max", MOST) < row.get("min", 0):
        raise BadInput(f"{place} takes no number at all.", remedy="Let max be at least min.")
    _checked_role(row, place, kind=kind)
    _checked_screening(row, place, kind=kind)
    return {**row, "label": label.strip(), "type": kind}


def _checked_role(row: dict[str, Any], place: str, *, kind: str) -> None:
    if row.get("role", "native_language") != "native_language":
        raise BadInput(f"{place} has an unknown role {row['role']!r}.", remedy="There is: native_language.")
    wanted = _texts(row.get("native", []), place, "native")
    known = {str(one) for one in row.get("choices", [])} if kind in LISTED else set(wanted)
    if missing := sorted(set(wanted) - known):
        raise BadInput(f"{place} counts {missing[0]!r} as native, which cannot be chosen.", remedy="Add it.")


def _checked_screening(row: dict[str, Any], place: str, *, kind: str) -> None:
    """Only answers that can be chosen screen anybody out: nobody is sent away over a typing error."""
    wanted = _texts(row.get("screen_out", []), place, "screen_out")
    known = {"yes", "no"} if kind == "yes_no" else {str(one) for one in row.get("choices", [])}
    if missing := sorted(set(wanted) - known):
        raise BadInput(f"{place} screens out by {missing[0]!r}, which cannot be chosen.", remedy="Add it.")
    if wanted and known <= set(wanted):
        raise BadInput(f"{place} screens everybody out.", remedy="Leave an answer that goes on.")


def _texts(value: Any, place: str, name: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(one, str) and one.strip() for one in value):
        raise BadInput(f"{place} needs a list of words as {name}.", remedy="Write them one by one.")
    return value


def free_name(label: str, taken: set[str]) -> str:
    """A short name for an answer's column."""
    base = slugify(label).replace("-", "_")[:40].strip("_")
    base = base if NAME.fullmatch(base) else f"question_{base}".strip("_")
    return next(
        name for n in range(1, len(taken) + 2) if (name := base if n == 1 else f"{base}_{n}") not in taken
    )


def questions_from_lines(text: str, *, known: Sequence[dict[str, Any]] = ()) -> list[dict[str, Any]]:
    """Read lines; one as it was is its question, and one whose words stay keeps what lines cannot say."""
    before, untouched = {row.get("label"): row for row in known}, Untouched(known, write=_line)
    rows = []
    for number, line in enumerate(text.splitlines(), start=1):
        if (whole := untouched.take(line)) is not None:
            rows.append(whole)
        elif line.strip():
            row = _question(line, number)
            kept = {key: value for key, value in before.get(row["label"], {}).items() if key in _UNSAID}
            rows.append({**kept, **row})
    return checked_questions(rows)


_UNSAID = {"name", "help", "min", "max"}


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
    if choices := [one.strip() for one in listed.split(";") if one.strip()]:
        row["choices"] = choices
    if KINDS[word] in LISTED and len(choices) < 2:
        raise BadInput(
            f"line {number} has fewer than two choices.", remedy=f"Write: {word}: one; two; three."
        )
    return {**row, **_remarks(remarks, number)}


def _remarks(text: str, number: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for remark in _parted(text):
        word, _, listed = remark.partition(":")
        if word.strip().lower() == "required":
            found["required"] = True
        elif word.strip().lower() == "publish":
            found["publish"] = True
        elif word.strip().lower() == "native":
            found["role"] = "native_language"
            if answers := [one.strip() for one in listed.split(";") if one.strip()]:
                found["native"] = answers
        elif word.strip().lower() in {"screen_out", "screen-out"}:
            found["screen_out"] = [one.strip() for one in listed.split(";") if one.strip()]
        else:
            raise BadInput(
                f"line {number} has an unknown remark {remark!r}.",
                remedy="There are: required, publish, native, screen_out.",
            )
    return found


def _parted(text: str) -> list[str]:
    """Remarks between commas; a comma inside an answer that a remark lists parts nothing."""
    parts: list[str] = []
    for part in filter(None, (one.strip() for one in text.split(","))):
        is_remark = part.partition(":")[0].strip().lower() in REMARKS
        if parts and ":" in parts[-1] and not is_remark:
            parts[-1] += f", {part}"
        else:
            parts.append(part)
    return parts


def lines_from_questions(rows: Sequence[dict[str, Any]]) -> str:
    """Write questions as lines."""
    return "\n".join(_line(row) for row in rows)


def _line(row: dict[str, Any]) -> str:
    kind = str(row.get("type", "text")).replace("-", "_")
    words = WORDS.get(kind, kind)
    if row.get("choices"):
        words += ": " + "; ".join(str(one) for one in row["choices"])
    remarks = [name for name in ("required", "publish") if row.get(name)]
    if row.get("role") == "native_language":
        remarks.append("native" + (": " + "; ".join(row["native"]) if row.get("native") else ""))
    if row.get("screen_out"):
        remarks.append("screen_out: " + "; ".join(row["screen_out"]))
    parts = [row.get("label") or row.get("name", ""), words, ", ".join(remarks)]
    return " | ".join(parts if remarks else parts[:2])
