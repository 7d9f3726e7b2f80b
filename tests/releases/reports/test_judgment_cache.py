"""Judgments are read once for all figures and reports of the same data, and again when the data change."""

from datetime import timedelta

import pandas as pd
import pytest
from django.core.management import call_command
from django.urls import reverse

from experiments.models import Job
from experiments.operation import job_runner
from judgments.models import Flag
from judgments.sessions.removal import erase
from releases.reports import judgment_cache, report_cache
from releases.reports.judgment_cache import FrameCache, data_version
from tests.releases.study import add_sitting, judged_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def reads(monkeypatch):
    """The studies whose judgments were read, in order."""
    slugs = []
    read = judgment_cache.judgments_for

    def count_reads(study, plan, **choices):
        slugs.append(study.slug)
        return read(study, plan, **choices)

    monkeypatch.setattr(judgment_cache, "judgments_for", count_reads)
    return slugs


def figure(client, study, name, **query):
    answer = client.get(reverse("study-figure", args=[study.slug, name, "svg"]), query)
    assert answer.status_code == 200
    return answer.content.decode()


def test_pages_and_figures_of_the_same_data_read_the_judgments_once(ada, reads, monkeypatch):
    monkeypatch.setattr(
        judgment_cache, "SETTLED", timedelta(0)
    )  # counts of new answers expire after two seconds
    study = judged_study()
    ada.get(reverse("study-agreement", args=[study.slug]))
    ada.get(reverse("study-figures", args=[study.slug]))
    for name in ("agreement", "items", "flow", "reliability", "response-times"):
        figure(ada, study, name)
        figure(ada, study, name, width="narrow")
    assert reads == ["agreement"]


@pytest.mark.parametrize("change", ["answers", "flag", "erasure", "parameters"])
def test_any_change_of_the_data_is_in_the_next_figure(ada, reads, change):
    study = judged_study()
    before, version = figure(ada, study, "flow"), data_version(study)
    person = study.participants.first()
    if change == "answers":
        add_sitting(study, "late")
    elif change == "flag":
        Flag.objects.create(participant=person, reason="asleep")
    elif change == "erasure":
        erase(person, reason="asked for it")
    else:
        study.parameters = {"allow_both": True, "undecided": "half"}
        study.save()
    assert data_version(study) != version
    after = figure(ada, study, "flow")
    assert len(reads) == 2
    assert (after != before) == (change in ("answers", "erasure"))


def test_a_command_reads_the_judgments_once_and_stores_nothing(capsys, reads):
    study = judged_study()
    call_command("agreement", study.slug)
    assert reads == ["agreement"] and not judgment_cache.FRAMES.frames


def test_a_caller_cannot_change_the_judgments_of_the_next_one(ada):
    study = judged_study()
    plan = judgment_cache.Plan("none")
    data_version(study)
    first = judgment_cache.study_judgments(study, plan)
    first["value"] = -1.0
    assert set(judgment_cache.study_judgments(study, plan)["value"]) == {0.0, 1.0}


def test_memory_holds_the_frames_used_last_up_to_a_limit():
    frame = pd.DataFrame({"value": [1.0] * 1000})
    cache = FrameCache(max_bytes=2 * int(frame.memory_usage(deep=True).sum()))
    read = []

    def get(key):
        def make():
            read.append(key)
            return frame

        return cache.get_or_read(key, make)

    for key in ("a", "b", "a", "c", "a", "b"):
        assert len(get(key)) == 1000
    assert read == ["a", "b", "c", "b"]
    huge = pd.concat([frame] * 3)
    cache.get_or_read("huge", lambda: huge)
    assert "huge" not in cache.frames and list(cache.frames) == ["a", "b"]


def test_the_forest_of_a_large_study_is_drawn_from_the_report_that_a_job_computed(ada, monkeypatch):
    monkeypatch.setitem(report_cache.MAX_JUDGMENTS, "effects", 0)
    study = judged_study(task="likert")
    assert "being computed" in figure(ada, study, "effect-sizes")
    (job,) = Job.objects.filter(kind=report_cache.REPORT)
    job_runner.run(job.pk)
    figure_text = figure(ada, study, "effect-sizes")
    assert "being computed" not in figure_text and "d_z" in figure_text
    assert Job.objects.filter(kind=report_cache.REPORT).count() == 1
