"""Run the code of the tutorials and write its output into their pages: ``python -m tools.manual.tutorials``.

A page's blocks run in order in an empty folder, as a reader runs them: Python in one namespace, with the last
expression in the block ``text`` that follows, and lines ``$ obelus …`` by the command.
"""

import ast
import contextlib
import importlib
import io
import os
import re
import shlex
import sys
import tempfile
import types
from pathlib import Path
from typing import Any

import pandas as pd

import analysis
from analysis.command_line.program import main

PAGES = sorted((Path(__file__).resolve().parents[2] / "docs" / "tutorials").glob("*.md"))
BLOCK = re.compile(
    r"^```python\n(?P<code>.*?)^```\n(?:\n```text\n(?P<shown>.*?)^```\n)?"
    r"|^```console\n\$ (?P<command>[^\n]*)\n(?P<printed>.*?)^```\n",
    re.MULTILINE | re.DOTALL,
)
LARGEST = 60  # lines of an output


def executed(text: str, folder: Path) -> str:
    """Return a page with the output that its blocks have in a folder."""
    namespace: dict[str, Any] = {"__name__": "__main__"}

    def replaced(block: re.Match[str]) -> str:
        if block["command"] is not None:
            return f"```console\n$ {block['command']}\n{_printed_by(block['command'])}```\n"
        output = _output_of(block["code"], namespace)
        shown = f"\n```text\n{output}```\n" if output else ""
        return f"```python\n{block['code']}```\n{shown}"

    before = Path.cwd()
    with _importable(), pd.option_context("display.width", 110, "display.max_columns", 12):
        os.chdir(folder)
        try:
            return BLOCK.sub(replaced, text)
        finally:
            os.chdir(before)


@contextlib.contextmanager
def _importable() -> Any:
    """Give the folder `analysis` as `obelus` where the wheel is not installed."""
    try:
        importlib.import_module("obelus")
    except ModuleNotFoundError:
        # A module of its own: what is imported below it becomes an attribute of it, and not of `analysis`.
        library = types.ModuleType("obelus")
        vars(library).update(vars(analysis))
        sys.modules["obelus"] = library
        try:
            yield
        finally:  # with the modules that were imported under this name
            for name in [name for name in sys.modules if name.partition(".")[0] == "obelus"]:
                del sys.modules[name]
    else:
        yield


def run_block(code: str, namespace: dict[str, Any]) -> Any:
    """Run a block; return the value of its last statement where that is an expression."""
    tree = ast.parse(code)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "<page>", "exec"), namespace)
    return eval(compile(ast.Expression(last.value), "<page>", "eval"), namespace) if last else None


def _output_of(code: str, namespace: dict[str, Any]) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        value = run_block(code, namespace)
        if value is not None:
            print(value)
    return _lines(printed.getvalue())


def _printed_by(command: str) -> str:
    words, _, target = (part.strip() for part in command.partition(" > "))
    name, *arguments = shlex.split(words)
    assert name == "obelus", command
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()) as problems:
        status = main(arguments)
    assert status == 0, problems.getvalue()
    if target:
        Path(target).write_text(printed.getvalue(), encoding="utf-8")
        return ""
    return _lines(printed.getvalue())


def _lines(text: str) -> str:
    lines = [line.rstrip() for line in text.rstrip().splitlines()]
    assert len(lines) <= LARGEST, "an output is too long for a page"
    return "".join(f"{line}\n" for line in lines)


if __name__ == "__main__":
    for page in PAGES:
        with tempfile.TemporaryDirectory() as name:
            page.write_text(executed(page.read_text(encoding="utf-8"), Path(name)), encoding="utf-8")
        print(f"wrote {page}")
