"""Errors that state what is wrong with the input and how to correct it."""

from collections.abc import Sequence
from difflib import get_close_matches

MAX_CHARACTERS = 4_000  # of each part of a message, which may quote a cell or a column of the file


def _truncate(text: str) -> str:
    rest = len(text) - MAX_CHARACTERS
    return f"{text[:MAX_CHARACTERS]} … and {rest:,} more characters." if rest > 0 else text


class BadInput(ValueError):
    """Input that cannot be used; the message names file, row, column and remedy if known.

    A quoted value of the file may have megabytes, so each part is cut after ``MAX_CHARACTERS``.
    """

    def __init__(
        self, message: str, *, file: str = "", row: int | None = None, column: str = "", remedy: str = ""
    ) -> None:
        message, column, remedy = _truncate(message), _truncate(column), _truncate(remedy)
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


MAX_LISTED = 60  # names of columns in a message


class MissingColumns(BadInput):
    """A required column is absent."""

    def __init__(self, missing: Sequence[str], *, existing: Sequence[str] = (), file: str = "") -> None:
        self.missing, self.existing = list(missing), list(existing)
        rest = len(existing) - MAX_LISTED
        listed = ", ".join(existing[:MAX_LISTED]) + (f" and {rest:,} more" if rest > 0 else "")
        plural = "s" if len(missing) > 1 else ""
        super().__init__(
            f"missing column{plural} {', '.join(missing)}.",
            file=file,
            remedy=f"The columns found are: {listed or 'none'}.",
        )


class StillComputing(BadInput):
    """What is asked for is being computed: the same request succeeds later."""


class NotEnoughData(BadInput):
    """Too few rows for the requested statistic."""


class UnknownName(BadInput):
    """A rule, plan, model or study of that name does not exist; suggests near names."""

    def __init__(self, kind: str, name: str, options: Sequence[str]) -> None:
        near = get_close_matches(name, options, n=3, cutoff=0.5)
        self.near = near
        if near:
            remedy = f"Did you mean {' or '.join(map(repr, near))}?"
        elif options:
            remedy = f"There are: {', '.join(map(repr, list(options)[:10]))}."
        else:
            remedy = f"There is no {kind} yet."
        super().__init__(f"unknown {kind} {name!r}.", remedy=remedy)
