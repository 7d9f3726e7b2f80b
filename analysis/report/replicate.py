"""Entry point of a replication package: recompute the numbers of a report from its release.

Compare recomputed report numbers with the expected ones and name each difference.
"""

import json
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .numbers import numbers_bytes, report_numbers
from .released import OPTIONAL_FILES, REQUIRED_FILES, read_released

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


MAX_SHOWN = 40


def main(folder: Path) -> int:
    """Compute the numbers, write ``found.json`` and compare it with ``expected.json``."""
    data = folder / "data"
    names = [*REQUIRED_FILES, *(name for name in OPTIONAL_FILES if (data / name).exists())]
    released = read_released({name: (data / name).read_bytes() for name in names})
    actual = json.loads(numbers_bytes(report_numbers(released, progress=_print_progress)))
    (folder / "found.json").write_bytes(numbers_bytes(actual))
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    wrong = list(differences(expected, actual))
    _print_agreement(actual)
    for name, left, right in wrong[:MAX_SHOWN]:
        print(f"DIFFERS {name}: expected {left!r}, found {right!r}")
    if len(wrong) > MAX_SHOWN:
        print(f"… and {len(wrong) - MAX_SHOWN} more")
    how = f"within {RELATIVE:g} of the number, or {ABSOLUTE:g}; counts and words exactly"
    verdict = f"{len(wrong)} numbers differ" if wrong else "All numbers match the report"
    print(f"{verdict} ({_count_leaves(expected):,} compared, {how}).")
    return 1 if wrong else 0


def _print_progress(n_done: int, total: int, name: str) -> None:
    print(f"{n_done + 1}/{total} {name}", file=sys.stderr)


def _print_agreement(numbers: dict[str, Any]) -> None:
    block = numbers["agreement"].get("overall_included")
    if not block:
        return
    for title, name in (("majority agreement", "majority"), ("individual agreement", "individual")):
        share = block[f"{name}_agreement"]
        if share is not None:
            print(f"{title}: {100 * share:.1f} % of {block['items']} items, {block['paradigms']} paradigms")


def _count_leaves(document: Any) -> int:
    if isinstance(document, dict):
        return sum(map(_count_leaves, document.values()))
    return sum(map(_count_leaves, document)) if isinstance(document, list) else 1
