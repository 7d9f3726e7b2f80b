"""Reports without the time that their figures take."""

import altair
import pytest

from analysis.figures import export_figure


@pytest.fixture(scope="module")
def drawing():
    """One small figure in the forms of a report."""
    chart = altair.Chart(altair.Data(values=[{"x": 1}])).mark_point().encode(x="x:Q")
    return {form: export_figure(chart, form, width=310) for form in ("svg", "pdf")}


@pytest.fixture
def drawn_once(monkeypatch, drawing):
    """Every figure of a report is the same small one: for tests of what stands beside the figures."""
    monkeypatch.setattr("analysis.figures.export_figure", lambda chart, form, **_: drawing[form])
