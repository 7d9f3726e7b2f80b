"""Time for each answer: a trial whose time is over has a judgment without a value, once."""

from datetime import UTC, datetime

import numpy as np
import pytest

from analysis.exclusions.apply import apply_plan
from analysis.exclusions.plan import Plan, Step
from experiments.studies.lifecycle import snapshot
from experiments.studies.readiness import steps
from judgments.frames.build import judgment_frame
from judgments.models import Judgment, Session, SessionEvent
from judgments.simulation.participant import Persona, retime, sit
from releases.gold import storage
from releases.gold.study_facts import methods_facts
from tests import api, cast
from tests.judgments.deliveries import plan, row, send
from tests.judgments.screens.walk import consent
from tests.releases.study import ready_release

pytestmark = pytest.mark.django_db
LATE = {"timed_out": True, "response": "", "rt_ms": None}


def timed_study(ms: int | None = 2000, **fields):
    return cast.study(**{"task": "likert", "n_lists": 1, "deadline_ms": ms, **fields})


def test_a_trial_that_timed_out_is_over_and_the_first_delivery_counts():
    session = cast.begin(timed_study())
    first, second, third, fourth = session.trials.all()
    receipt = send(session, row(first, **LATE)).json()
    assert receipt["acknowledged"] == [first.public_id] and receipt["position"] == 1
    repeated = send(session, row(first, **LATE), row(first, response="6", rt_ms=900)).json()
    assert repeated["kept_first"] == [first.public_id]
    send(session, row(second, **{**LATE, "response": "6"}), row(third, response="6", rt_ms=2001))
    send(session, row(fourth, response="6", rt_ms=2000))
    rows = Judgment.objects.order_by("trial__position").values_list("status", "response", "value", "rt_ms")
    assert list(rows) == [
        ("timed_out", "", None, None),
        ("timed_out", "6", None, None),  # chosen, and not confirmed in time
        ("timed_out", "6", None, None),  # pressed after it, before the browser said so
        ("answered", "6", 6.0, 2000),
    ]
    assert Judgment.objects.get(trial=third).timing["late_ms"] == 2001
    assert Session.objects.get().status == "complete"
    assert SessionEvent.objects.filter(kind="conflict").count() == 1


def test_without_a_deadline_no_trial_times_out():
    session = cast.begin(timed_study(None))
    assert plan(session).json()["deadline"] == {"ms": None, "has_bar": False}
    receipt = send(session, row(session.trials.first(), **LATE)).json()
    assert receipt["refused"][0]["code"] == "bad_response" and not Judgment.objects.exists()


def test_practice_says_that_the_time_was_over_without_a_comment_on_the_answer(client):
    payload = {"sentence": "He goes.", "correct": [6, 7], "feedback": "It is fine."}
    timed_study(extras=({"kind": "practice", "payload": payload},), instructions="", deadline_bar=True)
    address = consent(client, "/take/agreement/")
    session = Session.objects.get()
    assert plan(session).json()["deadline"] == {"ms": 2000, "has_bar": True}
    send(session, row(session.trials.first(), **LATE))
    page = client.get(address).content.decode()
    assert "The time for this answer was over." in page and "It is fine." not in page


def test_settings_api_and_checklist_have_the_deadline(client):
    study = cast.draft()
    assert not {"deadline_ms", "deadline_bar"} & snapshot(study).keys()  # as versions from before
    client.force_login(cast.ada())
    page = client.get("/studies/agreement/settings/task/")
    form, parameters = page.context["form"], page.context["parameters"]
    data = {parameters.add_prefix(name): parameters[name].value() or "" for name in parameters.fields}
    data |= {name: form[name].value() or "" for name in form.fields}
    address = "/studies/agreement/settings/"
    refused = client.post(address, {**data, "step": "task", "deadline_ms": "100"})
    assert "500" in str(refused.context["form"].errors["deadline_ms"])
    client.post(address, {**data, "step": "task", "deadline_ms": "1500", "deadline_bar": "on"})
    study.refresh_from_db()
    assert (snapshot(study)["deadline_ms"], snapshot(study)["deadline_bar"]) == (1500, True)
    line = next(step for step in steps(study) if step.key == "deadline")
    assert not line.is_done and "has 1.5 s" in line.reason and "sentences take about" in line.reason
    answer = api.send("patch", "studies/agreement/", {"deadline_ms": 5000})
    assert answer.json()["deadline_ms"] == 5000
    study.refresh_from_db()
    assert next(step for step in steps(study) if step.key == "deadline").is_done


def test_trials_that_timed_out_are_counted_excluded_by_and_reported(client):
    study = timed_study(1200)
    for number, profile in enumerate(["honest"] * 3 + ["random"] * 3):
        session = sit(study, Persona(f"p{number}", profile=profile, seed=number))
        retime(session, datetime(2026, 11, 2, tzinfo=UTC), np.random.default_rng(1))
    n = Judgment.objects.filter(status="timed_out", trial__kind="target").count()
    frame = judgment_frame(study)
    assert 0 < n == (frame["status"] == "timed_out").sum() == frame["value"].isna().sum()
    assert methods_facts(study)["deadline"] == {
        "ms": [1200], "is_everywhere": True, "timed_out": n, "trials": len(frame)
    }  # fmt: skip
    client.force_login(cast.ada())
    page = client.get("/studies/agreement/participants/").content.decode()
    numbers = (frame["status"] == "timed_out").groupby(frame["participant"]).sum()
    assert all(f"timed out {number}<" in page for number in numbers[numbers > 0])
    step = Step("slow", "participant", "timed_out", {"max_share": "0.5"})
    kept = set(apply_plan(frame, Plan("in time", [step])).kept["participant"])
    share = (frame["status"] == "timed_out").groupby(frame["participant"]).mean()
    assert kept == set(share.index[share <= 0.5]) != set(share.index)
    release = ready_release(study)
    methods = " ".join(storage.read(release.storage_key, "methods.md").decode().split())
    assert f"within 1.2 s; {n} of {len(frame)} target trials" in methods
    card = storage.read(release.storage_key, "README.md").decode()
    assert f"{n} judgments without an answer in time" in card
    table = storage.read(release.storage_key, "judgments.csv").decode()
    assert table.count("timed_out") == n
