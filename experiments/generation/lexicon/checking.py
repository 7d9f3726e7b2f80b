"""Check a lexicon: faults of rows, holes, ambiguous forms, flags that the forms contradict."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from analysis.errors import BadInput, UnknownName
from experiments.generation.lexicon.building import BUILD, source_hash
from experiments.generation.lexicon.reading import (
    FROZEN,
    OVERRIDES,
    Lexeme,
    Lexicon,
    decode_csv,
    is_inflected,
    own_class,
    read_forms,
    read_rows,
    source_files,
    with_forms,
)

#: Fewest frequent lexemes in a frame or type, and fewest nouns that a selection must admit.
FEWEST = 8
SELECTIONS = {
    "subject": FEWEST,
    "object": FEWEST,
    "of": FEWEST,
    "oblique": 1,
}  # a verb may have one instrument
#: Columns whose every value is a slot of some paradigm.
SLOTS = (("verb", "frame"), ("noun", "count"), ("adj", "type"), ("det", "strength"), ("num", "strength"))
#: Columns that list lemmas, with the categories of their rows.
LISTS = {"res": ("res",), "dir": ("dir",), "vcl": ("cl",), "cl": ("cl",), "hypernym": ("noun",)}
#: Classifiers of nouns that paradigms do not exchange, because they measure or because they are rare.
MEASURES = frozenset(
    "页段册套层道根盘碗份片块串瓣斤棵杯壶瓶滴束盆枝处节堂项场阵条则点行副双对对种样次届身堵幢床班驾管峰尾期步局发柄杆服锅顿"
)
#: Categories whose forms stand in the same places.
CONTENT = ("noun", "verb", "adj")
SIBILANTS = ("s", "x", "z", "ch", "sh")


def fault(row: Lexeme, column: str, message: str, remedy: str) -> BadInput:
    """Return a fault at the place of a row."""
    return BadInput(message, file=row.file, row=row.row, column=column, remedy=remedy)


def row_faults(rows: Iterable[Lexeme]) -> Iterator[BadInput]:
    """Yield rows that stand twice."""
    places: dict[str, Lexeme] = {}
    for row in rows:
        first = places.setdefault(row.id, row)
        if first is not row:
            yield fault(
                row,
                "lemma",
                f"{row.id} stands in {first.file}, row {first.row} already.",
                "Delete one, or tell them apart in column sense.",
            )


def form_faults(rows: Iterable[Lexeme]) -> Iterator[BadInput]:
    """Yield rows whose forms contradict their features."""
    for row in rows:
        if row.category == "noun" and row.first("count") == "count":
            singular, plural = row.forms["sg"], row.forms["pl"]
            if singular == plural:
                yield fault(row, "count", f"{singular!r} has one form.", "Write same_form.")
            irregular = row.first("irregular") == "plural"
            if irregular == (plural in regular_plurals(singular)):
                yield fault(
                    row,
                    "irregular",
                    f"the plural of {singular!r} is {plural!r}.",
                    "Empty the cell." if irregular else "Write plural.",
                )
        if row.category == "verb":
            past, participle = row.forms["past"], row.forms["participle"]
            differ = past != participle
            if differ != (row.first("irregular") == "past_participle"):
                yield fault(
                    row,
                    "irregular",
                    f"{row.lemma!r} has past {past!r} and participle {participle!r}.",
                    "Write past_participle." if differ else "Empty the cell.",
                )


def regular_plurals(singular: str) -> tuple[str, ...]:
    """Return the plurals that are regular for a noun.

    Examples
    --------
    >>> regular_plurals("story"), regular_plurals("potato")
    (('stories',), ('potatos', 'potatoes'))
    """
    if singular.endswith(SIBILANTS):
        return (f"{singular}es", f"{singular}s")
    if singular.endswith("y") and singular[-2] not in "aeiou":
        return (f"{singular[:-1]}ies",)
    return (f"{singular}s", f"{singular}es") if singular.endswith("o") else (f"{singular}s",)


def ambiguity_faults(rows: Iterable[Lexeme]) -> Iterator[BadInput]:
    """Yield rows with a form that a noun, verb or adjective of the lexicon shares and no flag states."""
    listed = [row for row in rows if row.category in CONTENT]
    categories: dict[str, set[str]] = defaultdict(set)
    for row in listed:
        for form in _citation_forms(row):
            categories[form].add(row.category)
    for row in listed:
        stated = {row.category, *row.features["homonym"]}
        for form in sorted(_citation_forms(row)):
            further = sorted(categories[form] - stated)
            if further:
                yield fault(
                    row,
                    "homonym",
                    f"{form!r} is also a form of a {further[0]}.",
                    f"Add {further[0]} to the cell.",
                )
                break


def _citation_forms(row: Lexeme) -> set[str]:
    """Return the forms that stand in the present and in noun phrases."""
    return {row.forms[key] for key in ("sg", "pl", "mass", "base", "s") if key in row.forms}


def selection_faults(lexicon: Lexicon, rows: Iterable[Lexeme] | None = None) -> Iterator[BadInput]:
    """Yield selections, of some rows or all, of a noun that does not exist, or that admit too few nouns."""
    singles = {own_class(row.lemma) for row in lexicon.select("noun")}
    admitted: dict[tuple[str, ...], int] = {}
    for row in lexicon.rows if rows is None else rows:
        for column, fewest in SELECTIONS.items():
            expression = row.features.get(column, ())
            for term in expression:
                name = term.removeprefix("!")
                if name.startswith("=") and name not in singles:
                    error = UnknownName("noun", name[1:], sorted(single[1:] for single in singles))
                    yield fault(row, column, error.message, error.remedy)
            if not expression:
                continue
            if expression not in admitted:
                admitted[expression] = sum(lexicon.fits(noun, row, column) for noun in lexicon.select("noun"))
            if admitted[expression] < fewest:
                yield fault(
                    row,
                    column,
                    f"{row.lemma!r} admits {admitted[expression]} nouns of {fewest}.",
                    "Add nouns or classes to the cell.",
                )


def list_faults(lexicon: Lexicon, rows: Iterable[Lexeme] | None = None) -> Iterator[BadInput]:
    """Yield words that a column of some rows or all lists and no row holds: complements, classifiers, …"""
    for row in lexicon.rows if rows is None else rows:
        for column, categories in LISTS.items():
            options = [
                other.lemma for category in categories for other in lexicon.by_category.get(category, ())
            ]
            for lemma in row.features.get(column, ()):
                if lemma not in options and not (column == "cl" and lemma in MEASURES):
                    error = UnknownName(categories[0], lemma, options)
                    yield fault(row, column, error.message, error.remedy)


def holes(lexicon: Lexicon) -> Iterator[BadInput]:
    """Yield values that a slot can ask for and that too few frequent lexemes have."""
    for category, name in SLOTS:
        for value in lexicon.columns[name].values:
            rows = lexicon.select(category, {name: value})
            if not rows and lexicon.language != "en":
                continue
            frequent = [row for row in rows if row.first("band") != "rare"]
            needed = FEWEST if category in CONTENT else 1
            if category == "noun" and value == "singular_only":
                needed = 1
            if name == "strength" and category == "num" and value == "strong":
                continue
            if len(frequent) < needed and len(rows) < 2 * needed:
                yield BadInput(
                    f"{len(frequent)} of {len(rows)} {category} rows with {name} {value} are common or mid.",
                    column=name,
                    remedy=f"Add rows until {needed} are.",
                )


def stored_rows(folder: Path) -> tuple[list[Lexeme], list[BadInput]]:
    """Return the rows of a folder with their forms, and the faults that kept rows out."""
    rows: list[Lexeme] = []
    faults: list[BadInput] = []
    forms: Mapping[tuple[str, str], Mapping[str, str]] = {}
    try:
        forms = read_forms(decode_csv((folder / FROZEN).read_bytes(), file=FROZEN), file=FROZEN)
    except BadInput as error:
        faults.append(error)
    for path in source_files(folder):
        try:
            for row in read_rows(decode_csv(path.read_bytes(), file=path.name), file=path.name):
                rows.append(
                    with_forms(row, forms.get((row.lemma, row.category), {}), inflected=is_inflected(folder))
                )
        except BadInput as error:
            faults.append(error)
    return rows, faults


def lexicon_faults(language: str, folder: Path) -> list[BadInput]:
    """Return all that is wrong with the lexicon of a folder."""
    if not (folder / FROZEN).is_file():
        return [BadInput("is missing.", file=FROZEN, remedy="Run manage.py build_lexicon.")]
    rows, faults = stored_rows(folder)
    build = folder / BUILD
    if not build.is_file() or f'sources = "{source_hash(folder)}"' not in build.read_text(encoding="utf-8"):
        faults.append(
            BadInput(
                f"was frozen from other rows or {OVERRIDES}.",
                file=FROZEN,
                remedy="Run manage.py build_lexicon.",
            )
        )
    lexicon = Lexicon(language, rows)
    return [
        *faults,
        *row_faults(rows),
        *(form_faults(rows) if is_inflected(folder) else ()),
        *ambiguity_faults(rows),
        *selection_faults(lexicon),
        *list_faults(lexicon),
        *holes(lexicon),
    ]


def counts(lexicon: Lexicon) -> dict[str, int]:
    """Return the number of rows by category, frame, count and type."""
    table: Counter[str] = Counter()
    for row in lexicon.rows:
        table[row.category] += 1
        for column in ("frame", "count", "type"):
            for value in row.features.get(column, ()):
                table[f"{row.category} {value}"] += 1
    return dict(sorted(table.items()))
