"""Read the lexicon of a language: rows of its CSV files with their frozen forms."""

import csv
import hashlib
import io
import tomllib
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from analysis.errors import BadInput, MissingColumns, UnknownName
from experiments.generation.lexicon.classes import ClassTree, class_tree
from experiments.generation.lexicon.columns import (
    CATEGORIES,
    IDENTITY,
    SPREADSHEET_DATE,
    VERB_AGREEMENT,
    Column,
    columns,
    expected_forms,
)

FOLDER = Path(__file__).parent
FROZEN = "frozen.csv"
OVERRIDES = "overrides.csv"
LANGUAGE = "language.toml"
FORM_COLUMNS = ("lemma", "category", "key", "form")
#: Spellings whose first sound the first letter hides.
VOWEL_STARTS = ("hour", "honest", "honor", "honour", "heir")
CONSONANT_STARTS = ("uni", "use", "usu", "usa", "euro", "eu", "ewe", "one", "once", "uk", "ut", "ub", "oui")
UN_WORDS = ("unin", "unim", "unid")

Wanted = Mapping[str, str | Sequence[str]]


@dataclass(frozen=True)
class Lexeme:
    """A word in one frame and sense.

    Parameters
    ----------
    id : str
        ``lemma.category``, with frame and sense where the row has them.
    lemma, category : str
    features : mapping of str to tuple of str
        Every column of the category; empty tuple where the row and the column's default are empty.
    forms : mapping of str to str
        Frozen forms by key: sg pl mass · base s past participle ing, present.sg … · nom acc gen.
    file, row : str, int
        Where it stands; the header is row 1.
    """

    id: str
    lemma: str
    category: str
    features: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)
    forms: Mapping[str, str] = field(default_factory=dict, hash=False)
    file: str = field(default="", compare=False)
    row: int = field(default=0, compare=False)

    def first(self, column: str) -> str:
        """Return the first value of a column, or nothing."""
        return next(iter(self.features.get(column, ())), "")

    @property
    def words(self) -> int:
        """Number of words of the citation form."""
        return len(self.lemma.split())


def first_sound(text: str) -> str:
    """Return whether a word starts with a vowel or a consonant, by its spelling.

    Examples
    --------
    >>> first_sound("hour"), first_sound("university"), first_sound("uninvited")
    ('vowel', 'consonant', 'vowel')
    """
    word = text.lower()
    if word.startswith(VOWEL_STARTS):
        return "vowel"
    if word.startswith(CONSONANT_STARTS) and not word.startswith(UN_WORDS):
        return "consonant"
    return "vowel" if word[:1] and unicodedata.normalize("NFD", word[0])[0] in "aeiou" else "consonant"


class Lexicon:
    """Lexemes of a language, selected by category and features.

    Parameters
    ----------
    language : str
    rows : iterable of Lexeme
    version : str
        Hash of the files that it was read from.
    """

    def __init__(
        self, language: str, rows: Iterable[Lexeme], *, version: str = "", tree: ClassTree | None = None
    ) -> None:
        self.language, self.rows, self.version = language, tuple(rows), version
        self.classes = tree or class_tree()
        self.columns = columns()
        self.by_id = {row.id: row for row in self.rows}
        by_category: dict[str, list[Lexeme]] = defaultdict(list)
        for row in self.rows:
            by_category[row.category].append(row)
        self.by_category = {category: tuple(lexemes) for category, lexemes in by_category.items()}
        self._classes_of: dict[str, set[str]] = defaultdict(set)
        for row in self.by_category.get("noun", ()):
            self._classes_of[own_class(row.lemma)].update(row.features["class"])
        self._cache: dict[tuple[object, ...], tuple[Lexeme, ...]] = {}

    def __len__(self) -> int:
        return len(self.rows)

    def select(self, category: str, where: Wanted | Sequence[Wanted] | None = None) -> tuple[Lexeme, ...]:
        """Return the lexemes of a category that meet a table of conditions, or one of several tables.

        Examples
        --------
        >>> lexicon = read_lexicon("en")
        >>> all(lexeme.features["count"] == ("mass",) for lexeme in lexicon.select("noun", {"count": "mass"}))
        True
        """
        if category not in CATEGORIES:
            raise UnknownName("category", category, CATEGORIES)
        tables = [where] if isinstance(where, Mapping) else list(where or [{}])
        key = (
            category,
            *(tuple((name, _split_list(value)) for name, value in table.items()) for table in tables),
        )
        if key not in self._cache:
            conditions = [
                [self._condition(category, name, _split_list(value)) for name, value in table.items()]
                for table in tables
            ]
            self._cache[key] = tuple(
                row
                for row in self.by_category.get(category, ())
                if any(all(self._holds(row, *condition) for condition in table) for table in conditions)
            )
        return self._cache[key]

    def _condition(
        self, category: str, name: str, values: tuple[str, ...]
    ) -> tuple[str, bool, tuple[str, ...]]:
        """Return a checked condition: column, whether it holds, values."""
        column_name = name.removeprefix("!")
        if column_name != "lemma":
            options = [column.name for column in self.columns.values() if category in column.categories]
            if column_name not in options:
                raise UnknownName("column", column_name, [*options, "lemma"])
            for value in values:
                if value != "none":
                    self.columns[column_name].check(value, self.classes)
        return column_name, not name.startswith("!"), values

    def _holds(self, row: Lexeme, name: str, positive: bool, values: tuple[str, ...]) -> bool:
        return self.matches(row, name, values) == positive

    def matches(self, row: Lexeme, name: str, values: Sequence[str]) -> bool:
        """Return whether a row has one of the values; classes match their descendants.

        In a column of selection a class matches where the row admits a noun of it. "none" matches an empty
        column.
        """
        if name == "lemma":
            return row.lemma in values
        stored = row.features.get(name, ())
        kind = self.columns[name].kind
        for value in values:
            if value in stored or (value == "none" and not stored):
                return True
            if value == "none":
                continue
            if kind == "classes" and any(self.classes.is_a(name, value) for name in stored):
                return True
            if kind == "selection" and stored and self._admits(stored, value):
                return True
        return False

    def _admits(self, expression: tuple[str, ...], name: str) -> bool:
        """Return whether a selection admits nouns of a class, by its classes or by single nouns."""
        single = (
            self.classes.is_a(other, name)
            for term in expression
            for other in self._classes_of.get(term, ())
            if not other.startswith("=")
        )
        return any(single) or self.classes.allows(expression, name)

    def fits(self, noun: Lexeme, head: Lexeme, column: str) -> bool:
        """Return whether the classes of a noun meet the selection of a head."""
        return self.classes.meets(noun.features.get("class", ()), head.features.get(column, ()))


def _split_list(value: str | Sequence[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def languages() -> list[str]:
    """Return the languages that have a lexicon."""
    return sorted(path.name for path in FOLDER.iterdir() if (path / FROZEN).is_file())


def decode_csv(content: bytes, *, file: str) -> str:
    """Decode the content of a CSV file, which is UTF-8 in composed form without control characters."""
    if content.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        raise BadInput("starts with a byte order mark.", file=file, remedy="Save it as UTF-8 without BOM.")
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        row = content[: error.start].count(b"\n") + 1
        raise BadInput("is not UTF-8.", file=file, row=row, remedy="Save it as UTF-8.") from error
    for row, line in enumerate(text.split("\n"), 1):
        if not line.removesuffix("\r").isprintable():
            raise BadInput(
                "has a control character or unusual space.", file=file, row=row, remedy="Delete it."
            )
        if not unicodedata.is_normalized("NFC", line):
            raise BadInput("has decomposed accents.", file=file, row=row, remedy="Save it in form NFC.")
    return text


def table_rows(text: str, *, file: str) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the rows of a CSV file with their numbers; rows with another number of cells are refused."""
    lines = csv.reader(io.StringIO(text, newline=""))
    header = next(lines, [])
    for name, n_columns in Counter(header).items():
        if n_columns > 1:
            raise BadInput("stands twice in the header.", file=file, row=1, column=name, remedy="Keep one.")
    for row, cells in enumerate(lines, 2):
        if not cells:
            continue
        if len(cells) != len(header):
            raise BadInput(
                f"has {len(cells)} cells, the header {len(header)}.",
                file=file,
                row=row,
                remedy="Put quotation marks around a cell with a comma, or add the missing commas.",
            )
        yield row, dict(zip(header, cells, strict=True))


def read_forms(text: str, *, file: str) -> dict[tuple[str, str], dict[str, str]]:
    """Read a table of forms: (lemma, category) → key → form."""
    forms: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for row, cells in table_rows(text, file=file):
        missing = [name for name in FORM_COLUMNS if name not in cells]
        if missing:
            raise MissingColumns(missing, existing=list(cells), file=file)
        keys = forms[cells["lemma"], cells["category"]]
        key, form = cells["key"], cells["form"]
        if keys.get(key, form) != form:
            raise BadInput(
                f"{cells['lemma']!r} has two forms {key!r}: {keys[key]} and {form}.",
                file=file,
                row=row,
                column="form",
                remedy="Keep one.",
            )
        keys[key] = form
    return dict(forms)


def read_rows(text: str, *, file: str) -> Iterator[Lexeme]:
    """Yield the lexemes of one CSV file without their forms; the first fault raises."""
    definitions, tree = columns(), class_tree()
    for row, cells in table_rows(text, file=file):
        for name in cells:
            if name not in definitions and name not in IDENTITY:
                error = UnknownName("column", name, [*IDENTITY, *definitions])
                raise BadInput(error.message, file=file, row=1, column=name, remedy=error.remedy)
        yield read_lexeme(cells, definitions, tree, file=file, row=row)


def own_class(lemma: str) -> str:
    """Return the class that holds one noun alone, as selections name it.

    Examples
    --------
    >>> own_class("fairy tale")
    '=fairy_tale'
    """
    return f"={lemma.replace(' ', '_')}"


def read_lexeme(
    cells: Mapping[str, str], definitions: Mapping[str, Column], tree: ClassTree, *, file: str, row: int
) -> Lexeme:
    """Return the lexeme of one row; its cells are checked."""
    lemma, category = cells.get("lemma", ""), cells.get("category", "")
    _check_lemma(lemma, file=file, row=row)
    if category not in CATEGORIES:
        error = UnknownName("category", category, CATEGORIES)
        raise BadInput(error.message, file=file, row=row, column="category", remedy=error.remedy)
    features: dict[str, tuple[str, ...]] = {}
    for name, column in definitions.items():
        cell = cells.get(name, "")
        if category not in column.categories:
            if cell:
                raise BadInput(
                    f"a {category} has no {name}.", file=file, row=row, column=name, remedy="Empty the cell."
                )
            continue
        try:
            features[name] = column.split(cell, tree)
        except BadInput as error:
            raise BadInput(error.message, file=file, row=row, column=name, remedy=error.remedy) from error
    features["sound"] = features["sound"] or (first_sound(lemma),)
    if category == "noun":
        features["class"] = (*features["class"], own_class(lemma))
    parts = (lemma, category, *features.get("frame", ()), *cells.get("sense", "").split())
    return Lexeme(".".join(parts), lemma, category, features, file=file, row=row)


def _check_lemma(lemma: str, *, file: str, row: int) -> None:
    message, remedy = "", ""
    if not lemma.strip():
        message, remedy = "the lemma is empty.", "Write the citation form or delete the row."
    elif lemma != " ".join(lemma.split()):
        message, remedy = f"{lemma!r} has needless spaces.", "Leave single spaces between words."
    elif SPREADSHEET_DATE.fullmatch(lemma):
        message, remedy = f"{lemma!r} is a date.", "Format the column as text and write the word again."
    elif any(sign in lemma for sign in ',;"<>{}'):
        message, remedy = f"{lemma!r} has a sign that no word has.", "Give each word a row of its own."
    if message:
        raise BadInput(message, file=file, row=row, column="lemma", remedy=remedy)


def is_inflected(folder: Path) -> bool:
    """Return whether words of a folder's language have forms beside the lemma."""
    path = folder / LANGUAGE
    return not path.is_file() or bool(tomllib.loads(path.read_text(encoding="utf-8"))["inflected"])


def with_forms(row: Lexeme, forms: Mapping[str, str], *, inflected: bool = True) -> Lexeme:
    """Return the lexeme with its forms; one that it must have and lacks raises."""
    for key in expected_forms(row.category, row.features, inflected=inflected):
        if not forms.get(key):
            raise BadInput(
                f"{row.lemma!r} lacks the form {key!r}.",
                file=row.file,
                row=row.row,
                column="lemma",
                remedy=f"Run manage.py build_lexicon, or add the form to {OVERRIDES}.",
            )
    complete = dict(forms)
    if row.category == "verb" and inflected:
        complete |= {key: forms[form] for key, form in VERB_AGREEMENT.items()}
    return Lexeme(row.id, row.lemma, row.category, row.features, complete, file=row.file, row=row.row)


def source_files(folder: Path) -> list[Path]:
    """Return the CSV files of rows in a folder of one language."""
    return sorted(path for path in folder.glob("*.csv") if path.name not in (FROZEN, OVERRIDES))


def lexicon_folder(language: str) -> Path:
    """Return the folder of a language's lexicon."""
    options = sorted(path.name for path in FOLDER.iterdir() if path.is_dir() and source_files(path))
    if language not in options:
        raise UnknownName("language of the lexicon", language, options)
    return FOLDER / language


def lexicon_version(folder: Path) -> str:
    """Return a hash of the rows, forms, columns and classes."""
    digest = hashlib.sha256()
    for path in (FOLDER / "classes.toml", FOLDER / "columns.toml", *sorted(folder.glob("*.csv"))):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:12]


@lru_cache(maxsize=4)
def read_lexicon(language: str) -> Lexicon:
    """Read the shipped lexicon of a language.

    Examples
    --------
    >>> read_lexicon("en").select("pron", {"gender": "f"})[0].forms["acc"]
    'her'
    """
    folder = lexicon_folder(language)
    inflected = is_inflected(folder)
    forms = read_forms(decode_csv((folder / FROZEN).read_bytes(), file=FROZEN), file=FROZEN)
    rows: dict[str, Lexeme] = {}
    for path in source_files(folder):
        for row in read_rows(decode_csv(path.read_bytes(), file=path.name), file=path.name):
            if row.id in rows:
                first = rows[row.id]
                raise BadInput(
                    f"{row.id} stands in {first.file}, row {first.row} already.",
                    file=row.file,
                    row=row.row,
                    column="lemma",
                    remedy="Delete one, or tell them apart in column sense.",
                )
            rows[row.id] = with_forms(row, forms.get((row.lemma, row.category), {}), inflected=inflected)
    return Lexicon(language, rows.values(), version=lexicon_version(folder))
