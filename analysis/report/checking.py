"""Compare recomputed report numbers with the expected ones and name each difference."""

import math
from collections.abc import Iterator
from typing import Any

# Looser than float64 rounding: BLAS builds and CPU types sum in different orders, and the optimizers of
# the mixed models amplify that.
RELATIVE, ABSOLUTE = 1e-5, 1e-8


def differences(
    expected: Any, actual: Any, *, relative: float = RELATIVE, absolute: float = ABSOLUTE, name: str = ""
) -> Iterator[tuple[str, Any, Any]]:
    """Yield the path and both values wherever two documents differ.

    Examples
    --------
    >>> list(differences({"a": [1, 2.0]}, {"a": [1, 2.5]}))
    [('a[1]', 2.0, 2.5)]
    >>> list(differences({"share": 0.5}, {"share": 0.5 + 1e-12}))
    []
    """
    if isinstance(expected, dict) and isinstance(actual, dict):
        for key in [*expected, *(key for key in actual if key not in expected)]:
            inner = f"{name}.{key}" if name else str(key)
            beside = (expected.get(key, "(absent)"), actual.get(key, "(absent)"))
            yield from differences(*beside, relative=relative, absolute=absolute, name=inner)
    elif isinstance(expected, list) and isinstance(actual, list) and len(expected) == len(actual):
        for place, (left, right) in enumerate(zip(expected, actual, strict=True)):
            inner = f"{name}[{_label(left, place)}]"
            yield from differences(left, right, relative=relative, absolute=absolute, name=inner)
    elif not _same(expected, actual, relative, absolute):
        yield name, expected, actual


def _label(row: Any, place: int) -> str:
    """Label a table row by its index and first two strings, to identify it in the output."""
    words = (
        [value for value in row.values() if isinstance(value, str) and value] if isinstance(row, dict) else []
    )
    return " ".join([str(place), *words[:2]])


def _same(expected: Any, actual: Any, relative: float, absolute: float) -> bool:
    floats = isinstance(expected, float) or isinstance(actual, float)
    plain = isinstance(expected, int | float) and isinstance(actual, int | float)
    if floats and plain and not isinstance(expected, bool) and not isinstance(actual, bool):
        return math.isclose(expected, actual, rel_tol=relative, abs_tol=absolute)
    return type(expected) is type(actual) and bool(expected == actual)
