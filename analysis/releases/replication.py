"""The replication package: the data, the program that computes the report from them, what it must give.

The program is the pure zone's own source, as far as the report needs it, so that a package keeps its meaning
when the platform moves on.
"""

import ast
import io
import zipfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from analysis.releases.storage import Files, zip_entry
from analysis.report.checking import ABSOLUTE, RELATIVE
from config.version import code_version

ROOT = Path(__file__).resolve().parent.parent.parent
ENTRY = "analysis.report.replicate"
PINS = "lock/replication.txt"
PROGRAM = '''"""Compute the report's numbers from the release in data/ and compare them with expected.json."""

import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER))

from analysis.report.replicate import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main(FOLDER))
'''
README = f"""# Replication package

It shows that the numbers of the report follow from the released data: nothing else is read, and no network is
needed once the libraries are installed. Python 3.11 or newer.

    python3 -m venv environment
    environment/bin/pip install --require-hashes -r requirements.txt
    environment/bin/python analyse.py

On Windows: `environment\\Scripts\\pip` and `environment\\Scripts\\python`.

`analyse.py` ends with 0 where every number is the report's, and with 1 otherwise; each number that differs
is named. Counts and words must be equal; other numbers agree within {RELATIVE:g} of the larger one,
or {ABSOLUTE:g}. What it found stands in `found.json` afterwards. Random procedures start from
the stored seed.

| file | holds |
|---|---|
| `data/` | the gold release: judgments, pseudonyms of participants, sentences, pairs, exclusions, plan |
| `data/removed.csv` | which step of the plan removes which row; some steps read what nobody may publish |
| `data/study.json` | design, versions, who came and left |
| `analyse.py` | the program |
| `analysis/` | the statistics it calls: the source of Obelus {{version}}, GPL-3.0-or-later |
| `requirements.txt` | the libraries, pinned with hashes |
| `expected.json` | every number of the report |
| `report/` | the report itself |

The data keep the licence of the release (`data/README.md`).
"""


def package(folder: str, data: Files, expected: bytes, *, reports: Files) -> bytes:
    """A ZIP: names in order and no clock, so the same each time."""
    files = {
        **{f"data/{name}": content for name, content in data.items()},
        **{f"report/{name}": content for name, content in reports.items()},
        **dict(sources()),
        "analyse.py": PROGRAM.encode(),
        "expected.json": expected,
        "requirements.txt": (ROOT / PINS).read_bytes(),
        "LICENSE": (ROOT / "LICENSE").read_bytes(),
        "README.md": README.replace("{version}", code_version()).encode(),
    }
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as archive:
        for name, content in sorted(files.items()):
            archive.writestr(zip_entry(f"{folder}/{name}"), content)
    return sink.getvalue()


@cache
def sources() -> tuple[tuple[str, bytes], ...]:
    """The modules that the program needs, with the packages around them."""
    found: dict[str, Path] = {}
    waiting = [ENTRY]
    while waiting:
        name = waiting.pop()
        path = _path(name)
        if path is None or name in found:
            continue
        found[name] = path
        waiting += [*_imported(path), *_around(name)]
    return tuple(
        (str(path.relative_to(ROOT)).replace("\\", "/"), path.read_bytes()) for path in sorted(found.values())
    )


def _path(name: str) -> Path | None:
    """The file of a module of ours; None for a name within a module, or another library's."""
    if name.partition(".")[0] != "analysis":
        return None
    base = ROOT.joinpath(*name.split("."))
    return next((path for path in (base.with_suffix(".py"), base / "__init__.py") if path.is_file()), None)


def _around(name: str) -> list[str]:
    parts = name.split(".")
    return [".".join(parts[:length]) for length in range(1, len(parts))]


def _imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
