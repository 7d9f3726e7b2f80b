"""Entry point of a replication package: recompute the numbers of a report from its release."""

import json
import sys
from pathlib import Path
from typing import Any

from analysis.report.checking import ABSOLUTE, RELATIVE, differences
from analysis.report.numbers import numbers_bytes, report_numbers
from analysis.report.released import REQUIRED_FILES, read_released

MAX_SHOWN = 40


def main(folder: Path) -> int:
    """Compute the numbers, write ``found.json`` and compare it with ``expected.json``."""
    released = read_released({name: (folder / "data" / name).read_bytes() for name in REQUIRED_FILES})
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
