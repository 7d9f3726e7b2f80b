"""Reports that are computed once and read from the storage of files: here S3, which may be away."""

import pytest
from django.conf import LazySettings
from django.test import Client

from experiments.models import Job
from experiments.operation import job_runner
from releases.reports import report_cache
from tests.releases.study import add_sitting, judged_study
from tools.doubles import s3

pytestmark = pytest.mark.django_db(transaction=True)
PAGE, API = "/studies/agreement/reliability/", "/api/v1/studies/agreement/reliability/"


@pytest.fixture
def bucket(settings: LazySettings, monkeypatch: pytest.MonkeyPatch):
    with s3.running(monkeypatch) as double:
        s3.store_uploads(double, settings, monkeypatch)
        yield double


def test_a_report_is_computed_once_and_replaced_when_the_data_change(ada: Client, bucket: s3.S3Double):
    study = judged_study(task="likert")
    first = ada.get(API).json()
    (name,) = bucket.names()
    assert name.startswith(f"files/reports/{study.pk}/reliability-")
    bucket.requests.clear()
    assert ada.get(API).json() == first
    assert {request.split()[0] for request in bucket.requests} == {"HEAD", "GET"}
    add_sitting(study, "late")
    assert ada.get(API).json() != first
    assert len(bucket.names()) == 1 and bucket.names() != [name]


def test_a_report_by_a_job_is_read_by_the_page(ada: Client, bucket: s3.S3Double, monkeypatch):
    monkeypatch.setitem(report_cache.MAX_JUDGMENTS, "reliability", 0)
    judged_study(task="likert")
    assert ada.get(API).status_code == 202
    job_runner.run(Job.objects.get().pk)
    assert ada.get(API).status_code == ada.get(PAGE).status_code == 200
    assert len(bucket.names()) == 1


def test_pages_and_api_say_that_the_storage_is_away_and_answer_when_it_is_back(
    ada: Client, bucket: s3.S3Double
):
    judged_study(task="likert")
    ada.raise_request_exception = False  # the response, as the server gives it
    bucket.refuses = lambda method, query: True
    page, answer = ada.get(PAGE), ada.get(API)
    assert page.status_code == 503 and "The shared storage does not answer" in page.content.decode()
    assert (answer.status_code, answer.json()["code"], answer["Retry-After"]) == (503, "try_again", "5")
    bucket.refuses = lambda method, query: False
    assert ada.get(PAGE).status_code == ada.get(API).status_code == 200


def test_the_page_shows_numbers_of_earlier_data_until_a_job_has_computed_the_present_ones(
    ada: Client, monkeypatch
):
    monkeypatch.setitem(report_cache.MAX_JUDGMENTS, "reliability", 0)
    study = judged_study(task="likert")
    assert "Being computed<" in ada.get(PAGE).content.decode()
    job_runner.run(Job.objects.get().pk)
    first = ada.get(PAGE).content.decode()
    add_sitting(study, "late")
    page = ada.get(PAGE).content.decode()
    n = f"<dt>Participants</dt><dd>{study.sessions.count() - 1} <small>"
    assert "Being computed again" in page and "from the data of then" in page
    assert n in first and n in page and ada.get(API).status_code == 202
    assert (
        "Being computed<" in ada.get(f"{PAGE}?coding=expected").content.decode()
    )  # other choices: none stored
    job_runner.run(Job.objects.exclude(state=Job.State.DONE).order_by("pk").first().pk)
    page = ada.get(PAGE).content.decode()
    assert "Being computed again" not in page and n not in page
