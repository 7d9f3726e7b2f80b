"""The gallery shows every figure with code that draws it."""

import re

from analysis.figures import FIGURES, figure_data
from tools.manual.gallery import BLOCK, PAGE, charts_of_page


def test_every_figure_has_its_code_and_its_picture_on_the_page():
    blocks = list(BLOCK.finditer(PAGE.read_text(encoding="utf-8")))
    shown = {
        re.search(r'draw\("([\w-]+)"', block["code"])[1]: block["picture"]
        for block in blocks
        if block["picture"]
    }
    assert shown == {name: f"pictures/figure-{name}.svg" for name in FIGURES}
    assert [name for name in shown.values() if not (PAGE.parents[1] / name).is_file()] == []


def test_each_block_draws_what_its_picture_shows():
    statements = [name for name, chart in charts_of_page().items() if "statement" in figure_data(chart)]
    assert statements == []
