"""`make tutorial`: run the tutorial notebook from top to bottom and write it as a page with its results.

No Jupyter is needed for either: cells are plain Python, run in one namespace, and the last expression
of a cell is its result.
"""

import ast
import contextlib
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from analysis.figures import export_figure

DOCS = Path(__file__).resolve().parent.parent / "docs"
NOTEBOOK, PAGE = DOCS / "how-to" / "tutorial.ipynb", DOCS / "how-to" / "tutorial.md"
PICTURES = DOCS / "pictures"
DOWNLOAD = "[Download the notebook](tutorial.ipynb); `make tutorial` wrote this page from it.\n"


def cells(path: Path = NOTEBOOK) -> list[tuple[str, str]]:
    """Kind and text of every cell."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    return [(cell["cell_type"], "".join(cell["source"])) for cell in notebook["cells"]]


def results(path: Path = NOTEBOOK) -> Iterator[tuple[str, str, str, Any]]:
    """Run the notebook: kind, text, what was printed, and the value of the last expression."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for number, (kind, text) in enumerate(cells(path)):
        printed, value = io.StringIO(), None
        if kind == "code":
            with contextlib.redirect_stdout(printed):
                value = _run(text, namespace, name=f"<cell {number}>")
        yield kind, text, printed.getvalue(), value


def page(path: Path = NOTEBOOK, *, pictures: Path = PICTURES) -> str:
    """The notebook as Markdown, with its results; charts are written as SVG."""
    parts = []
    for number, (kind, text, printed, value) in enumerate(results(path)):
        parts.append(text if kind == "markdown" else f"```python\n{text}\n```")
        if number == 0:
            parts.append(DOWNLOAD.rstrip())
        if printed:
            parts.append(f"```text\n{printed.rstrip()}\n```")
        if value is not None:
            parts.append(_shown(value, number, pictures))
    return "\n\n".join(parts) + "\n"


def _run(text: str, namespace: dict[str, Any], *, name: str) -> Any:
    tree = ast.parse(text, filename=name)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, name, "exec"), namespace)
    return eval(compile(ast.Expression(last.value), name, "eval"), namespace) if last else None


def _shown(value: Any, number: int, pictures: Path) -> str:
    """Tables as text, charts as pictures."""
    if hasattr(value, "to_dict") and not hasattr(value, "to_string"):
        file = pictures / f"tutorial-{number}.svg"
        file.write_bytes(export_figure(value, "svg"))
        (words,) = value.to_dict()["title"]["text"]
        return f"![{words}](../pictures/{file.name})"
    lines = value.to_string() if hasattr(value, "to_string") else repr(value)
    return "```text\n" + "\n".join(line.rstrip() for line in lines.splitlines()) + "\n```"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"Wrote {PAGE.relative_to(DOCS.parent)}.")
