"""One list of figures: each draws from the evidence, or says in words why not."""

import io
import re

import pandas as pd
import pytest

from analysis.bayesian.sequential import sequential_report
from analysis.errors import UnknownName
from analysis.exclusions.multiverse import Universe, multiverse_report
from analysis.exclusions.plan import Plan, Step
from analysis.figures import FIGURES, Evidence, applicable, draw, export_figure, find_figure, specification
from analysis.figures.drawing import Drawing
from analysis.groups.report import groups_report
from tests.analysis.figures import examples

PLAN = Plan("careful", [Step("few", "participant", "too_few"), Step("bad", "participant", "catch_failed")])


@pytest.fixture(scope="module")
def evidences():
    return {
        "likert": Evidence(
            judgments=examples.ratings(),
            plan=PLAN,
            planned=examples.designs(),
            chosen=20,
            sessions=examples.sessions(),
        ),
        "magnitude": Evidence(judgments=examples.magnitudes(), plan=PLAN),
        "choice": Evidence(judgments=examples.choices(), plan=PLAN),
        "factorial": Evidence(judgments=examples.factorial(), plan=PLAN, factors=examples.FACTORS),
        "multiverse": Evidence(
            judgments=examples.ratings(),
            plan=PLAN,
            multiverse=multiverse_report([Universe(PLAN.name, examples.ratings())], exclusion=PLAN.name),
        ),
        "groups": Evidence(
            judgments=examples.divided(), groups=groups_report(examples.divided(), group="dialect")
        ),
        "sequential": Evidence(
            judgments=examples.ratings(), sequential=sequential_report(examples.ratings(), least=5)
        ),
        "models": Evidence(**examples.models(), learning=examples.learning(), basis="Release 1."),
        "rated": Evidence(**examples.rated_models(), basis="Release 1."),
        "abilities": Evidence(**examples.models(), judgments=examples.pair_choices(), basis="Release 1."),
    }


def evidence_for(name, evidences):
    return next((evidence for evidence in evidences.values() if not FIGURES[name].lacking(evidence)), None)


def test_every_figure_is_drawn_from_some_evidence_and_the_first_of_each_kind_in_every_form(
    evidences, subtests
):
    first = {drawing.number: name for name, drawing in reversed(list(FIGURES.items()))}
    for name in FIGURES:
        with subtests.test(name):
            evidence = evidence_for(name, evidences)
            assert evidence is not None, "no evidence of the tests suits it"
            chart = draw(name, evidence)
            assert "statement" not in chart.data.columns
            assert export_figure(chart, "svg", width=310).startswith(b"<svg")
            if name in first.values():
                assert export_figure(chart, "png", mode="dark", width=310).startswith(b"\x89PNG")
                assert export_figure(chart, "pdf").startswith(b"%PDF")
            assert len(pd.read_csv(io.BytesIO(export_figure(chart, "csv")))) > 0
            subtitle = " ".join(specification(chart)["title"]["subtitle"])
            assert re.search(r"\d", subtitle), "no count in the caption"
            assert name == "power-planned" or evidence.note in subtitle, "no plan in the caption"


def test_a_figure_without_evidence_states_what_is_missing(subtests):
    for name in FIGURES:
        with subtests.test(name):
            chart = draw(name, Evidence())
            (sentence,) = chart.data["statement"]
            assert sentence.endswith(".")
            assert export_figure(chart, "svg").startswith(b"<svg")


def test_a_study_without_answers_breaks_no_figure(subtests):
    empty = examples.ratings().iloc[:0]
    unanswered = examples.choices().assign(value=float("nan"), status="missing")
    evidences = [Evidence(judgments=judgments, plan=PLAN) for judgments in (empty, unanswered)]
    for name in FIGURES:
        with subtests.test(name):
            for evidence in evidences:
                assert export_figure(draw(name, evidence), "svg", width=310).startswith(b"<svg")


def test_figures_are_sorted_into_those_that_apply_and_reasons_for_the_rest(evidences):
    drawable, undrawable = applicable(evidences["choice"])
    assert {"items", "agreement", "five-analyses"} <= {drawing.name for drawing in drawable}
    reasons = {drawing.name: reason for drawing, reason in undrawable}
    assert reasons["scale-points"] == "Needs Likert ratings; this study collected forced choices."
    assert reasons["adc"] == "There are no scores of a model on minimal pairs."
    assert len(drawable) + len(undrawable) == len(FIGURES)


def test_figures_of_expectations_state_that_no_expectations_exist(evidences):
    plain = Evidence(judgments=examples.ratings().assign(expected=""))
    reasons = {drawing.name: reason for drawing, reason in applicable(plain)[1]}
    expecting = ("items", "agreement", "five-analyses", "effect-sizes", "power", "power-share")
    assert {reasons[name] for name in expecting} == {"No judged sentence has an expected status."}
    assert not {"items", "agreement"} & {drawing.name for drawing, _ in applicable(evidences["choice"])[1]}


def test_figures_of_agreement_state_that_no_participant_rated_both_sides_of_an_item():
    rows = examples.ratings()
    once = rows[(rows["participant"].str[1:].astype(int) % 2 == 0) == (rows["expected"] == "acceptable")]
    reasons = {drawing.name: reason for drawing, reason in applicable(Evidence(judgments=once))[1]}
    assert (
        reasons["items"]
        == reasons["agreement"]
        == "No participant rated both sides of an item: see the mean ratings."
    )


def test_names_are_addresses_and_all_fourteen_numbers_occur():
    assert {drawing.number for drawing in FIGURES.values()} == set(range(15))
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)*", name) for name in FIGURES)
    assert all(isinstance(figure, Drawing) and not figure.shows.endswith(".") for figure in FIGURES.values())


def test_an_unknown_name_suggests_a_near_one():
    with pytest.raises(UnknownName, match="items"):
        find_figure("item")


def test_the_wright_map_of_a_stored_comparison_needs_no_judgments(evidences):
    scale = evidences["abilities"].abilities
    stored = Evidence(**examples.models(), report={"depth": {"abilities": scale}}, basis="Release 1.")
    assert not FIGURES["wright-map"].lacking(stored)
    assert draw("wright-map", stored).data.equals(draw("wright-map", evidences["abilities"]).data)
    no_scale = {"status": "no_choices", "people": []}
    unknown = Evidence(**examples.models(), report={"depth": {"abilities": no_scale}})
    assert "No participant chose" in draw("wright-map", unknown).data["statement"].iloc[0]
