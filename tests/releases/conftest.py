"""Places of the concluding side's tests: folders of their own, and jobs that run when a test says so."""

import altair
import pytest
from django.core.cache import caches
from django.test import override_settings

from analysis.figures import export_figure
from analysis.scoring.scorers.arpa import ArpaScorer
from experiments.operation import job_runner
from releases import jobs
from releases.scoring import execution, loaded_model
from tests.releases.models_dir import write_bigram


@pytest.fixture(autouse=True)
def places(tmp_path, settings, monkeypatch):
    """Media and releases lie in the test's folder; ids are not sent to a broker; nothing is remembered."""
    assert jobs.BUILD in job_runner.KINDS
    settings.MEDIA_ROOT = tmp_path / "media"
    options = {"location": tmp_path / "gold"}
    folder = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": options}
    monkeypatch.setattr(job_runner, "send", lambda job_id: None)
    caches["pages"].clear()
    loaded_model.forget()  # the test database gives the ids of uploads anew
    with override_settings(STORAGES={**settings.STORAGES, "releases": folder}):
        yield


@pytest.fixture
def models_dir(tmp_path, settings, monkeypatch):
    """A folder with a bigram; shards of two sentences; nobody is called to help; no model is remembered."""
    settings.MODELS_DIR = tmp_path / "models"
    settings.SHARD_SENTENCES = 2
    write_bigram(settings.MODELS_DIR)
    monkeypatch.setattr(execution, "request_helpers", lambda run, n: None)
    loaded_model.forget()
    yield settings.MODELS_DIR
    loaded_model.forget()


@pytest.fixture
def scored_texts(monkeypatch):
    """The texts of which the model was really asked, call by call."""
    calls: list[list[str]] = []
    scored = ArpaScorer.score

    def score(self, sentences, **options):
        calls.append(list(sentences))
        return scored(self, sentences, **options)

    monkeypatch.setattr(ArpaScorer, "score", score)
    return calls


@pytest.fixture(scope="session")
def drawing():
    """One small figure in the forms of a report."""
    chart = altair.Chart(altair.Data(values=[{"x": 1}])).mark_point().encode(x="x:Q")
    return {form: export_figure(chart, form, width=310) for form in ("svg", "pdf")}


@pytest.fixture
def drawn_once(monkeypatch, drawing):
    """Every figure of a report is the same small one: for tests of what stands beside the figures."""
    monkeypatch.setattr("analysis.figures.export_figure", lambda chart, form, **_: drawing[form])
