"""Wide tables as rows of one answer each.

Tables with a column for each person or for each sentence, with counts of answers, or with sets of sentences.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
import pandas as pd

from analysis.errors import BadInput, UnknownName
from experiments.materials.delimited import refuse_many_cells
from experiments.materials.schema import simple_name
from judgments.imports.readers.base import Rows
from judgments.imports.readers.cells import is_empty, strip_cell, whole_number

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
    new_columns = (ITEM, ANSWER, SENTENCE) if sentences else (ITEM, ANSWER)
    _refuse_taken(columns, new_columns, rows.file, of="sentences")
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


def count_rows(rows: Rows, columns: Mapping[str, str]) -> tuple[Rows, dict[str, str]]:
    """Return one row for each of the answers that a table counts, and the columns of the rows.

    Notes
    -----
    A count is ``n_yes`` with ``n_no`` or ``n_answers``, or a cell such as ``12 of 20`` or ``12/20``. The file
    does not say who answered, so that every answer is of a participant of its own.
    """
    n_yes, n_answers = _counts(rows, columns)
    frame = rows.frame.drop(columns=[columns[name] for name in COUNTS if name in columns])
    _refuse_taken([str(name) for name in frame.columns], (PERSON, ANSWER), rows.file, of="counts")
    total = int(n_answers.sum())
    refuse_many_cells(
        total,
        len(frame.columns),
        n_bytes=MAX_LONG_CELLS,
        file=rows.file,
        place="the table with a row per answer",
    )
    long = frame.loc[frame.index.repeat(n_answers)] if frame.index.is_unique else frame
    place = np.concatenate([np.arange(count) for count in n_answers]) if total else np.array([], dtype=int)
    is_yes = place < np.repeat(n_yes, n_answers)
    people = [f"answer-{number}" for number in range(1, total + 1)]
    answers: dict[str, Any] = {PERSON: people, ANSWER: np.where(is_yes, "1", "0").astype(object)}
    long = long.assign(**answers)
    remaining = {name: column for name, column in columns.items() if name not in COUNTS}
    return replace(rows, frame=long), {**remaining, "participant": PERSON, "value": ANSWER}


COUNTS = ("n_yes", "n_no", "n_answers")
_COUNT_NAMES = {
    "n_yes": "yes yeses n_yes yes_count count_yes accept accepted n_accept n_accepted percent_yes pct_yes "
    "pct percent perc_yes prop_yes prop proportion proportion_yes share_yes percent_accepted percentage",
    "n_no": "no noes n_no no_count count_no reject rejected n_reject n_rejected",
    "n_answers": "n total n_total total_n n_answers n_judgments n_responses n_participants n_subjects count",
}
_SHARE = re.compile(r"(\d+)\s*(?:/|of|von|de|out of)\s*(\d+)", re.IGNORECASE)


def _counts(rows: Rows, columns: Mapping[str, str]) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of answers with yes and of all answers of each row."""
    cells = rows.frame[columns["n_yes"]].map(strip_cell)
    shares = cells.map(_SHARE.fullmatch)
    if shares.notna().all():
        yes, answers = ([int(match[group]) for match in shares] for group in (1, 2))
    else:
        other = next((name for name in ("n_no", "n_answers") if name in columns), "")
        if not other:
            near = likely_counts([str(name) for name in rows.frame.columns])
            raise BadInput(
                "the counts have no total.",
                file=rows.file,
                column=columns["n_yes"],
                remedy="Map n_no or n_answers to the column of the other count"
                + (f" (--map {near})" if near else "")
                + ", or write 12 of 20.",
            )
        answers = _whole_numbers(rows, columns[other])
        if other == "n_answers" and (parts := _parts_of_one(cells)) is not None:
            return _counts_of_shares(rows, columns["n_yes"], parts, answers), np.array(answers, dtype=int)
        yes = _whole_numbers(rows, columns["n_yes"])
        if other == "n_no":
            answers = [n_yes + n_no for n_yes, n_no in zip(yes, answers, strict=True)]
    for row, n_yes, n_answers in zip(rows.frame.index, yes, answers, strict=True):
        if n_yes > n_answers:
            raise BadInput(
                f"{n_yes} of {n_answers} answers is no count.",
                file=rows.file,
                row=int(row),
                column=columns["n_yes"],
                remedy="Correct the row, or map n_no if the other column counts the answers with no.",
            )
    return np.array(yes, dtype=int), np.array(answers, dtype=int)


def likely_counts(names: Sequence[str]) -> str:
    """Return the options that map columns whose names may be those of counts; empty if there are none.

    Examples
    --------
    >>> likely_counts(["item", "yes", "n"])
    'n_yes=yes n_answers=n'
    """
    simple = {simple_name(name): name for name in reversed(names)}
    near = {
        field: next((simple[name] for name in words.split() if name in simple), "")
        for field, words in _COUNT_NAMES.items()
    }
    total = "n_answers" if near["n_answers"] else "n_no"
    fields = [f"{field}={near[field]}" for field in ("n_yes", total) if near[field]]
    return " ".join(fields) if near["n_yes"] and len(fields) == 2 else ""


def _parts_of_one(cells: "pd.Series[str]") -> list[float] | None:
    """Return the cells as parts of 1 where all are percentages, or numbers to 1 of which some are fractions.

    Examples
    --------
    >>> _parts_of_one(pd.Series(["60 %", "5%"])), _parts_of_one(pd.Series(["0.25", "1"]))
    ([0.6, 0.05], [0.25, 1.0])
    """
    if cells.str.fullmatch(r"\d+(?:[.,]\d+)?\s*%").all():
        return [float(cell.rstrip("% ").replace(",", ".")) / 100 for cell in cells]
    numbers = pd.to_numeric(cells, errors="coerce")
    is_share = numbers.between(0, 1).all() and (numbers % 1 != 0).any()
    return numbers.tolist() if is_share else None


def _counts_of_shares(rows: Rows, column: str, parts: Sequence[float], answers: Sequence[int]) -> np.ndarray:
    """Return the numbers of answers that shares are; refuse shares of which that is no whole number."""
    counts = []
    for row, part, n_answers in zip(rows.frame.index, parts, answers, strict=True):
        count = round(part * n_answers)
        if abs(count - part * n_answers) > 0.006 * n_answers:  # of a share that is rounded to whole percent
            raise BadInput(
                f"{100 * part:g} % of {n_answers} answers is no whole number.",
                file=rows.file,
                row=int(row),
                column=column,
                remedy="Give the number of answers with yes.",
            )
        counts.append(count)
    return np.array(counts, dtype=int)


def _whole_numbers(rows: Rows, column: str) -> list[int]:
    numbers = [whole_number(strip_cell(cell).removesuffix(".0")) for cell in rows.frame[column]]
    for row, cell, number in zip(rows.frame.index, rows.frame[column], numbers, strict=True):
        if number is None:
            raise BadInput(
                f"{cell!r} is no count.",
                file=rows.file,
                row=int(row),
                column=column,
                remedy="Write whole numbers.",
            )
    return [number or 0 for number in numbers]


def set_rows(
    rows: Rows, columns: Mapping[str, str], *, missing: Sequence[str] = ()
) -> tuple[Rows, dict[str, str]]:
    """Return one row for each sentence of each best–worst set, and the columns of the rows.

    Notes
    -----
    A row of the table is a set: ``options`` are its columns of sentences, joined by ``+``; ``best`` and
    ``worst`` name a sentence by its text, its column, or its place (from 1, or from 0 where a 0 occurs; a
    letter). The value is 1 for the best, −1 for the worst, 0 for the others.
    """
    names = _option_columns(rows, columns)
    frame = rows.frame.drop(columns=names)
    other_columns = [str(name) for name in frame.columns if name not in (columns["best"], columns["worst"])]
    _refuse_taken(other_columns, (SENTENCE, ANSWER, SET, PLACE), rows.file, of="sets")
    refuse_many_cells(
        len(frame) * len(names),
        len(frame.columns),
        n_bytes=MAX_LONG_CELLS,
        file=rows.file,
        place="the table with a row per sentence",
    )
    marked = {mark: rows.frame[columns[mark]].map(strip_cell) for mark in ("best", "worst")}
    marked = {mark: cells.where(~cells.isin(missing), "") for mark, cells in marked.items()}
    first = _first_number(marked, names, rows.file)
    marks = {
        mark: _marked_places(rows, cells, columns[mark], names, first=first) for mark, cells in marked.items()
    }
    for row, best, worst in zip(frame.index, marks["best"], marks["worst"], strict=True):
        if best == worst and best is not None:
            raise BadInput(
                "one sentence is both the best and the worst.",
                file=rows.file,
                row=int(row),
                column=columns["worst"],
                remedy="Correct the row.",
            )
    parts = []
    for place, name in enumerate(names):
        values = [
            "" if best is None or worst is None else str((best == place) - (worst == place))
            for best, worst in zip(marks["best"], marks["worst"], strict=True)
        ]
        cells: dict[str, Any] = {
            SENTENCE: rows.frame[name],
            ANSWER: values,
            SET: range(1, len(frame) + 1),
            PLACE: str(place + 1),
        }
        parts.append(frame[other_columns].assign(**cells))
    long = pd.concat(parts).sort_values([SET, PLACE], kind="stable")
    long = long[~is_empty(long[SENTENCE]).to_numpy()].astype({SET: str})
    note = f"{len(frame)} best–worst sets of up to {len(names)} sentences: {', '.join(names)}"
    remaining = {name: column for name, column in columns.items() if name not in ("best", "worst", "options")}
    remaining |= {"sentence": SENTENCE, "value": ANSWER}
    return replace(rows, frame=long, notes=(*rows.notes, note)), remaining


SET, PLACE = "set of sentences", "place in the set"


def _option_columns(rows: Rows, columns: Mapping[str, str]) -> list[str]:
    """Return the columns of a set's sentences: as mapped, else the numbered ones that hold the best."""
    names = [str(name) for name in rows.frame.columns]
    if stated := columns.get("options"):
        return _matching(names, stated.split("+"))
    families: dict[str, list[str]] = {}
    for name in names:
        if match := re.fullmatch(r"(.*?)[ _.\-]?(\d|[A-Fa-f])", name):
            families.setdefault(match[1].lower(), []).append(name)
    fitting = [cells for cells in families.values() if 3 <= len(cells) <= MAX_SET]
    if len(fitting) == 1:
        return fitting[0]
    raise BadInput(
        "the columns with the sentences of a set are not known.",
        file=rows.file,
        remedy="Name them: --map options=item1+item2+item3+item4, or options=item*.",
    )


MAX_SET = 6


def _first_number(marked: Mapping[str, "pd.Series[str]"], names: Sequence[str], file: str) -> int:
    """Return whether places count from 0 or from 1, by the numbers that occur."""
    cells = {cell for column in marked.values() for cell in column.unique()}
    numbers = {number for cell in cells if (number := whole_number(cell)) is not None}
    if numbers and not numbers & {0, len(names)}:
        raise BadInput(
            f"the places {', '.join(map(str, sorted(numbers)))} may count from 0 or from 1.",
            file=file,
            remedy="Write the sentences or the names of their columns as best and worst.",
        )
    return 0 if 0 in numbers else 1


def _marked_places(
    rows: Rows, cells: "pd.Series[str]", column: str, names: Sequence[str], *, first: int
) -> list[int | None]:
    """Return the place, from 0, of the sentence that each row marks; None where it marks none."""
    texts = rows.frame[list(names)].to_numpy().tolist()
    simple = [name.casefold() for name in names]
    places: list[int | None] = []
    for row, cell, options in zip(rows.frame.index, cells, texts, strict=True):
        place = None
        if cell in options:
            place = options.index(cell)
        elif cell.casefold() in simple:
            place = simple.index(cell.casefold())
        elif (number := whole_number(cell)) is not None:
            place = number - first
        elif re.fullmatch(r"[A-Fa-f]", cell):
            place = ord(cell.casefold()) - ord("a")
        if cell and (place is None or not 0 <= place < len(names)):
            raise BadInput(
                f"{cell[:60]!r} is no sentence of the set.",
                file=rows.file,
                row=int(row),
                column=column,
                remedy=f"Write the sentence, its column ({', '.join(names)}) or its place.",
            )
        places.append(place)
    return places


def _matching(names: Sequence[str], patterns: Sequence[str]) -> list[str]:
    unknown = [pattern for pattern in patterns if not any(fnmatchcase(name, pattern) for name in names)]
    if unknown:
        raise UnknownName("column", unknown[0], names)
    return [name for name in names if any(fnmatchcase(name, pattern) for pattern in patterns)]


def _refuse_taken(columns: Sequence[str], new_columns: Sequence[str], file: str, *, of: str) -> None:
    taken = [name for name in new_columns if name in columns]
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
