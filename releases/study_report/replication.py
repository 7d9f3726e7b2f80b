"""Replication package: the data, the program that computes the report from them, and the expected numbers.

The program is the source of the ``analysis`` modules that the report needs, so that a package stays valid
when the platform changes.
"""

import ast
import io
import zipfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from analysis.report.replicate import ABSOLUTE, RELATIVE
from config.version import code_version
from releases.gold.storage import Files, zip_entry

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
or {ABSOLUTE:g}. Its own numbers are written to `found.json`. Random procedures start from
the stored seed.

| file | holds |
|---|---|
| `data/` | the gold release: judgments, pseudonyms of participants, sentences, pairs, exclusions, plan |
| `data/removed.csv` | which step of the plan removes which row; some steps read unpublished data |
| `data/study.json` | design, versions, participants and drop-out |
| `analyse.py` | the program |
| `analysis/` | the statistics it calls: the source of Obelus {{version}}, GPL-3.0-or-later |
| `requirements.txt` | the libraries, pinned with hashes |
| `expected.json` | every number of the report |
| `report/` | the report itself |

The data keep the licence of the release (`data/README.md`).
"""


def package(folder: str, data: Files, expected: bytes, *, reports: Files) -> bytes:
    """A reproducible ZIP: sorted names and fixed timestamps."""
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
    """Source of the modules that the program imports, and the docstring of packages around them.

    The ``__init__`` of a package may import what the program does not need, as that of the scorers does.
    """
    modules: dict[str, Path] = {}
    pending = [ENTRY]
    while pending:
        name = pending.pop()
        path = _path(name)
        if path is None or name in modules:
            continue
        modules[name] = path
        pending += _find_imports(name, path)
    files = {path: path.read_bytes() for path in modules.values()}
    for parent in {parent for name in modules for parent in _parents(name)} - set(modules):
        if path := _path(parent):
            text = ast.get_docstring(ast.parse(path.read_bytes())) or ""
            files[path] = f'"""{text}"""\n'.encode()
    return tuple((str(path.relative_to(ROOT)).replace("\\", "/"), files[path]) for path in sorted(files))


def _path(name: str) -> Path | None:
    """The file of one of our modules; None for a name within a module or of another library."""
    if name.partition(".")[0] != "analysis":
        return None
    base = ROOT.joinpath(*name.split("."))
    return next((path for path in (base.with_suffix(".py"), base / "__init__.py") if path.is_file()), None)


def _parents(name: str) -> list[str]:
    parts = name.split(".")
    return [".".join(parts[:length]) for length in range(1, len(parts))]


def _find_imports(name: str, path: Path) -> Iterator[str]:
    """Names of what a module imports, and of what it takes from there, which may be modules too."""
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*above, *([node.module] if node.module else [])])
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
