"""Wide tables: a row for each sentence and a column for each person, or the other way round."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

import pandas as pd

from analysis.errors import BadInput, UnknownName
from judgments.imports.readers.base import Rows
from judgments.imports.readers.cells import is_empty

#: Columns that :func:`long_rows` and :func:`answer_rows` make.
PERSON, ANSWER, ITEM, SENTENCE = "participant", "value", "item", "sentence"
_NUMBERED = re.compile(r"(.*?\D|)[ _.\-]?(\d{1,3})")
_MIN_ALIKE = 3  # numbered columns of one name that look like people


def long_rows(rows: Rows, patterns: Sequence[str]) -> Rows:
    """Return one row for each answer of a wide table; empty cells are no answers.

    Notes
    -----
    The patterns are names of columns, with ``*`` for any characters. The name of a person's column is the
    participant, its cell the value; rows keep the line of the wide table.
    """
    names = [str(name) for name in rows.frame.columns]
    people = _matching(names, patterns)
    columns = [name for name in names if name not in people]
    _refuse_taken(columns, (PERSON, ANSWER), rows.file, of="people")
    parts = []
    for name in people:
        part = rows.frame[columns].copy()
        part[PERSON], part[ANSWER] = name, rows.frame[name]
        parts.append(part)
    long = pd.concat(parts)
    return _without_empty(rows, long, f"{len(people)} columns hold the answers of one person each")


def answer_columns(rows: Rows, patterns: Sequence[str]) -> list[str]:
    """Return the columns that the patterns name, in the order of the file."""
    return _matching([str(name) for name in rows.frame.columns], patterns)


def answer_rows(
    rows: Rows, answers: Sequence[str], *, items: Sequence[str] = (), sentences: Sequence[str] = ()
) -> Rows:
    """Return one row for each answer of a table with a row for each person; empty cells are no answers.

    Notes
    -----
    The name of a column is the item, unless items are given; its cell the value.
    """
    columns = [str(name) for name in rows.frame.columns if name not in answers]
    made = (ITEM, ANSWER, SENTENCE) if sentences else (ITEM, ANSWER)
    _refuse_taken(columns, made, rows.file, of="sentences")
    parts = []
    for number, name in enumerate(answers):
        part = rows.frame[columns].assign(**{ITEM: items[number] if items else name})
        part[ANSWER] = rows.frame[name]
        if sentences:
            part[SENTENCE] = sentences[number]
        parts.append(part)
    long = pd.concat(parts).sort_index(kind="stable")  # people one after another
    return _without_empty(rows, long, f"{len(answers)} columns hold the answers to one sentence each")


def _matching(names: Sequence[str], patterns: Sequence[str]) -> list[str]:
    unknown = [pattern for pattern in patterns if not any(fnmatchcase(name, pattern) for name in names)]
    if unknown:
        raise UnknownName("column", unknown[0], names)
    return [name for name in names if any(fnmatchcase(name, pattern) for pattern in patterns)]


def _refuse_taken(columns: Sequence[str], made: Sequence[str], file: str, *, of: str) -> None:
    taken = [name for name in made if name in columns]
    if taken:
        raise BadInput(
            f"the table has this column beside those of single {of}.",
            file=file,
            column=taken[0],
            remedy=f"Rename it, or leave the columns of {of} out.",
        )


def _without_empty(rows: Rows, long: pd.DataFrame, note: str) -> Rows:
    empty = is_empty(long[ANSWER]).to_numpy()
    notes = (*rows.notes, note)
    if empty.any():
        notes += (f"{int(empty.sum())} empty cells are no judgments",)
    return replace(rows, frame=long[~empty], notes=notes)


def people_columns(names: Sequence[str]) -> str:
    """Return a pattern of numbered columns that may be people; empty where there are none.

    Examples
    --------
    >>> people_columns(["sentence", "annotator1", "annotator2", "annotator3"])
    'annotator*'
    """
    stems = Counter(match[1] for name in names if (match := _NUMBERED.fullmatch(name)) and match[1])
    stem, number = max(stems.items(), key=lambda item: item[1], default=("", 0))
    is_only_people = sum(name.startswith(stem) for name in names) == number
    return f"{stem}*" if number >= _MIN_ALIKE and is_only_people else ""
