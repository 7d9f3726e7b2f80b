"""The tutorials run in an empty folder, with the library alone, and show what they print."""

import re

import pytest

from tools.manual.tutorials import PAGES, executed


def words_of(text):
    """Everything but digits and the space they take: last digits differ from machine to machine."""
    return re.sub(r"[-−\d.e+ ]+", " ", text).splitlines()


def test_there_are_four():
    assert [page.stem for page in PAGES] == [
        "coming-from-r", "island-experiment", "score-a-model", "validation-study",
    ]  # fmt: skip


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_page_shows_what_its_code_gives(page, tmp_path):
    text = page.read_text(encoding="utf-8")
    assert words_of(executed(text, tmp_path)) == words_of(text), "call python -m tools.manual.tutorials"


def test_numbers_of_r_are_those_of_the_page(tmp_path):
    text = next(page for page in PAGES if page.stem == "coming-from-r").read_text(encoding="utf-8")
    shown = executed(text, tmp_path)
    assert "t = 11.501, df = 23, p = 5.13e-11, 1.056726 1.520215" in shown
    for number in (
        "-0.940209  0.05163037   365.0 -18.21039",
        "-1.288471  0.10326074   365.0 -12.47784",
        "585.6996",
    ):
        assert number in shown
