"""Places of the concluding side's tests: folders of their own, and jobs that run when a test says so."""

import pytest
from django.core.cache import cache
from django.test import override_settings

from analysis.releases import held_model, jobs
from experiments import job_runner


@pytest.fixture(autouse=True)
def places(tmp_path, settings, monkeypatch):
    """Media and releases lie in the test's folder; ids are not sent to a broker; nothing is remembered."""
    assert jobs.BUILD in job_runner.KINDS
    settings.MEDIA_ROOT = tmp_path / "media"
    options = {"location": tmp_path / "gold"}
    folder = {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": options}
    monkeypatch.setattr(job_runner, "send", lambda job_id: None)
    cache.clear()
    held_model.forget()  # the test database gives the ids of uploads anew
    with override_settings(STORAGES={**settings.STORAGES, "releases": folder}):
        yield
