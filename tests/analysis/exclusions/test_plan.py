"""Exclusion plans as values."""

import json

import pytest

from analysis.errors import BadInput, UnknownName
from analysis.exclusions.plan import Plan, Step, parse_plan


def test_a_comma_list_becomes_steps_in_order():
    plan = parse_plan("rejected, catch_failed")
    assert [(step.name, step.scope, step.on_missing) for step in plan.steps] == [
        ("rejected", "session", "keep"),
        ("catch_failed", "session", "keep"),
    ]


@pytest.mark.parametrize("text", ["", "none", " , "])
def test_an_empty_list_excludes_nothing(text):
    assert parse_plan(text).steps == ()


def test_unknown_step_suggests_near_names():
    with pytest.raises(UnknownName, match=r"catch_fail'.*Did you mean 'catch_failed'"):
        parse_plan("rejected,catch_fail")


def test_the_hash_depends_on_the_steps_of_a_plan_not_on_its_name():
    plan = parse_plan("rejected,catch_failed")
    same = Plan("other", plan.steps, author="Ada", version=3)
    assert same.sha256 == plan.sha256
    assert parse_plan("catch_failed,rejected").sha256 != plan.sha256
    stricter = Plan("p", [Step("catch_failed", "session", "catch_failed", {"max_errors": 1})])
    assert stricter.sha256 != parse_plan("catch_failed").sha256


def test_canonical_json_is_one_text():
    text = parse_plan("rejected").canonical_json()
    assert text == (
        '{"format":1,"steps":[{"name":"rejected","on_missing":"keep","parameters":{},'
        '"rule":"rejected","scope":"session"}]}'
    )


def test_a_plan_survives_storage_and_tampering_is_seen():
    plan = Plan(
        "strict", parse_plan("rejected,incomplete").steps, author="Ada", created_at="2026-01-01T00:00:00Z"
    )
    stored = json.loads(json.dumps(plan.as_dict()))
    assert Plan.from_dict(stored).as_dict() == plan.as_dict()
    stored["steps"][1]["parameters"]["min_share"] = "0.5"
    with pytest.raises(BadInput, match="changed"):
        Plan.from_dict(stored)


def test_scoring_analysed_items_is_refused():
    with pytest.raises(BadInput, match="raise the agreement"):
        Step("circular", "session", "catch_failed", {"kinds": ["catch", "target"]})


@pytest.mark.parametrize(
    ("scope", "rule", "parameters", "on_missing"),
    [
        ("person", "rejected", {}, "keep"),
        ("judgment", "rejected", {}, "keep"),
        ("session", "rejected", {}, "maybe"),
        ("session", "catch_failed", {"errors": 1}, "keep"),
        ("session", "catch_failed", {"max_errors": "1"}, "keep"),
        ("session", "incomplete", {"min_share": 90}, "keep"),
        ("session", "disagreed", {}, "keep"),
    ],
)
def test_impossible_steps_are_refused(scope, rule, parameters, on_missing):
    with pytest.raises(BadInput):
        Step("step", scope, rule, parameters, on_missing)


def test_two_steps_of_one_name_are_refused():
    step = parse_plan("rejected").steps[0]
    with pytest.raises(BadInput, match="more than once"):
        Plan("double", [step, step])


def test_a_file_that_is_no_plan_is_refused():
    with pytest.raises(BadInput, match="no exclusion plan"):
        Plan.from_dict({"name": "x"})
