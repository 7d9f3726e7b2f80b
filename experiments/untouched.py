"""Lines that nobody touched: their rows stay whole, also in what a line cannot say."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

Row = dict[str, Any]


class Untouched:
    """Stored rows by the line that was written of each; each row is given back once.

    >>> rows = Untouched([{"text": "a | b"}], write=lambda row: row["text"])
    >>> rows.take(" a | b"), rows.take("a | b")
    ({'text': 'a | b'}, None)
    """

    def __init__(self, rows: Sequence[Row], *, write: Callable[[Row], str]) -> None:
        self.rows: dict[str, list[Row]] = defaultdict(list)
        for row in rows:
            self.rows[write(row).strip()].append(row)

    def take(self, line: str) -> Row | None:
        """The row that this line was written of, if it is as it was."""
        rows = self.rows.get(line.strip())
        return rows.pop(0) if rows else None
