"""Columns of the lexicon: categories, closed values and the check of one cell."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from analysis.errors import BadInput, UnknownName
from experiments.generation.lexicon.classes import ClassTree

FILE = Path(__file__).with_name("columns.toml")
#: Columns that every file has beside those of ``columns.toml``.
IDENTITY = ("lemma", "category", "sense")
CATEGORIES = (
    "noun",
    "name",
    "verb",
    "aux",
    "adj",
    "adv",
    "det",
    "num",
    "pron",
    "refl",
    "prep",
    "comp",
    "conj",
    "wh",
    "part",
    "cl",
    "res",
    "dir",
    "dur",
    "freq",
)
VERB_FORMS = ("base", "s", "past", "participle", "ing")
NOUN_FORMS = {
    "count": ("sg", "pl"),
    "same_form": ("sg", "pl"),
    "mass": ("mass",),
    "plural_only": ("pl",),
    "singular_only": ("sg",),
}
#: Agreement of a full verb, as ``form = "present.$n"`` asks for it.
VERB_AGREEMENT = {"present.sg": "s", "present.pl": "base", "past.sg": "past", "past.pl": "past"}
MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
SPREADSHEET_DATE = re.compile(
    rf"\d{{1,2}}[-/.]({MONTHS})\w*|({MONTHS})\w*[-/.]\d{{1,4}}|\d{{1,4}}[-/.]\d{{1,2}}[-/.]\d{{1,4}}",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Column:
    """A column with its values.

    Parameters
    ----------
    name : str
    kind : str
        closed, classes, selection or text.
    categories : frozenset of str
        Categories of the rows that may fill it.
    values : tuple of str
        Closed values.
    default : str
        Value of a row that leaves it empty; may be empty.
    several : bool
        Whether a cell may hold several values.
    meaning : str
    """

    name: str
    kind: str
    categories: frozenset[str]
    values: tuple[str, ...] = ()
    default: str = ""
    several: bool = False
    meaning: str = ""

    def check(self, value: str, tree: ClassTree) -> None:
        """Refuse a value that the column cannot have."""
        if self.kind == "closed" and value not in self.values:
            raise UnknownName(self.name, value, self.values)
        if self.kind in ("classes", "selection"):
            name = value.removeprefix("!") if self.kind == "selection" else value
            if name not in tree and not name.startswith("="):
                raise UnknownName("class", name, list(tree.parents))

    def split(self, cell: str, tree: ClassTree) -> tuple[str, ...]:
        """Return the values of a cell."""
        values = tuple(cell.split())
        if len(values) > 1 and not self.several:
            raise BadInput(f"{cell!r} has {len(values)} values.", remedy="The column takes one.")
        for value in values:
            self.check(value, tree)
        return values or ((self.default,) if self.default else ())


@lru_cache(maxsize=1)
def columns() -> Mapping[str, Column]:
    """Read the definitions of the columns."""
    with FILE.open("rb") as lines:
        tables = tomllib.load(lines)
    return {
        name: Column(
            name,
            kind=table["kind"],
            categories=frozenset(table["categories"]),
            values=tuple(table.get("values", ())),
            default=table.get("default", ""),
            several=table.get("several", False),
            meaning=table["meaning"],
        )
        for name, table in tables.items()
    }


def expected_forms(
    category: str, features: Mapping[str, tuple[str, ...]], *, inflected: bool = True
) -> tuple[str, ...]:
    """Return the keys of the forms that a row must have; empty where they vary by word.

    Examples
    --------
    >>> expected_forms("noun", {"count": ("mass",)})
    ('mass',)
    """
    if not inflected:
        return ("base",)
    if category == "noun":
        return NOUN_FORMS[features["count"][0]]
    if category == "verb":
        return VERB_FORMS
    if category == "name":
        return ("sg",)
    return () if category in ("det", "num", "pron", "aux") else ("base",)
