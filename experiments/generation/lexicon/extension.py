"""Rows that a researcher adds to a lexicon: read and check a table of words with their forms."""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from analysis.errors import BadInput, UnknownName
from experiments.generation.lexicon.building import build_forms
from experiments.generation.lexicon.checking import (
    ambiguity_faults,
    fault,
    form_faults,
    list_faults,
    row_faults,
    selection_faults,
)
from experiments.generation.lexicon.classes import class_tree
from experiments.generation.lexicon.columns import IDENTITY, columns, expected_forms
from experiments.generation.lexicon.reading import (
    Lexeme,
    Lexicon,
    decode_csv,
    is_inflected,
    lexicon_folder,
    read_lexeme,
    read_lexicon,
    table_rows,
    with_forms,
)

#: Words with content; determiners, auxiliaries and pronouns are those of the platform.
CATEGORIES = ("noun", "name", "verb", "adj", "adv")
#: Columns of forms beside those of the lexicon; an empty cell takes the form of a row of the platform.
FORMS = ("pl", "s", "past", "participle", "ing")
CITATION = ("sg", "pl", "mass", "base", "s")
MAX_ROWS = 5_000
MAX_FAULTS = 100
Words = tuple[str, str]  # name of a table, its content


def own_rows(words: Words, base: Lexicon) -> tuple[list[Lexeme], list[BadInput]]:
    """Return the rows of a table with their forms, and the faults that kept rows out."""
    file, text = words
    rows: list[Lexeme] = []
    faults: list[BadInput] = []
    known_forms: dict[tuple[str, str], Mapping[str, str]] = {
        (row.lemma, row.category): row.forms for row in base.rows if row.category in CATEGORIES
    }
    try:
        decode_csv(text.encode(), file=file)
        for number, cells in table_rows(text, file=file):
            if number > MAX_ROWS + 1:
                raise BadInput(f"more than {MAX_ROWS:,} rows.", file=file, remedy="Make two tables.")
            _check_header(cells, file)
            try:
                rows.append(_row(cells, known_forms, base.language, file=file, number=number))
            except BadInput as error:
                faults.append(error)
    except BadInput as error:
        faults.append(error)
    if not rows and not faults:
        faults.append(BadInput("has no rows.", file=file, remedy="Write a header and a row for each word."))
    return rows, faults[:MAX_FAULTS]


def _check_header(cells: Mapping[str, str], file: str) -> None:
    options = [*IDENTITY, *columns(), *FORMS]
    for name in cells:
        if name not in options:
            error = UnknownName("column", name, options)
            raise BadInput(error.message, file=file, row=1, column=name, remedy=error.remedy)


def _row(
    cells: Mapping[str, str],
    known_forms: Mapping[tuple[str, str], Mapping[str, str]],
    language: str,
    *,
    file: str,
    number: int,
) -> Lexeme:
    row = read_lexeme(cells, columns(), class_tree(), file=file, row=number)
    if row.category not in CATEGORIES:
        raise fault(row, "category", f"{row.category!r} cannot be added.", f"Choose {', '.join(CATEGORIES)}.")
    inflected = is_inflected(lexicon_folder(language))
    expected = expected_forms(row.category, row.features, inflected=inflected)
    stored = known_forms.get((row.lemma, row.category), {})
    written_forms = {key: cells[key].strip() for key in FORMS if cells.get(key, "").strip()}
    for key in written_forms:
        if key not in expected:
            raise BadInput(
                f"{row.lemma!r} has no form {key!r}.",
                file=file,
                row=number,
                column=key,
                remedy="Empty the cell.",
            )
    forms = {key: stored[key] for key in expected if key in stored} | written_forms
    try:
        complete = build_forms(row, forms, lambda lemma, tag: "", inflected_language=inflected)
    except BadInput as error:
        missing = next(key for key in expected if key in FORMS and not forms.get(key))
        raise BadInput(
            error.message, file=file, row=number, column=missing, remedy=f"Write it in the column {missing}."
        ) from error
    return with_forms(row, {key: form for key, (form, _) in complete.items()}, inflected=inflected)


def word_faults(words: Words, base: Lexicon, *, beside: Sequence[Words] = ()) -> list[BadInput]:
    """Return all that is wrong with a table of words, beside the rows of the platform and of other tables."""
    rows, faults = own_rows(words, base)
    others = [row for table in beside for row in own_rows(table, base)[0]]
    every = [*base.rows, *others, *rows]
    lexicon = Lexicon(base.language, every)
    inflected = is_inflected(lexicon_folder(base.language))
    checks: tuple[Callable[[], Iterable[BadInput]], ...] = (
        lambda: row_faults(every),
        lambda: form_faults(rows) if inflected else (),
        lambda: ambiguity_faults(every),
        lambda: shared_form_faults(rows, every),
        lambda: selection_faults(lexicon, rows),
        lambda: list_faults(lexicon, rows),
    )
    own_files = {words[0]}
    faults += [error for check in checks for error in check() if error.file in own_files]
    return faults[:MAX_FAULTS]


def shared_form_faults(rows: Sequence[Lexeme], every: Sequence[Lexeme]) -> Iterator[BadInput]:
    """Yield rows with a form that another lemma of the category has, so that the form names either."""
    holders: dict[tuple[str, str], dict[str, Lexeme]] = defaultdict(dict)
    for row in every:
        for key in CITATION:
            if form := row.forms.get(key):
                holders[row.category, form].setdefault(row.lemma, row)
    for row in rows:
        for key in CITATION:
            others = holders[row.category, row.forms.get(key, "")] if row.forms.get(key) else {}
            other = next((holder for lemma, holder in others.items() if lemma != row.lemma), None)
            if other is not None:
                yield fault(
                    row,
                    key if key in FORMS else "lemma",
                    f"{row.forms[key]!r} is a form of {other.lemma!r}, too ({other.file}, row {other.row}).",
                    "Delete one of the two rows.",
                )
                break


@lru_cache(maxsize=4)
def extended_lexicon(language: str, tables: tuple[Words, ...]) -> Lexicon:
    """Return the lexicon of the platform with the rows of some tables.

    A row that the platform, or an earlier table, has already is left out: the platform's may have come later.
    """
    base = read_lexicon(language)
    if not tables:
        return base
    rows = dict(base.by_id)
    for table in tables:
        for row in own_rows(table, base)[0]:
            rows.setdefault(row.id, replace(row))
    digest = hashlib.sha256("\0".join(part for table in tables for part in table).encode()).hexdigest()
    return Lexicon(language, rows.values(), version=f"{base.version}+{digest[:8]}")
