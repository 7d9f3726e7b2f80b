"""Print sizes and naming figures of the source: ``python -m tools.house_figures [FOLDER …] [--names]``.

Migrations are left out. ``--names`` lists names and docstrings that miss an aim, with file and line.
"""

import ast
import io
import re
import statistics
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: Words that do not describe the value they name, from this project's own history.
VAGUE = frozenset(
    """
    again asked begun both counted done drawn found given gone held inside kept known made met mine
    named news one others ours own rest said seen shown theirs thing told used wanted what who whole
    """.split()  # noqa: SIM905  (a list of words reads better in lines)
)
PARTICIPLE = re.compile(
    r"(?!(embed|feed|need|seed|speed)$)[a-z]+ed|begun|built|chosen|done|drawn|found|given|gone|held|kept"
    r"|known|left|made|met|paid|said|seen|sent|set_aside|shown|taken|told|written"
)
HEADLESS = re.compile(r"(What|Who|Whom|Whose|Where)\b")
PERSONS = re.compile(r"\b(people|nobody|somebody|whoever)\b", re.IGNORECASE)
FULL = 14  # modules in a folder, ``__init__`` apart; folders of management commands are Django's convention
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass
class Figures:
    """Counts over all files, and the offenders that ``--names`` lists."""

    file_lengths: list[int] = field(default_factory=list)
    function_lengths: list[int] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    offenders: list[str] = field(default_factory=list)

    def add_file(self, path: Path) -> None:
        """Count one file."""
        text = (ROOT / path).read_text()
        tree = ast.parse(text)
        self.file_lengths.append(len(text.splitlines()))
        for node in ast.walk(tree):
            self._add_docstring(node, path)
            if isinstance(node, FUNCTIONS):
                self._add_function(node, path)
        for name, line in assigned_names(tree):
            self.counts["names"] += 1
            if name in VAGUE:
                self._add_offender("vague names", path, line, name)
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                self.counts["comment lines"] += token.line.lstrip().startswith("#")
                self._add_prose(token.string, path, token.start[0])

    def _add_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, path: Path) -> None:
        self.counts["functions"] += 1
        self.function_lengths.append(node.end_lineno - node.lineno + 1 - docstring_lines(node))
        if not node.name.startswith("_"):
            self.counts["public"] += 1
            self.counts["documented"] += docstring_lines(node) > 0
        if PARTICIPLE.fullmatch(node.name.strip("_")):
            self._add_offender("participles", path, node.lineno, node.name)
        elif node.name.endswith("_of"):
            self._add_offender("of", path, node.lineno, node.name)

    def _add_docstring(self, node: ast.AST, path: Path) -> None:
        if not (n_lines := docstring_lines(node)):
            return
        docstring = node.body[0].value
        self.counts["docstrings"] += 1
        self.counts["docstring lines"] += n_lines
        self._add_prose(docstring.value, path, docstring.lineno)
        if HEADLESS.match(docstring.value.lstrip()):
            self._add_offender("headless", path, docstring.lineno, docstring.value.strip().partition("\n")[0])

    def _add_prose(self, text: str, path: Path, line: int) -> None:
        self.counts["words"] += len(re.findall(r"\w+", text))
        for word in PERSONS.finditer(text):
            self._add_offender("persons", path, line + text.count("\n", 0, word.start()), word[0])

    def _add_offender(self, kind: str, path: Path, line: int, name: str) -> None:
        self.counts[kind] += 1
        self.offenders.append(f"{path}:{line}: {kind}: {name}")


def source_files(folders: list[str]) -> list[Path]:
    """Tracked Python files of the given folders, without migrations."""
    listing = subprocess.run(
        ["git", "ls-files", *(folders or ["."])], cwd=ROOT, capture_output=True, text=True, check=True
    )
    paths = [Path(line) for line in listing.stdout.splitlines() if line.endswith(".py")]
    return [path for path in paths if "migrations" not in path.parts and (ROOT / path).exists()]


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


def spread(numbers: list[int]) -> str:
    """Median, ninth decile and maximum."""
    ordered = sorted(numbers)
    return f"{statistics.median(ordered):.0f} / {ordered[int(0.9 * len(ordered))]} / {ordered[-1]}"


def size(paths: list[Path]) -> str:
    """Number of files and of their lines."""
    return f"{len(paths):,} / {sum(len((ROOT / path).read_text().splitlines()) for path in paths):,}"


def main(arguments: list[str]) -> None:
    """Print one figure a line, with its aim where there is one."""
    files = source_files([argument for argument in arguments if not argument.startswith("--")])
    paths = [path for path in files if path.parts[0] not in {"tests", "tools", "benchmarks"}]
    tests = [path for path in files if path.parts[0] == "tests"]
    figures = Figures()
    for path in paths:
        figures.add_file(path)
    if "--names" in arguments:
        print(*figures.offenders, sep="\n")
    counts = figures.counts
    folders = Counter(path.parent for path in paths)
    dialect = counts["participles"] + counts["of"]
    rows = [
        ("source files / lines", size(paths), "≤ 840 / ≤ 126,000"),
        ("with tools and benchmarks", size([path for path in files if path not in tests]), ""),
        ("files / lines in tests/", size(tests), "≤ 70,000 lines"),
        ("lines a file, median / p90 / max", spread(figures.file_lengths), ""),
        ("lines a function, median / p90 / max", spread(figures.function_lengths), ""),
        ("files a folder, mean", f"{statistics.mean(folders.values()):.1f}", ""),
        (f"folders with more than {FULL} modules", str(crowded_folders(paths) or 0), "0"),
        ("comment lines", f"{counts['comment lines']:,}", ""),
        ("docstring lines", f"{counts['docstring lines'] / sum(figures.file_lengths):.1%} of the source", ""),
        ("public functions with a docstring", f"{counts['documented'] / counts['public']:.0%}", ""),
        ("functions named by a participle", share(counts["participles"], counts["functions"]), ""),
        ("functions named x_of", share(counts["of"], counts["functions"]), ""),
        ("participles + x_of", share(dialect, counts["functions"]), "< 0.5 %"),
        ("docstrings opening What/Who/Where", share(counts["headless"], counts["docstrings"]), "< 0.5 %"),
        ("people, nobody … in 10,000 words", f"{10_000 * counts['persons'] / counts['words']:.1f}", "≤ 3"),
        ("vague names", share(counts["vague names"], counts["names"]), "< 0.5 %"),
    ]
    print(f"{'figure':40} {'now':24} aim")
    for label, value, aim in rows:
        print(f"{label:40} {value:24} {aim}".rstrip())


def share(count: int, total: int) -> str:
    """Percentage with both counts."""
    return f"{count / total:.2%} ({count:,} of {total:,})"


if __name__ == "__main__":
    main(sys.argv[1:])
