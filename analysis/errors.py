"""Errors that name what is wrong with the input and what would mend it."""

from collections.abc import Sequence
from difflib import get_close_matches


class BadInput(ValueError):
    """Input that cannot be used: says the file, row, column and remedy where they are known."""

    def __init__(
        self, message: str, *, file: str = "", row: int | None = None, column: str = "", remedy: str = ""
    ) -> None:
        self.message, self.file, self.row, self.column, self.remedy = message, file, row, column, remedy
        place = ", ".join(
            part
            for part in (
                file,
                f"row {row}" if row is not None else "",
                f"column {column!r}" if column else "",
            )
            if part
        )
        text = f"{place}: {message}" if place else message
        super().__init__(f"{text} {remedy}".strip())


class MissingColumns(BadInput):
    """A needed column is absent."""

    def __init__(self, missing: Sequence[str], *, found: Sequence[str] = (), file: str = "") -> None:
        self.missing, self.found = list(missing), list(found)
        plural = "s" if len(missing) > 1 else ""
        super().__init__(
            f"missing column{plural} {', '.join(missing)}.",
            file=file,
            remedy=f"The columns found are: {', '.join(found) or 'none'}.",
        )


class NotEnoughData(BadInput):
    """Too few rows for the statistic asked for."""


class UnknownName(BadInput):
    """A rule, plan, model or study of that name does not exist; near names are suggested."""

    def __init__(self, what: str, name: str, known: Sequence[str]) -> None:
        near = get_close_matches(name, known, n=3, cutoff=0.5)
        self.near = near
        if near:
            remedy = f"Did you mean {' or '.join(near)}?"
        elif known:
            remedy = f"There are: {', '.join(list(known)[:10])}."
        else:
            remedy = f"There is no {what} yet."
        super().__init__(f"unknown {what} {name!r}.", remedy=remedy)
