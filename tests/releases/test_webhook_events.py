"""What happens to releases, models and participants is stored for the webhooks of the study."""

import json

import pytest

from experiments.models import WebhookDelivery
from experiments.operation import job_runner
from experiments.webhooks import endpoints
from experiments.webhooks.events import EVENTS
from judgments.recruitment.alerts.evaluation import evaluate_all
from releases.comparison.compare import Options, request_comparison
from releases.models import ScoringRun
from releases.scoring.runs import request_scoring
from tests import cast
from tests.releases.study import judged_study, ready_release, scored, scores_file
from tests.webhook_events import documented_data

pytestmark = pytest.mark.django_db


@pytest.fixture
def study():
    experiment = judged_study(people=3)
    endpoints.add(experiment, "https://lab.example.org/hook", events=list(EVENTS), by=cast.ada())
    return experiment


def stored(event):
    """The data of the one event of this type; it has what the manual lists."""
    data = json.loads(WebhookDelivery.objects.get(event=event).body)["data"]
    assert set(data) == {"study", "study_url", *documented_data(event)}
    return data


def test_a_frozen_release_a_finished_run_and_a_comparison_are_events(study):
    release = ready_release(study)
    run = scored(study, "bright")
    comparison = request_comparison(release, [run], options=Options(), user=cast.ada())
    job_runner.run(comparison.job_id)
    assert (stored("release.frozen")["release"], stored("release.frozen")["sha256"]) == (1, release.sha256)
    assert (stored("run.finished")["run"], stored("run.finished")["state"]) == (run.pk, "done")
    assert stored("comparison.finished")["comparison"] == comparison.pk
    assert {row.state for row in WebhookDelivery.objects.all()} == {"waiting"}


def test_a_run_that_fails_is_an_event_with_its_reason(study):
    run = request_scoring(study, scores_file(study, missing=3), column="bright", user=cast.ada())
    ScoringRun.objects.filter(pk=run.pk).update(model="arpa:upload:0")
    job_runner.run(run.job_id)
    event = stored("run.finished")
    assert event["state"] == "failed" and event["error"]


def test_a_full_study_is_an_event_once(study):
    study.max_participants = 3
    study.save(update_fields=["max_participants"])
    evaluate_all()
    evaluate_all()
    assert stored("study.full")["kind"] == "full"
