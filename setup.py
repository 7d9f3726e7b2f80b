"""Build the library ``obelus``: the modules of the folder ``analysis`` under that name."""

import ast
import re
from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py

SOURCE, PACKAGE = "analysis", "obelus"
FOLDERS = [SOURCE, *(f"{SOURCE}.{name}" for name in find_packages(SOURCE))]
#: Without modules; setuptools takes them for namespace packages, and warns where they are not listed.
DATA_FOLDERS = [f"{SOURCE}.corpora.filters", f"{SOURCE}.corpora.filters.lists"]


def module_names() -> set[str]:
    """Names below the source package: its modules and folders."""
    paths = [path.relative_to(SOURCE).with_suffix("") for path in Path(SOURCE).rglob("*.py")]
    return {".".join(path.parts).removesuffix(".__init__") for path in paths} - {"__init__"}


def references(names: set[str]) -> re.Pattern[bytes]:
    """References to the source package in prose and examples: imports, and dotted names of its modules."""
    dotted = "|".join(sorted({name.partition(".")[0] for name in names}))
    package = SOURCE
    return re.compile(
        rf"(?<![\w./]){package}(?=\.(?:{dotted})\b)|(?<=import ){package}\b|(?<=from ){package}(?= import)"
        rf"|(?<=dir\(){package}(?=\))".encode()
    )


def relocated(source: bytes, *, file: str, pattern: re.Pattern[bytes]) -> bytes:
    """Rename the package in import statements and docstrings; refuse other strings that name its modules."""
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    tree = ast.parse(source)
    prose = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    ]
    places: list[int] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            if node.level == 0 and (node.module or "").split(".")[0] == SOURCE:
                start = starts[node.lineno - 1] + node.col_offset
                places.append(source.index(SOURCE.encode(), start + len("from")))
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == SOURCE:
                    if alias.asname is None:
                        raise SystemExit(f"{file}, line {node.lineno}: write from {SOURCE} import ….")
                    places.append(starts[alias.lineno - 1] + alias.col_offset)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            start = starts[node.lineno - 1] + node.col_offset
            end = starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
            if node in prose:
                places += [match.start() for match in pattern.finditer(source, start, end)]
            elif pattern.search(node.value.encode()):
                raise SystemExit(
                    f"{file}, line {node.lineno}: a string names a module of {SOURCE}; use __name__."
                )
    for place in sorted(places, reverse=True):
        source = source[:place] + PACKAGE.encode() + source[place + len(SOURCE) :]
    return source


class BuildRelocated(build_py):
    """Copy the modules, then rename the package in each copy."""

    def run(self) -> None:
        """Copy, rename."""
        super().run()
        pattern = references(module_names())
        for path in (Path(self.build_lib) / PACKAGE).rglob("*.py"):
            path.write_bytes(relocated(path.read_bytes(), file=str(path), pattern=pattern))


if __name__ == "__main__":
    setup(
        packages=[name.replace(SOURCE, PACKAGE, 1) for name in [*FOLDERS, *DATA_FOLDERS]],
        package_dir={PACKAGE: SOURCE},
        package_data={PACKAGE: ["py.typed", "corpora/filters/*.toml", "corpora/filters/lists/*.txt"]},
        cmdclass={"build_py": BuildRelocated},
    )
