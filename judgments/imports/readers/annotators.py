"""Wide tables: a row for each sentence and a column for each person, or the other way round."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

import pandas as pd

from analysis.errors import BadInput, UnknownName
from experiments.materials.delimited import refuse_many_cells
from judgments.imports.readers.base import Rows
from judgments.imports.readers.cells import is_empty

#: Columns that :func:`long_rows` and :func:`answer_rows` make.
PERSON, ANSWER, ITEM, SENTENCE = "participant", "value", "item", "sentence"
_NUMBERED = re.compile(r"(.*?\D|)[ _.\-]?(\d{1,3})")
MAX_LONG_CELLS = 20_000_000  # answers × columns repeated with each: some 200 MB
_MIN_ALIKE = 3  # numbered columns of one name that look like annotators


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
    _refuse_many_answers(rows, people, n_columns=len(columns))
    for name in people:
        part = rows.frame.loc[~is_empty(rows.frame[name]).to_numpy(), [*columns, name]]
        parts.append(part.rename(columns={name: ANSWER}).assign(**{PERSON: name}))
    long = pd.concat(parts)[[*columns, PERSON, ANSWER]]
    return _with_count(rows, long, len(people), f"{len(people)} columns hold the answers of one person each")


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
    _refuse_many_answers(rows, answers, n_columns=len(columns))
    for number, name in enumerate(answers):
        answered = rows.frame[~is_empty(rows.frame[name]).to_numpy()]
        part = answered[columns].assign(**{ITEM: items[number] if items else name})
        part[ANSWER] = answered[name]
        if sentences:
            part[SENTENCE] = sentences[number]
        parts.append(part)
    long = pd.concat(parts).sort_index(kind="stable")  # annotators one after another
    return _with_count(
        rows, long, len(answers), f"{len(answers)} columns hold the answers to one sentence each"
    )


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


def _refuse_many_answers(rows: Rows, names: Sequence[str], *, n_columns: int) -> None:
    """Refuse a table whose other columns, repeated with every answer, would fill the memory."""
    n_answers = sum(int((~is_empty(rows.frame[name])).sum()) for name in names)
    refuse_many_cells(
        n_answers, n_columns, n_bytes=MAX_LONG_CELLS, file=rows.file, place="the table with a row per answer"
    )


def _with_count(rows: Rows, long: pd.DataFrame, n_columns: int, note: str) -> Rows:
    """Return the answers, with the number of cells that are none."""
    notes = (*rows.notes, note)
    if n_empty := len(rows.frame) * n_columns - len(long):
        notes += (f"{n_empty} empty cells are no judgments",)
    return replace(rows, frame=long, notes=notes)


def people_columns(names: Sequence[str]) -> str:
    """Return a pattern of numbered columns that may be annotators; empty if there are none.

    Examples
    --------
    >>> people_columns(["sentence", "annotator1", "annotator2", "annotator3"])
    'annotator*'
    """
    stems = Counter(match[1] for name in names if (match := _NUMBERED.fullmatch(name)) and match[1])
    stem, number = max(stems.items(), key=lambda item: item[1], default=("", 0))
    is_only_people = sum(name.startswith(stem) for name in names) == number
    return f"{stem}*" if number >= _MIN_ALIKE and is_only_people else ""
