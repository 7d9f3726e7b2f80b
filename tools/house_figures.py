"""Print the size and naming figures of the source: ``python -m tools.house_figures [FOLDER …] [--names]``.

Tests, benchmarks, tools and migrations are left out. ``--names`` lists every vague name with its file and line.
"""

import ast
import statistics
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: Words that say nothing about the value they name; collected from this project's own history.
VAGUE = frozenset(
    """
    again asked begun both counted done drawn found given gone held inside kept known made met mine
    named news one others ours own rest said seen shown theirs thing told used wanted what who whole
    """.split()  # noqa: SIM905  (a list of words reads better in lines)
)
FULL = 14  # modules in a folder, ``__init__`` apart; folders of management commands are Django's convention
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def source_files(folders: list[str]) -> list[Path]:
    """Tracked Python files of the given folders."""
    listing = subprocess.run(
        ["git", "ls-files", *(folders or ["."])], cwd=ROOT, capture_output=True, text=True, check=True
    )
    paths = [Path(line) for line in listing.stdout.splitlines() if line.endswith(".py")]
    beside = {"tests", "benchmarks", "tools"}
    return [path for path in paths if path.parts[0] not in beside and "migrations" not in path.parts]


def assigned_names(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Names that are assigned to, and arguments, with their lines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno


def docstring_lines(node: ast.AST) -> int:
    """Lines of a docstring, quotes included; 0 without one."""
    body = getattr(node, "body", None)
    if not isinstance(body, list) or not body or not isinstance(body[0], ast.Expr):
        return 0
    value = body[0].value
    is_text = isinstance(value, ast.Constant) and isinstance(value.value, str)
    return value.end_lineno - value.lineno + 1 if is_text else 0


def crowded_folders(paths: list[Path]) -> dict[str, int]:
    """Folders with more than :data:`FULL` modules."""
    modules = Counter(
        str(path.parent) for path in paths if path.name != "__init__.py" and path.parent.name != "commands"
    )
    return {folder: count for folder, count in modules.items() if count > FULL}


def single_importers(paths: list[Path]) -> int:
    """Modules that exactly one other source file imports."""
    modules = {".".join(path.with_suffix("").parts).removesuffix(".__init__"): path for path in paths}
    importers: dict[str, set[Path]] = defaultdict(set)
    for path in paths:
        for node in ast.walk(ast.parse((ROOT / path).read_text())):
            names = []
            if isinstance(node, ast.ImportFrom) and node.module:
                names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            for name in names:
                if name in modules and modules[name] != path:
                    importers[name].add(path)
    return sum(len(sources) == 1 for sources in importers.values())


def spread(numbers: list[int]) -> str:
    """Median, ninth decile and maximum."""
    ordered = sorted(numbers)
    return f"{statistics.median(ordered):.0f} / {ordered[int(0.9 * len(ordered))]} / {ordered[-1]}"


def main(arguments: list[str]) -> None:
    """Print one figure a line."""
    paths = source_files([argument for argument in arguments if not argument.startswith("--")])
    lengths, function_lengths, comments, docstrings, documented, n_public = [], [], 0, 0, 0, 0
    names: Counter[str] = Counter()
    for path in paths:
        text = (ROOT / path).read_text()
        tree, lines = ast.parse(text), text.splitlines()
        lengths.append(len(lines))
        comments += sum(line.lstrip().startswith("#") for line in lines)
        for node in ast.walk(tree):
            docstrings += docstring_lines(node)
            if isinstance(node, FUNCTIONS):
                function_lengths.append(node.end_lineno - node.lineno + 1 - docstring_lines(node))
                if not node.name.startswith("_"):
                    n_public += 1
                    documented += docstring_lines(node) > 0
        for name, line in assigned_names(tree):
            names[name] += 1
            if name in VAGUE and "--names" in arguments:
                print(f"{path}:{line}: {name}")
    folders = Counter(path.parent for path in paths)
    vague, n_names = sum(names[word] for word in VAGUE), sum(names.values())
    rows = {
        "files / lines": f"{len(paths)} / {sum(lengths):,}",
        "lines a file, median / p90 / max": spread(lengths),
        "lines a function, median / p90 / max": spread(function_lengths),
        "files a folder, mean": f"{statistics.mean(folders.values()):.1f}",
        f"folders with more than {FULL} modules": crowded_folders(paths) or 0,
        "modules with a single importer": single_importers(paths),
        "comment lines": comments,
        "docstring lines": f"{docstrings:,} = {docstrings / sum(lengths):.0%} of the source",
        "public functions with a docstring": f"{documented / n_public:.0%}",
        "vague names": f"{vague / n_names:.2%} ({vague:,} of {n_names:,})",
    }
    for label, value in rows.items():
        print(f"{label:40} {value}")


if __name__ == "__main__":
    main(sys.argv[1:])
