"""Pages of large studies: the first visit is answered at once, and the browser asks for the result itself."""

import pytest
from django.urls import reverse

from experiments.page_cache import cache
from judgments.models import Judgment
from releases.views import large_studies
from tests.releases.study import judged_study

pytestmark = pytest.mark.django_db
PAGES = ("agreement", "items", "ratings", "exclusions", "progress")


def test_the_first_visit_of_a_large_study_names_the_work_and_comes_back_for_the_result(ada, monkeypatch):
    monkeypatch.setattr(large_studies, "MAX_JUDGMENTS", 20)
    cache.clear()
    study = judged_study(task="likert", people=7)
    for name in PAGES:
        address = reverse(f"study-{name}", args=[study.slug])
        shell = ada.get(address)
        assert shell.headers["Refresh"] == "0" and "<progress" in shell.content.decode(), name
        assert f"{Judgment.objects.count()} judgments" in shell.content.decode()
        for _ in range(2):
            result = ada.get(address)
            assert "Refresh" not in result.headers and "Being computed" not in result.content.decode(), name
        assert ada.get(address, {"exclude": "none"}).headers["Refresh"] == "0", "other choices"

    participants = reverse("study-participants", args=[study.slug])
    assert 'class="finding"' not in ada.get(participants).content.decode()
    ada.get(reverse("study-figure", args=[study.slug, "participants-agreement", "svg"]))
    assert 'class="finding"' in ada.get(participants).content.decode()
