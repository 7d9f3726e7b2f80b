"""A figure is drawn for the width it is shown at; its text keeps its size and its names stay whole."""

import re

import pandas as pd
import pytest

from analysis.figures import export_figure, item_strip, paradigm_figure
from analysis.figures.charts.judgments.agreement import agreement_figure
from analysis.figures.fitting import broken

LONG = "determiner_noun_agreement_with_adj_irregular_1"


@pytest.fixture
def items():
    return pd.DataFrame({
        "item": [LONG, "short"], "share": [0.5, 0.9], "n": [4, 4], "majority": ["tie", "expected"],
        "ci_low": [0.2, 0.6], "ci_high": [0.8, 1.0],
    })  # fmt: skip


@pytest.mark.parametrize("width", [310, 408, 880])
def test_the_whole_figure_has_the_width_asked_for(items, width):
    svg = export_figure(item_strip(items), "svg", width=width).decode()
    assert int(re.search(r'width="(\d+)"', svg)[1]) == width
    assert min(float(size) for size in re.findall(r'font-size="([\d.]+)px"', svg)) >= 11


@pytest.mark.parametrize("width", [310, 880])
def test_names_have_room_where_the_browsers_letters_are_wider_than_the_servers(items, width):
    svg = export_figure(item_strip(items), "svg", width=width).decode()
    plot = re.search(r'<svg[^>]*><g[^>]*transform="translate\(([-\d.]+)', svg)
    # The widest name begins where the title does.
    widest = re.search(r'role-title"><g transform="translate\(([-\d.]+)', svg)
    assert float(plot[1]) + float(widest[1]) >= 14


def test_long_names_are_broken_where_it_is_narrow_and_never_cut(items):
    narrow = export_figure(item_strip(items), "svg", width=310).decode()
    wide = export_figure(item_strip(items), "svg", width=880).decode()
    assert "…" not in narrow + wide
    assert f">{LONG}<" in wide
    assert f">{LONG}<" not in narrow
    assert "".join(broken(LONG, 19)) == LONG
    assert all(part in narrow for part in broken(LONG, 19))


def test_legends_name_only_what_occurs(items):
    svg = export_figure(item_strip(items), "svg").decode()
    assert ">tie<" in svg
    assert ">insufficient<" not in svg
    rows = pd.DataFrame({
        "paradigm": ["a"], "share": [0.9], "ci_low": [0.8], "ci_high": [1.0], "items": [4], "status": ["ok"],
    })  # fmt: skip
    assert "rejected" not in export_figure(agreement_figure(rows), "svg").decode()
    shares = pd.DataFrame({"paradigm": ["a", "a"], "judge": ["m1", "m2"], "share": [0.2, 0.3], "n": [4, 4]})
    legend = export_figure(paradigm_figure(shares), "svg").decode()
    assert ">m1<" in legend
    assert ">people<" not in legend
