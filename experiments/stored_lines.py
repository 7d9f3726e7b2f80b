"""Stored rows found again by their text line, so that editing one line keeps the others complete."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

Row = dict[str, Any]


class StoredLines:
    """Stored rows by the line that represents each; a row is returned once.

    >>> rows = StoredLines([{"text": "a | b"}], write=lambda row: row["text"])
    >>> rows.take(" a | b"), rows.take("a | b")
    ({'text': 'a | b'}, None)
    """

    def __init__(self, rows: Sequence[Row], *, write: Callable[[Row], str]) -> None:
        self.rows: dict[str, list[Row]] = defaultdict(list)
        for row in rows:
            self.rows[write(row).strip()].append(row)

    def take(self, line: str) -> Row | None:
        """Remove and return the row of an unchanged line; None for a changed one."""
        rows = self.rows.get(line.strip())
        return rows.pop(0) if rows else None
