"""Numbers computed again beside the numbers expected: what differs, by its name."""

import math
from collections.abc import Iterator
from typing import Any

RELATIVE, ABSOLUTE = 1e-5, 1e-8


def differences(
    expected: Any, found: Any, *, relative: float = RELATIVE, absolute: float = ABSOLUTE, name: str = ""
) -> Iterator[tuple[str, Any, Any]]:
    """Give every place where two documents differ.

    Parameters
    ----------
    expected, found : JSON-like
    relative, absolute : float
        Two numbers are the same within ``relative`` of the larger one, or ``absolute``; whole numbers
        and words must be equal.
    name : str
        Where the documents stand, in front of each name.

    Yields
    ------
    (str, expected, found)
        The name of a number, such as ``agreement.overall.items_right``.

    Examples
    --------
    >>> list(differences({"a": [1, 2.0]}, {"a": [1, 2.5]}))
    [('a[1]', 2.0, 2.5)]
    >>> list(differences({"share": 0.5}, {"share": 0.5 + 1e-12}))
    []
    """
    if isinstance(expected, dict) and isinstance(found, dict):
        for key in [*expected, *(key for key in found if key not in expected)]:
            inner = f"{name}.{key}" if name else str(key)
            beside = (expected.get(key, "(absent)"), found.get(key, "(absent)"))
            yield from differences(*beside, relative=relative, absolute=absolute, name=inner)
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        for place, (one, other) in enumerate(zip(expected, found, strict=True)):
            inner = f"{name}[{_label(one, place)}]"
            yield from differences(one, other, relative=relative, absolute=absolute, name=inner)
    elif not _same(expected, found, relative, absolute):
        yield name, expected, found


def _label(row: Any, place: int) -> str:
    """Name a row of a table by its first words, so that a difference can be found."""
    words = (
        [value for value in row.values() if isinstance(value, str) and value] if isinstance(row, dict) else []
    )
    return " ".join([str(place), *words[:2]])


def _same(expected: Any, found: Any, relative: float, absolute: float) -> bool:
    floats = isinstance(expected, float) or isinstance(found, float)
    plain = isinstance(expected, int | float) and isinstance(found, int | float)
    if floats and plain and not isinstance(expected, bool) and not isinstance(found, bool):
        return math.isclose(expected, found, rel_tol=relative, abs_tol=absolute)
    return type(expected) is type(found) and bool(expected == found)
