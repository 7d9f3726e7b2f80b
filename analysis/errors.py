"""Errors that state what is wrong with the input and how to correct it."""

from collections.abc import Sequence
from difflib import get_close_matches

#: Characters of the parts of an error, which quote cells and columns of files: together ten lines of 80.
MAX_CHARACTERS = {"message": 320, "column": 80, "remedy": 420}
MAX_LISTED = 300  # characters of a list of names


def _truncate(text: str, part: str) -> str:
    """Leave out the middle of a long text; its end says what is wrong with what it quotes."""
    longest = MAX_CHARACTERS[part]
    half = (longest - 3) // 2
    return text if len(text) <= longest else f"{text[:half]} … {text[-half:]}"


def list_names(names: Sequence[str]) -> str:
    """Return names for a message, as many as fit, and the number of the others.

    Examples
    --------
    >>> list_names(["item", "rating"]), list_names(["a" * 200, "b" * 200, "c"])[-10:]
    ('item, rating', 'and 2 more')
    """
    n_shown = n_characters = 0
    for name in names:
        n_characters += len(name) + 2
        if n_shown and n_characters > MAX_LISTED:
            break
        n_shown += 1
    listed = ", ".join(names[:n_shown])
    rest = len(names) - n_shown
    return f"{listed} and {rest:,} more" if rest else listed


class BadInput(ValueError):
    """Input that cannot be used; the message names file, row, column and remedy if known.

    A quoted value of the file may have megabytes, so the middle of a part is cut beyond ``MAX_CHARACTERS``.
    """

    def __init__(
        self, message: str, *, file: str = "", row: int | None = None, column: str = "", remedy: str = ""
    ) -> None:
        message, column = _truncate(message, "message"), _truncate(column, "column")
        remedy = _truncate(remedy, "remedy")
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
    """A required column is absent."""

    def __init__(self, missing: Sequence[str], *, existing: Sequence[str] = (), file: str = "") -> None:
        self.missing, self.existing = list(missing), list(existing)
        plural = "s" if len(missing) > 1 else ""
        super().__init__(
            f"missing column{plural} {', '.join(missing)}.",
            file=file,
            remedy=f"The columns found are: {list_names(existing) or 'none'}.",
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
            remedy = f"There are: {list_names(list(map(repr, list(options)[:10])))}."
        else:
            remedy = f"There is no {kind} yet."
        super().__init__(f"unknown {kind} {name!r}.", remedy=remedy)
