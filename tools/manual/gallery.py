"""Run the code of the gallery of figures and draw its pictures: ``python -m tools.manual.gallery``."""

import re
from pathlib import Path
from typing import Any

from analysis.figures import export_figure
from tools.manual.tutorials import run_block

PAGE = Path(__file__).resolve().parents[2] / "docs" / "models" / "gallery.md"
BLOCK = re.compile(
    r"^```python\n(?P<code>.*?)^```\n(?:\n!\[[^\]]*\]\(\.\./(?P<picture>[\w/.-]+)\)\n)?",
    re.MULTILINE | re.DOTALL,
)
WIDTH = 560  # points


def charts_of_page() -> dict[str, Any]:
    """Run the blocks in order; return the chart of each picture, by the picture's path below docs/."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    charts = {}
    for block in BLOCK.finditer(PAGE.read_text(encoding="utf-8")):
        # The library of this checkout, whatever wheel is installed
        value = run_block(re.sub(r"\bobelus\b", "analysis", block["code"]), namespace)
        if block["picture"]:
            charts[block["picture"]] = value
    return charts


if __name__ == "__main__":
    for picture, chart in charts_of_page().items():
        path = PAGE.parents[1] / picture
        drawing = export_figure(chart, "svg", width=WIDTH)
        # White paper: the colours are those of light pages, and the manual has dark ones.
        path.write_bytes(drawing.replace(b">", b'><rect width="100%" height="100%" fill="white"/>', 1))
        print(f"{path.name}: {path.stat().st_size / 1000:.0f} kB")
