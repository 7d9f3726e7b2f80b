"""Tables and text for a terminal in one style, plurals of counted nouns, phrases of texts without spaces."""

import io
import json
import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import budoux
    from rich.table import Table

# rich is imported where a table is drawn: replication packages use the plurals and have no rich.


# First characters of a spreadsheet's formulas, also in the full width of Asian keyboards.
FORMULA = "=+-@＝＋－＠"  # noqa: RUF001
CONTROL = "\t\r\n"
BOLD = re.compile(r"\*\*(?=[^\s*])([^*\n]*[^\s*])\*\*")  # of contexts; the group is the text between
SIGNED_NUMBER = re.compile(r"[+-]\d+([.,]\d+)?")


def no_formula(value: Any) -> Any:
    """Return the value; a text that a spreadsheet would run as a formula is quoted as JSON.

    A single character, such as the name of a key, and a number with its sign are harmless. A carriage return
    alone is quoted anywhere: the csv module of Python before 3.13 leaves it bare, where it ends a row.

    Examples
    --------
    >>> print(no_formula("=1+1"), no_formula(" @SUM(A1)"), no_formula("-3.5"), no_formula("-"))
    "=1+1" " @SUM(A1)" -3.5 -
    """
    if not isinstance(value, str) or len(value) < 2 or SIGNED_NUMBER.fullmatch(value):
        return value
    text = value.lstrip()
    ends_row = "\r" in value and "\n" not in value
    is_formula = ends_row or value[0] in CONTROL or (len(text) > 1 and text[0] in FORMULA)
    return json.dumps(value, ensure_ascii=False) if is_formula else value


def plain_table(title: str | None = None) -> "Table":
    """Create an empty table."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    return Table(title=title, title_justify="left", box=SIMPLE_HEAD)


def plain_text(*parts: "Table | str", width: int) -> str:
    """Render tables and lines below each other.

    Examples
    --------
    >>> print(plain_text("Signs: strict.", "Seed 0.", width=40))
    Signs: strict.
    Seed 0.
    """
    from rich.console import Console

    paper = io.StringIO()
    console = Console(file=paper, width=width, color_system=None)
    for part in parts:
        console.print(part, markup=False, highlight=False)
    return paper.getvalue().rstrip()


def cell(value: Any) -> str:
    """Format one value: three decimals, a dash for None.

    Examples
    --------
    >>> [cell(value) for value in (0.5, 12, None)]
    ['0.500', '12', '–']
    """
    if value is None:
        return "–"
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def plural(number: int, singular: str, plural_form: str = "") -> str:
    """Format a number with its noun in singular or plural.

    Examples
    --------
    >>> plural(1, "paradigm"), plural(67, "paradigm"), plural(2, "phenomenon", "phenomena")
    ('1 paradigm', '67 paradigms', '2 phenomena')
    """
    return f"{number:,} {singular if number == 1 else plural_form or singular + 's'}"


def natural_order(name: str) -> list[tuple[int, int, str]]:
    """Return a key that sorts numbers in names by their value.

    Examples
    --------
    >>> sorted(["item 10", "item 2", "10", "2", "b", "a"], key=natural_order)
    ['2', '10', 'a', 'b', 'item 2', 'item 10']
    """
    parts = re.split(r"(\d+)", name)
    return [
        (0, int(part), "") if part.isdecimal() and part.isascii() else (1, 0, part) for part in parts if part
    ]


@lru_cache(maxsize=20_000)
def phrases(text: str, model: str) -> tuple[str, ...]:
    """Return the phrases of a text by a model of BudouX: ``ja``, ``zh-hans``, ``zh-hant`` or ``th``.

    Examples
    --------
    >>> phrases("我不喜欢这只猫。", "zh-hans")
    ('我', '不', '喜欢', '这', '只猫。')
    """
    return tuple(_phrase_parser(model).parse(text))


@cache
def _phrase_parser(model: str) -> "budoux.Parser":
    import budoux  # only where it is needed: it reads a model of 60 kB, and the library does not require it

    return {
        "ja": budoux.load_default_japanese_parser,
        "th": budoux.load_default_thai_parser,
        "zh-hans": budoux.load_default_simplified_chinese_parser,
        "zh-hant": budoux.load_default_traditional_chinese_parser,
    }[model]()
