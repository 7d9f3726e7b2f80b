"""The program of a replication package: the report's numbers from the release alone."""

import json
import sys
from pathlib import Path
from typing import Any

from analysis.report.checking import ABSOLUTE, RELATIVE, differences
from analysis.report.numbers import numbers_bytes, report_numbers
from analysis.report.released import NEEDED, read_released

MOST_SHOWN = 40


def main(folder: Path) -> int:
    """Compute, write ``found.json``, compare with ``expected.json``.

    Parameters
    ----------
    folder : Path
        Of the package.

    Returns
    -------
    int
        0 where every number is the same within the tolerance, else 1.
    """
    released = read_released({name: (folder / "data" / name).read_bytes() for name in NEEDED})
    found = json.loads(numbers_bytes(report_numbers(released, progress=_say)))
    (folder / "found.json").write_bytes(numbers_bytes(found))
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    wrong = list(differences(expected, found))
    _tell(found)
    for name, one, other in wrong[:MOST_SHOWN]:
        print(f"DIFFERS {name}: expected {one!r}, found {other!r}")
    if len(wrong) > MOST_SHOWN:
        print(f"… and {len(wrong) - MOST_SHOWN} more")
    how = f"within {RELATIVE:g} of the number, or {ABSOLUTE:g}; counts and words exactly"
    verdict = f"{len(wrong)} numbers differ" if wrong else "Every number is the report's"
    print(f"{verdict} ({_leaves(expected):,} compared, {how}).")
    return 1 if wrong else 0


def _say(done: int, total: int, name: str) -> None:
    print(f"{done + 1}/{total} {name}", file=sys.stderr)


def _tell(found: dict[str, Any]) -> None:
    block = found["agreement"].get("overall_included")
    if not block:
        return
    for title, name in (("majority agreement", "majority"), ("individual agreement", "individual")):
        share = block[f"{name}_agreement"]
        if share is not None:
            print(f"{title}: {100 * share:.1f} % of {block['items']} items, {block['paradigms']} paradigms")


def _leaves(document: Any) -> int:
    if isinstance(document, dict):
        return sum(map(_leaves, document.values()))
    return sum(map(_leaves, document)) if isinstance(document, list) else 1
