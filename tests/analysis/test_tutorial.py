"""The tutorial is a valid notebook, runs from top to bottom without Django, and its page tells the same."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
NOTEBOOK, PAGE = ROOT / "docs" / "how-to" / "tutorial.ipynb", ROOT / "docs" / "how-to" / "tutorial.md"
RUN = """
import json, runpy, sys
from pathlib import Path
tutorial = runpy.run_path("tools/manual/long_tutorial.py")
text = tutorial["page"](pictures=Path(sys.argv[1]))
Path(sys.argv[1], "page.md").write_text(text, encoding="utf-8")
assert not {name.partition(".")[0] for name in sys.modules} & {"django", "rest_framework", "celery"}
"""


@pytest.fixture(scope="module")
def notebook():
    return json.loads(NOTEBOOK.read_text(encoding="utf-8"))


def test_the_notebook_is_valid(notebook):
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"
    ids = [cell["id"] for cell in notebook["cells"]]
    assert len(set(ids)) == len(ids) and all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", cell_id) for cell_id in ids)
    for cell in notebook["cells"]:
        code = {"execution_count", "outputs"} if cell["cell_type"] == "code" else set()
        assert cell["cell_type"] in ("code", "markdown")
        assert set(cell) == {"cell_type", "id", "metadata", "source"} | code
        assert all(line.endswith("\n") for line in cell["source"][:-1])
        assert cell.get("outputs", []) == [] and cell.get("execution_count") is None


def test_prose_is_between_the_cells(notebook):
    kinds = [cell["cell_type"] for cell in notebook["cells"]]
    assert "code code code" not in " ".join(kinds)
    assert kinds[0] == kinds[-1] == "markdown" and kinds.count("markdown") >= 12
    assert not re.search(r"/work|shared/", NOTEBOOK.read_text(encoding="utf-8"))


def test_it_runs_without_django_and_the_page_shows_what_it_gives(tmp_path):
    ran = subprocess.run(
        [sys.executable, "-c", RUN, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    page = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert words_of(page) == words_of(PAGE.read_text(encoding="utf-8")), (
        "run `python -m tools.manual.long_tutorial`"
    )
    assert len(list(tmp_path.glob("tutorial-*.svg"))) == 2


def words_of(text):
    """Everything but digits and the space they take: last digits differ from machine to machine."""
    return re.sub(r"[-−\d.e+ ]+", " ", text).splitlines()
