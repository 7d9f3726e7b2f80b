"""Judgments over REST: pages of JSON and whole files."""

import csv
import io
import json
import re
from datetime import timedelta

import pytest
from django.conf import settings
from rest_framework.test import APIClient

from experiments.models import Experiment
from judgments.frames.measurements import COLUMNS as RAW_COLUMNS
from judgments.models import Judgment, Session
from tests import cast

pytestmark = pytest.mark.django_db
ADDRESS = "/api/v1/studies/agreement/judgments"
CONTRACT = (
    "participant,session,item,condition,sentence_id,trial,task,response,value,rt_ms,position,shown_first"
)

ANALYSIS = (
    "kind,phenomenon,paradigm,sentence,sentence_good,sentence_bad,chosen,expected,list,round,exclusion,"
    "exclusion_plan"
)


@pytest.fixture
def api():
    client = APIClient()
    client.force_authenticate(cast.ada())
    return client


def text_of(answer):
    return b"".join(answer.streaming_content).decode()


def test_one_page_has_the_columns_of_the_contract(api):
    session = cast.sit(cast.study("agreement"))
    document = api.get(f"{ADDRESS}/").json()
    row = document["results"][0]
    assert document["count"] == session.trials.count()
    assert list(row)[:12] == CONTRACT.split(",")
    trial = session.trials.get(position=1)
    assert row["value"] == 1.0
    assert row["sentence_id"] == trial.pair.good.key
    assert row["shown_first"] == (trial.pair.good if trial.expected_first else trial.pair.bad).key
    assert row["task"] == "forced_choice"


@pytest.mark.parametrize("task", ["forced_choice", "likert"])
def test_page_and_files_give_the_same(api, task):
    cast.sit(cast.study("agreement", task=task))
    rows = api.get(f"{ADDRESS}/").json()["results"]
    lines = [json.loads(line) for line in text_of(api.get(f"{ADDRESS}.jsonl")).splitlines()]
    table = list(csv.DictReader(io.StringIO(text_of(api.get(f"{ADDRESS}.csv")))))
    names = CONTRACT.split(",")
    assert [[row[name] or "" for name in names] for row in rows] == [
        [line[name] or "" for name in names] for line in lines
    ]
    assert [row["sentence_id"] for row in table] == [row["sentence_id"] for row in rows]
    assert [float(row["value"]) for row in table] == [row["value"] for row in rows]


def test_csv_begins_with_the_contract_and_holds_all_columns_on_request(api):
    cast.sit(cast.study("agreement"))
    answer = api.get(f"{ADDRESS}.csv")
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    assert 'filename="agreement-judgments.csv"' in answer["Content-Disposition"]
    assert text_of(answer).splitlines()[0] == f"{CONTRACT},{ANALYSIS}"
    assert text_of(api.get(f"{ADDRESS}.csv?columns=contract")).splitlines()[0] == CONTRACT
    header = text_of(api.get(f"{ADDRESS}.csv?columns=all")).splitlines()[0]
    assert header.startswith(CONTRACT) and ",kind," in header


def test_no_file_or_page_holds_a_platform_id(api):
    cast.sit(cast.study("agreement"), external_id="5f1e-prolific-pia")
    pages = [api.get(f"{ADDRESS}/").content.decode()]
    pages += [text_of(api.get(f"{ADDRESS}.{suffix}?columns=all")) for suffix in ("csv", "jsonl")]
    assert not any("prolific-pia" in page for page in pages)


def test_previews_pilots_and_withdrawn_people_are_left_out(api):
    study = cast.study("agreement")
    cast.sit(study)
    Session.objects.update(is_test=True)
    assert api.get(f"{ADDRESS}/").json()["count"] == 0
    Session.objects.update(is_test=False, status=Session.Status.WITHDRAWN)
    assert api.get(f"{ADDRESS}/").json()["count"] == 0
    assert text_of(api.get(f"{ADDRESS}.csv")).splitlines() == [f"{CONTRACT},{ANALYSIS}"]


def test_judgments_are_narrowed(api):
    session = cast.sit(cast.study("agreement"))
    assert api.get(f"{ADDRESS}/?kind=catch").json()["count"] == 0
    name = session.participant.pseudonym
    assert api.get(f"{ADDRESS}/?participant={name}&kind=target").json()["count"] == 4
    assert api.get(f"{ADDRESS}/?kind=dream").status_code == 400


@pytest.mark.parametrize("end", ["/", ".csv", ".jsonl"])
def test_strangers_get_404_and_anonymous_requests_are_refused(end):
    cast.study("agreement")
    api = APIClient()
    assert api.get(ADDRESS + end).status_code == 401
    api.force_authenticate(cast.cleo())
    assert api.get(ADDRESS + end).json()["code"] == "not_found"
    api.force_authenticate(cast.ben())
    assert api.get(ADDRESS + end).status_code == 200


def test_empty_study_gives_an_empty_file(api):
    cast.study("agreement")
    assert text_of(api.get(f"{ADDRESS}.csv")) == f"{CONTRACT},{ANALYSIS}\n"
    assert text_of(api.get(f"{ADDRESS}.csv?columns=contract")) == CONTRACT + "\n"
    assert text_of(api.get(f"{ADDRESS}.jsonl")) == ""
    assert Experiment.objects.count() == 1


def test_a_file_can_have_the_names_of_jspsych(api):
    session = cast.sit(cast.study("agreement", task="likert"))
    Judgment.objects.filter(trial__session=session).update(rt_ms=1234)
    header, first, *_ = list(csv.reader(io.StringIO(text_of(api.get(f"{ADDRESS}.csv?columns=jspsych")))))
    assert header[:5] == ["rt", "response", "trial_index", "time_elapsed", "trial_type"]
    row = dict(zip(header, first, strict=True))
    assert (row["rt"], row["response"], row["trial_index"], row["trial_type"]) == ("1234", "6", "0", "likert")
    assert int(row["time_elapsed"]) >= 0
    line = json.loads(text_of(api.get(f"{ADDRESS}.jsonl?columns=jspsych")).splitlines()[0])
    assert (line["rt"], line["trial_index"], line["value"]) == (1234, 0, 6.0)


def test_time_elapsed_is_the_answers_own_time_on_the_servers_clock(api):
    session = cast.sit(cast.study("agreement"), n=1)
    at = session.started_at + timedelta(seconds=4)
    wrong_clock = at - timedelta(hours=3)
    Judgment.objects.update(answered_at=wrong_clock, timing={"clock_offset_ms": 3 * 3600 * 1000})
    line = json.loads(text_of(api.get(f"{ADDRESS}.jsonl?columns=jspsych")).splitlines()[0])
    assert line["time_elapsed"] == 4000


def test_a_file_can_have_what_was_shown_and_measured(api):
    session = cast.sit(cast.study("agreement"), n=2)
    measured = {
        "focus_lost_ms": 1200,
        "trusted": True,
        "early_ms": [12, 15],
        "coarse_clock": False,
        "mine": 3,
    }
    first = session.trials.get(position=1)
    Judgment.objects.filter(trial=first).update(timing=measured, input_type="touch", rt_ms=900)
    rows = list(csv.DictReader(io.StringIO(text_of(api.get(f"{ADDRESS}.csv?columns=raw")))))
    assert list(rows[0])[:12] == CONTRACT.split(",") and len(rows) == 2
    row = rows[0]
    assert (row["input_type"], row["focus_lost_ms"], row["trusted"]) == ("touch", "1200", "True")
    assert (row["early_ms"], row["coarse_clock"], row["rt_ms"]) == ("[12, 15]", "False", "900")
    assert json.loads(row["more"]) == {"mine": 3} and row["page_hidden_ms"] == ""
    assert json.loads(row["shown"]) == [option["text"] for option in first.shown["options"]]
    assert (row["kind"], row["version"]) == ("target", "1") and row["received_at"].endswith("+00:00")
    line = json.loads(text_of(api.get(f"{ADDRESS}.jsonl?columns=raw")).splitlines()[0])
    assert (line["focus_lost_ms"], line["trusted"], line["held_keys"]) == (1200, True, None)


def test_a_formula_that_a_browser_sent_is_text_in_the_raw_file(api):
    session = cast.sit(cast.study("agreement"), n=1)
    Judgment.objects.filter(trial__session=session).update(timing={"viewport": "=1+1", "key": "-"})
    row = next(csv.DictReader(io.StringIO(text_of(api.get(f"{ADDRESS}.csv?columns=raw")))))
    assert (row["viewport"], row["key"]) == ('"=1+1"', "-")


def test_a_rated_sentence_is_in_the_raw_file_as_it_was_shown(api):
    trial = cast.sit(cast.study("agreement", task="likert")).trials.get(position=1)
    line = json.loads(text_of(api.get(f"{ADDRESS}.jsonl?columns=raw")).splitlines()[0])
    assert json.loads(line["shown"]) == [trial.shown["text"]]


def test_an_empty_study_gives_an_empty_raw_file(api):
    cast.study("agreement")
    assert text_of(api.get(f"{ADDRESS}.csv?columns=raw")).count("\n") == 1


def test_every_measurement_of_the_engines_page_has_a_column():
    page = (settings.BASE_DIR / "docs/reference/engine.md").read_text()
    table = page.split("## What is recorded beside the answer")[1].split("Some become events")[0]
    rows = [row.split("|")[1] for row in table.splitlines() if row.startswith("| `")]
    columns = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert len(columns) > 20 and columns <= {*RAW_COLUMNS}
