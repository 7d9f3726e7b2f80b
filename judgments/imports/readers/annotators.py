"""Wide tables: one row for each sentence, one column for each person."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

import pandas as pd

from analysis.errors import BadInput, UnknownName
from judgments.imports.readers.base import Rows
from judgments.imports.readers.cells import is_empty

#: Columns that :func:`long_rows` makes.
PERSON, ANSWER = "participant", "value"
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
    people = [name for name in names if any(fnmatchcase(name, pattern) for pattern in patterns)]
    unknown = [pattern for pattern in patterns if not any(fnmatchcase(name, pattern) for name in names)]
    if unknown:
        raise UnknownName("column", unknown[0], names)
    columns = [name for name in names if name not in people]
    taken = [name for name in (PERSON, ANSWER) if name in columns]
    if taken:
        raise BadInput(
            "the table has this column beside those of single people.",
            file=rows.file,
            column=taken[0],
            remedy="Rename it, or leave the columns of people out.",
        )
    parts = []
    for name in people:
        part = rows.frame[columns].copy()
        part[PERSON], part[ANSWER] = name, rows.frame[name]
        parts.append(part)
    long = pd.concat(parts)
    empty = is_empty(long[ANSWER]).to_numpy()
    notes = (*rows.notes, f"{len(people)} columns hold the answers of one person each")
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
