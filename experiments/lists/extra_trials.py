"""Practice, catch and anchor trials: validation, and the lines of text in which researchers edit them.

One trial per line. Where the task shows pairs: ``right sentence | other sentence | feedback``. Where it
shows a set: ``best sentence | other | other``, without feedback. Where it shows
one sentence: ``sentence | right answer | feedback``, the answer being a number, a range (``6-7``), yes
or no. Feedback is shown after a practice trial. Columns pasted from a table with tabs also work. In a line
whose first part is ``context: …``, this text is shown above the sentences, with line breaks for ``\\n``; in
one whose first part is ``markup: inline``, sentences have inline markup, as in materials. The sentence of a
catch trial whose line begins with ``check: instruction`` instructs participants what to answer; all other
catch trials have a clearly right answer.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from analysis.errors import BadInput
from experiments.materials.markup import COLUMN, INLINE
from experiments.materials.schema import CONTEXT
from experiments.stored_lines import StoredLines
from experiments.tasks.base import Task

RANGE = re.compile(r"([-−]?\d+(?:\.\d+)?)\s*(?:-|–|to)\s*([-−]?\d+(?:\.\d+)?)")
NUMBER = re.compile(r"[-−]?\d+(?:\.\d+)?")
WORDS = {"yes": 1, "no": 0}
CHECK, INSTRUCTION = "check", "instruction"
MARKS = {COLUMN: INLINE, CHECK: INSTRUCTION}  # prefixes that a line may begin with
MARKED = re.compile(
    r"\s*(?:" + "|".join(rf"({name})\s*[:=]\s*{value}" for name, value in MARKS.items()) + r")\s*[|\t]\s*",
    re.I,
)
CONTEXT_PART = re.compile(rf"\s*{CONTEXT}\s*[:=]\s*([^|\t]*?)\s*[|\t]\s*", re.I)
PAIR_KEYS = {"options", "correct", "feedback", "language", COLUMN, CHECK, CONTEXT}
SENTENCE_KEYS = {"text", "correct", "feedback", "language", COLUMN, CHECK, CONTEXT}


#: Fields of a study with trials beside those of its materials, and the kind of these trials.
EXTRAS = {"practice": "practice", "anchors": "anchor", "catch_trials": "catch"}


def checked_trials(rows: Sequence[Any], *, task: Task, kind: str) -> list[dict[str, Any]]:
    """Validate trials for what the task shows; the error names the first invalid one."""
    check = {"pair": _checked_pair, "sentence": _checked_sentence, "set": _checked_set}[task.shows]
    return [check(row, f"{kind} trial {number}", kind=kind) for number, row in enumerate(rows, start=1)]


def checked_answers(
    rows: Sequence[dict[str, Any]], *, task: Task, settings: Mapping[str, Any], kind: str
) -> None:
    """Refuse right answers that no participant can give with these parameters of the task."""
    parameters = {**{parameter.name: parameter.default for parameter in task.parameters}, **settings}
    for number, row in enumerate(rows, start=1):
        correct = row.get("correct")
        if task.shows != "sentence" or correct is None:
            continue
        low, high = correct if isinstance(correct, list) else (correct, correct)
        if not task.can_answer(low, high, parameters):
            answer = f"{low:g}" if low == high else f"{low:g} to {high:g}"
            raise BadInput(
                f"{kind} trial {number} has the right answer {answer}, which is impossible to give: "
                f"possible are {task.possible_answers(parameters)}.",
                remedy="Correct the right answer, or the scale.",
            )


def _checked_keys(row: Any, name: str, *, keys: set[str], kind: str) -> None:
    if not isinstance(row, dict):
        raise BadInput(f"{name} is not a JSON object.", remedy="Write {...}.")
    if unknown := sorted(set(row) - keys):
        raise BadInput(
            f"{name} has an unknown key {unknown[0]!r}.", remedy=f"There are: {', '.join(sorted(keys))}."
        )
    for field in ("feedback", "language", CONTEXT):
        if not isinstance(row.get(field, ""), str):
            raise BadInput(f"{name} has a {field} that is not text.", remedy="Write text.")
    if row.get(COLUMN) not in (None, "", INLINE):
        raise BadInput(f"{name} has {COLUMN} {row[COLUMN]!r}.", remedy=f"Write {INLINE!r}, or leave it out.")
    if row.get(CHECK) not in (None, INSTRUCTION) or (row.get(CHECK) and kind != "catch"):
        raise BadInput(
            f"{name} has {CHECK} {row[CHECK]!r}.",
            remedy=f"Catch trials may have {INSTRUCTION!r}; leave it out.",
        )
    if kind == "catch" and row.get("correct") is None:
        raise BadInput(f"{name} has no right answer.", remedy="A catch trial needs one.")


def _checked_pair(row: Any, name: str, *, kind: str) -> dict[str, Any]:
    _checked_keys(row, name, keys=PAIR_KEYS, kind=kind)
    options = row.get("options")
    texts = (
        [option.get("text") if isinstance(option, dict) else None for option in options]
        if isinstance(options, list)
        else []
    )
    if (
        len(texts) != 2
        or not all(isinstance(text, str) and text.strip() for text in texts)
        or texts[0] == texts[1]
    ):
        raise BadInput(f"{name} does not have two different sentences.", remedy="Write both.")
    if row.get("correct") not in (None, 0, 1):
        raise BadInput(
            f"{name} has 'correct' {row['correct']!r}.", remedy="Set it to 0 or 1, the right option."
        )
    return dict(row)


def _checked_set(row: Any, name: str, *, kind: str) -> dict[str, Any]:
    _checked_keys(row, name, keys=PAIR_KEYS, kind=kind)
    options = row.get("options")
    texts = [option.get("text") if isinstance(option, dict) else None for option in options or ()]
    if not all(isinstance(text, str) and text.strip() for text in texts) or not 3 <= len(set(texts)) <= 6:
        raise BadInput(f"{name} does not have three to six different sentences.", remedy="Write them all.")
    if len(set(texts)) < len(texts):
        raise BadInput(f"{name} has a sentence twice.", remedy="Write different sentences.")
    if row.get("correct") is not None and row["correct"] not in range(len(texts)):
        raise BadInput(
            f"{name} has 'correct' {row['correct']!r}.", remedy="Give the index of the best sentence, from 0."
        )
    return dict(row)


def _checked_sentence(row: Any, name: str, *, kind: str) -> dict[str, Any]:
    _checked_keys(row, name, keys=SENTENCE_KEYS, kind=kind)
    if not isinstance(row.get("text"), str) or not row["text"].strip():
        raise BadInput(f"{name} has no sentence.", remedy="Write the sentence to show.")
    correct = row.get("correct")
    ends = correct if isinstance(correct, list) else [correct, correct]
    if correct is not None and (
        len(ends) != 2 or not all(_is_number(end) for end in ends) or ends[0] > ends[1]
    ):
        raise BadInput(f"{name} has 'correct' {correct!r}.", remedy="Write a number, or lowest and highest.")
    return dict(row)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def trials_from_lines(
    text: str, *, task: Task, kind: str, stored: Sequence[dict[str, Any]] = ()
) -> list[dict[str, Any]]:
    """Parse lines to trials; an unchanged line keeps its stored trial, errors name the line."""
    parse = {"pair": _pair_line, "sentence": _sentence_line, "set": _set_line}[task.shows]
    fitting = [row for row in stored if _fits(row, task, kind)]
    stored_lines = StoredLines(fitting, write=lambda row: _line(row, task))
    rows = []
    for number, line in enumerate(text.splitlines(), start=1):
        if (unchanged := stored_lines.take(line)) is not None:
            rows.append(unchanged)
        elif line.strip():
            marks, content = _marks(line)
            rows.append({**parse(content, number), **marks})
    return checked_trials(rows, task=task, kind=kind)


def _fits(row: dict[str, Any], task: Task, kind: str) -> bool:
    """Whether this task can show a stored trial, which may have been written for another task."""
    try:
        return bool(checked_trials([row], task=task, kind=kind))
    except BadInput:
        return False


def _marks(line: str) -> tuple[dict[str, str], str]:
    """Split a line into its prefixes and its content."""
    prefixes: dict[str, str] = {}
    while match := MARKED.match(line) or CONTEXT_PART.match(line):
        if match.re is CONTEXT_PART:
            name, value = CONTEXT, match[1].replace(r"\n", "\n")
        else:
            name = next(group for group in match.groups() if group).lower()
            value = MARKS[name]
        prefixes[name], line = value, line[match.end() :]
    return prefixes, line


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
    if bounds := RANGE.fullmatch(text):
        return [_plain(bounds[1]), _plain(bounds[2])]
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
    """Format trials as lines; of trials written for another task only the parts that fit."""
    return "\n".join(_line(row, task) for row in rows)


def _line(row: dict[str, Any], task: Task) -> str:
    if "options" in row:
        texts = [option.get("text", "") for option in row["options"]]
        right = row.get("correct") or 0
        parts = [*texts[right : right + 1], *texts[:right], *texts[right + 1 :]]
    else:
        parts = [row.get("text", ""), answer_text(row.get("correct"), task)]
    parts = [*parts, row.get("feedback", "")]
    while parts and not parts[-1]:
        parts.pop()
    marks = [f"{name}: {value}" for name, value in MARKS.items() if row.get(name) == value]
    if row.get(CONTEXT):
        marks.append(f"{CONTEXT}: " + row[CONTEXT].replace("\n", r"\n"))
    return " | ".join([*marks, *parts])


def answer_text(correct: Any, task: Task) -> str:
    """The right answer of a stored trial as researchers write it; empty without one."""
    if correct is None:
        return ""
    if isinstance(correct, list):
        return "-".join(str(bound) for bound in correct)
    if task.name == "yes_no":
        return {1: "yes", 0: "no"}.get(correct, str(correct))
    return str(correct)
