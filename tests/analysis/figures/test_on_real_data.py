"""Every figure that applies to a published data set is drawn from it, for a phone and for a desk."""

import pytest

from analysis.figures import FIGURES, applicable, draw, export_figure
from tests.analysis.figures.real_data import SETS

FAST = {
    "blimp": {
        "items",
        "agreement",
        "paradigms",
        "paradigm-correlations",
        "participants",
        "flow",
        "reliability",
    },
    "ssa": {"sentences", "participants-conduct", "scale-points"},
    "islands": {"sentences", "participants-z", "overlap", "five-analyses", "effect-sizes", "sensitivity"},
    "that-trace": {"sentences", "participants", "five-analyses", "ratings", "power", "power-share"},
    "mega": {"flow", "scale-points"},
    "li-adger": {"deltas", "adc", "correlations"},
    "portuguese": {"response-times", "participant-times", "scale-points"},
}


@pytest.mark.parametrize("name", SETS)
def test_figures_are_drawn_from_published_data(name, shared_data):
    evidence = SETS[name](shared_data)
    suits = {drawing.name for drawing in applicable(evidence)[0]}
    assert suits >= FAST[name] and set(FIGURES) >= suits
    for figure in sorted(FAST[name]):
        chart = draw(figure, evidence)
        assert "statement" not in chart.data.columns, figure
        assert export_figure(chart, "svg", mode="dark", width=310).startswith(b"<svg"), figure
        assert export_figure(chart, "svg", mode="light", width=640).startswith(b"<svg"), figure


def test_the_published_counts_are_in_the_captions(shared_data):
    evidence = SETS["li-adger"](shared_data)
    assert "2,365 pairs" in " ".join(draw("deltas", evidence).title["subtitle"])
    data = draw("deltas", evidence).data
    assert len(data) == 2365 and data["identical"].sum() == 2
    constant = draw("adc", evidence).data.query("judge == 'constant'")
    assert constant["area"].iloc[0] == pytest.approx(0.790, abs=1e-3)
