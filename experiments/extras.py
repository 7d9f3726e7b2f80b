"""Practice, catch and anchor trials: checked rows, and lines that a researcher can write.

One trial per line. Where the task shows pairs: ``right sentence | other sentence | feedback``. Where it
shows a set: ``best sentence | other | other``, without feedback. Where it shows
one sentence: ``sentence | right answer | feedback``, the answer being a number, a range (``6-7``), yes
or no. Feedback is shown after a practice trial. A table's columns pasted with tabs work too. A line whose
first part is ``markup: inline`` has sentences in which a few tags keep their meaning, as in materials. A
catch trial whose line begins with ``check: instruction`` says itself what to answer; all others are gold:
their sentences have one plain answer.
"""

import re
from collections.abc import Sequence
from typing import Any

from analysis.errors import BadInput
from experiments.materials.markup import COLUMN, INLINE
from experiments.untouched import Untouched
from judgments.tasks.base import Task

RANGE = re.compile(r"([-−]?\d+(?:\.\d+)?)\s*(?:-|–|to)\s*([-−]?\d+(?:\.\d+)?)")
NUMBER = re.compile(r"[-−]?\d+(?:\.\d+)?")
WORDS = {"yes": 1, "no": 0}
CHECK, INSTRUCTION = "check", "instruction"
MARKS = {COLUMN: INLINE, CHECK: INSTRUCTION}  # what may stand before the sentences of a line
MARKED = re.compile(
    r"\s*(?:" + "|".join(rf"({name})\s*[:=]\s*{value}" for name, value in MARKS.items()) + r")\s*[|\t]\s*",
    re.I,
)
PAIR_KEYS = {"options", "correct", "feedback", "language", COLUMN, CHECK}
SENTENCE_KEYS = {"text", "correct", "feedback", "language", COLUMN, CHECK}


def checked_trials(rows: Sequence[Any], *, task: Task, kind: str) -> list[dict[str, Any]]:
    """The trials, each of the form the task shows; the first that cannot be shown is refused and named."""
    check = {"pair": _checked_pair, "sentence": _checked_sentence, "set": _checked_set}[task.shows]
    return [check(row, f"{kind} trial {number}", kind=kind) for number, row in enumerate(rows, start=1)]


def _checked_keys(row: Any, place: str, *, known: set[str], kind: str) -> None:
    if not isinstance(row, dict):
        raise BadInput(f"{place} is no JSON object.", remedy="Write {...}.")
    if unknown := sorted(set(row) - known):
        raise BadInput(
            f"{place} has an unknown key {unknown[0]!r}.", remedy=f"There are: {', '.join(sorted(known))}."
        )
    for name in ("feedback", "language"):
        if not isinstance(row.get(name, ""), str):
            raise BadInput(f"{place} has a {name} that is no text.", remedy="Write words.")
    if row.get(COLUMN) not in (None, "", INLINE):
        raise BadInput(f"{place} has {COLUMN} {row[COLUMN]!r}.", remedy=f"Write {INLINE!r}, or leave it out.")
    if row.get(CHECK) not in (None, INSTRUCTION) or (row.get(CHECK) and kind != "catch"):
        raise BadInput(
            f"{place} has {CHECK} {row[CHECK]!r}.",
            remedy=f"Catch trials may have {INSTRUCTION!r}; leave it out.",
        )
    if kind == "catch" and row.get("correct") is None:
        raise BadInput(f"{place} has no right answer.", remedy="A catch trial needs one.")


def _checked_pair(row: Any, place: str, *, kind: str) -> dict[str, Any]:
    _checked_keys(row, place, known=PAIR_KEYS, kind=kind)
    options = row.get("options")
    texts = (
        [one.get("text") if isinstance(one, dict) else None for one in options]
        if isinstance(options, list)
        else []
    )
    if (
        len(texts) != 2
        or not all(isinstance(one, str) and one.strip() for one in texts)
        or texts[0] == texts[1]
    ):
        raise BadInput(f"{place} does not have two different sentences.", remedy="Write both.")
    if row.get("correct") not in (None, 0, 1):
        raise BadInput(
            f"{place} has 'correct' {row['correct']!r}.", remedy="Set it to 0 or 1, the right option."
        )
    return dict(row)


def _checked_set(row: Any, place: str, *, kind: str) -> dict[str, Any]:
    _checked_keys(row, place, known=PAIR_KEYS, kind=kind)
    options = row.get("options")
    texts = [one.get("text") if isinstance(one, dict) else None for one in options or ()]
    if not all(isinstance(one, str) and one.strip() for one in texts) or not 3 <= len(set(texts)) <= 6:
        raise BadInput(f"{place} does not have three to six different sentences.", remedy="Write them all.")
    if len(set(texts)) < len(texts):
        raise BadInput(f"{place} has a sentence twice.", remedy="Write different sentences.")
    if row.get("correct") is not None and row["correct"] not in range(len(texts)):
        raise BadInput(
            f"{place} has 'correct' {row['correct']!r}.", remedy="Give the best one's place, from 0."
        )
    return dict(row)


def _checked_sentence(row: Any, place: str, *, kind: str) -> dict[str, Any]:
    _checked_keys(row, place, known=SENTENCE_KEYS, kind=kind)
    if not isinstance(row.get("text"), str) or not row["text"].strip():
        raise BadInput(f"{place} has no sentence.", remedy="Write the sentence to show.")
    correct = row.get("correct")
    ends = correct if isinstance(correct, list) else [correct, correct]
    if correct is not None and (
        len(ends) != 2 or not all(_is_number(one) for one in ends) or ends[0] > ends[1]
    ):
        raise BadInput(f"{place} has 'correct' {correct!r}.", remedy="Write a number, or lowest and highest.")
    return dict(row)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def trials_from_lines(
    text: str, *, task: Task, kind: str, known: Sequence[dict[str, Any]] = ()
) -> list[dict[str, Any]]:
    """Read lines, the first that cannot be read is named; one as it was is its trial, whole."""
    read = {"pair": _pair_line, "sentence": _sentence_line, "set": _set_line}[task.shows]
    fitting = [row for row in known if _fits(row, task, kind)]
    untouched = Untouched(fitting, write=lambda row: _line(row, task))
    rows = []
    for number, line in enumerate(text.splitlines(), start=1):
        if (whole := untouched.take(line)) is not None:
            rows.append(whole)
        elif line.strip():
            marks, rest = _marks(line)
            rows.append({**read(rest, number), **marks})
    return checked_trials(rows, task=task, kind=kind)


def _fits(row: dict[str, Any], task: Task, kind: str) -> bool:
    """Whether a trial that was stored, perhaps for another task, can be shown by this one."""
    try:
        return bool(checked_trials([row], task=task, kind=kind))
    except BadInput:
        return False


def _marks(line: str) -> tuple[dict[str, str], str]:
    """What stands before the sentences, and the rest of the line."""
    marks: dict[str, str] = {}
    while found := MARKED.match(line):
        name = next(one for one in found.groups() if one).lower()
        marks[name], line = MARKS[name], line[found.end() :]
    return marks, line


def _parts(line: str, number: int) -> list[str]:
    parts = [part.strip() for part in line.split("\t" if "\t" in line else "|")]
    if len(parts) > 3:
        raise BadInput(f"line {number} has more than three parts.", remedy="Separate parts with one | each.")
    return [*parts, "", ""][:3]


def _pair_line(line: str, number: int) -> dict[str, Any]:
    right, other, feedback = _parts(line, number)
    if not right or not other:
        raise BadInput(f"line {number} has one sentence.", remedy="Write: right sentence | other sentence.")
    row: dict[str, Any] = {"options": [{"text": right}, {"text": other}], "correct": 0}
    return {**row, "feedback": feedback} if feedback else row


def _set_line(line: str, number: int) -> dict[str, Any]:
    parts = [part.strip() for part in line.split("\t" if "\t" in line else "|")]
    return {"options": [{"text": part} for part in parts if part], "correct": 0}


def _sentence_line(line: str, number: int) -> dict[str, Any]:
    sentence, answer, feedback = _parts(line, number)
    row: dict[str, Any] = {"text": sentence}
    if answer:
        row["correct"] = _answer(answer, number)
    return {**row, "feedback": feedback} if feedback else row


def _answer(text: str, number: int) -> Any:
    if text.lower() in WORDS:
        return WORDS[text.lower()]
    if both := RANGE.fullmatch(text):
        return [_plain(both[1]), _plain(both[2])]
    if NUMBER.fullmatch(text):
        return _plain(text)
    raise BadInput(
        f"line {number} has the right answer {text!r}.",
        remedy="Write a number, a range such as 6-7, yes or no.",
    )


def _plain(digits: str) -> int | float:
    digits = digits.replace("−", "-")
    return float(digits) if "." in digits else int(digits)


def lines_from_trials(rows: Sequence[dict[str, Any]], *, task: Task) -> str:
    """Write trials as lines; rows made for another kind of task come out as far as they fit."""
    return "\n".join(_line(row, task) for row in rows)


def _line(row: dict[str, Any], task: Task) -> str:
    if "options" in row:
        texts = [one.get("text", "") for one in row["options"]]
        right = row.get("correct") or 0
        parts = [*texts[right : right + 1], *texts[:right], *texts[right + 1 :]]
    else:
        parts = [row.get("text", ""), _written(row.get("correct"), task)]
    parts = [*parts, row.get("feedback", "")]
    while parts and not parts[-1]:
        parts.pop()
    marks = [f"{name}: {value}" for name, value in MARKS.items() if row.get(name) == value]
    return " | ".join([*marks, *parts])


def _written(correct: Any, task: Task) -> str:
    if correct is None:
        return ""
    if isinstance(correct, list):
        return "-".join(str(one) for one in correct)
    if task.name == "yes_no":
        return {1: "yes", 0: "no"}.get(correct, str(correct))
    return str(correct)
