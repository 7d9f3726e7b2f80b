"""Run the tutorial notebook and write it as a Markdown page: ``python -m tools.manual.long_tutorial``.

Jupyter is not needed: cells are executed in one namespace, and the last expression of a cell is its output.
"""

import ast
import contextlib
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from analysis.figures import export_figure

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"
NOTEBOOK, PAGE = DOCS / "how-to" / "tutorial.ipynb", DOCS / "how-to" / "tutorial.md"
PICTURES = DOCS / "pictures"
DOWNLOAD = (
    "[Download the notebook](tutorial.ipynb); `tools/manual/long_tutorial.py` wrote this page from it.\n"
)


def cells(path: Path = NOTEBOOK) -> list[tuple[str, str]]:
    """Return type and source of every cell."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    return [(cell["cell_type"], "".join(cell["source"])) for cell in notebook["cells"]]


def executed_cells(path: Path = NOTEBOOK) -> Iterator[tuple[str, str, str, Any]]:
    """Run the notebook; yield type, source, printed output and value of every cell."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for number, (kind, text) in enumerate(cells(path)):
        printed, value = io.StringIO(), None
        if kind == "code":
            with contextlib.redirect_stdout(printed):
                value = _run(text, namespace, name=f"<cell {number}>")
        yield kind, text, printed.getvalue(), value


def page(path: Path = NOTEBOOK, *, pictures: Path = PICTURES) -> str:
    """Return the notebook with its output as Markdown; charts are written as SVG files."""
    parts = []
    for number, (kind, text, printed, value) in enumerate(executed_cells(path)):
        parts.append(text if kind == "markdown" else f"```python\n{text}\n```")
        if number == 0:
            parts.append(DOWNLOAD.rstrip())
        if printed:
            parts.append(f"```text\n{printed.rstrip()}\n```")
        if value is not None:
            parts.append(_output(value, number, pictures))
    return "\n\n".join(parts) + "\n"


def _run(text: str, namespace: dict[str, Any], *, name: str) -> Any:
    """Run a cell; return the value of its last statement where that is an expression."""
    tree = ast.parse(text, filename=name)
    last = tree.body[-1] if tree.body else None
    if not isinstance(last, ast.Expr):
        exec(compile(tree, name, "exec"), namespace)
        return None
    exec(compile(ast.Module(tree.body[:-1], tree.type_ignores), name, "exec"), namespace)
    return eval(compile(ast.Expression(last.value), name, "eval"), namespace)


def _output(value: Any, number: int, pictures: Path) -> str:
    """Return a table as text, or write a chart as SVG and return its Markdown."""
    if hasattr(value, "to_dict") and not hasattr(value, "to_string"):  # an Altair chart, not a DataFrame
        file = pictures / f"tutorial-{number}.svg"
        file.write_bytes(export_figure(value, "svg"))
        (title,) = value.to_dict()["title"]["text"]
        return f"![{title}](../pictures/{file.name})"
    lines = value.to_string() if hasattr(value, "to_string") else repr(value)
    return "```text\n" + "\n".join(line.rstrip() for line in lines.splitlines()) + "\n```"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"Wrote {PAGE.relative_to(DOCS.parent)}.")
