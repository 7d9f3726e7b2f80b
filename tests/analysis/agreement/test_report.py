"""The document behind ``agreement --json``."""

import json
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.agreement.report import agreement_report, item_table
from analysis.errors import UnknownName
from analysis.exclusions.apply import apply_plan
from analysis.exclusions.plan import parse_plan
from analysis.reliability.chance_corrected import gwet_ac1, krippendorff_alpha, percent_agreement

OVERALL = {
    "paradigms", "included", "items", "items_right", "majority_agreement", "individual_agreement",
    "individual_agreement_pooled", "judgments",
}  # fmt: skip
PARADIGM = {
    "paradigm", "phenomenon", "items", "items_right", "judgments", "individual_agreement",
    "individual_agreement_pooled", "ci_low", "ci_high", "included", "status",
}  # fmt: skip


def choices(paradigms, people=4):
    """Build forced choices from {paradigm: [k of each item]}."""
    rows = [
        (paradigm, paradigm[0], f"{paradigm}{item}", f"P{person}", float(person < k))
        for paradigm, counts in paradigms.items()
        for item, k in enumerate(counts)
        for person in range(people)
    ]
    columns = ["paradigm", "phenomenon", "item", "participant", "value"]
    return pd.DataFrame(rows, columns=columns).assign(task="forced_choice")


def by_name(report):
    """Give the paradigms of a report by name."""
    return {row["paradigm"]: row for row in report["paradigms"]}


def test_document_has_every_key_of_the_contract():
    report = agreement_report(choices({"a1": [4, 3], "b1": [1, 2]}), rule="1/2", experiment="Islands")
    assert {"experiment", "rule", "ties", "overall", "overall_included", "paradigms", "excluded"} <= set(
        report
    )
    assert report["experiment"] == "Islands" and report["rule"] == "1/2" and report["ties"] == "strict"
    assert set(report["overall"]) >= OVERALL and set(report["overall_included"]) >= OVERALL
    assert all(set(row) >= PARADIGM for row in report["paradigms"])
    json.dumps(report, allow_nan=False)


def test_small_study_by_hand():
    report = agreement_report(choices({"a1": [4, 3], "b1": [1, 2]}), rule="2/2")
    overall, included = report["overall"], report["overall_included"]
    assert (overall["items"], overall["items_right"], overall["ties"]) == (4, 2, 1)
    assert overall["majority_agreement"] == 0.5
    assert overall["individual_agreement"] == pytest.approx(10 / 16)
    assert (overall["paradigms"], overall["included"], included["paradigms"]) == (2, 1, 1)
    assert included["majority_agreement"] == 1 and included["judgments"] == 8
    rows = by_name(report)
    assert rows["a1"]["included"] is True and rows["b1"]["status"] == "rejected"
    assert [row["phenomenon"] for row in report["phenomena"]] == ["a", "b"]


def test_a_phenomenon_is_the_mean_of_its_paradigms():
    report = agreement_report(choices({"a1": [4, 4, 4], "a2": [0]}))
    assert report["phenomena"][0]["individual_agreement"] == 0.5
    assert report["overall"]["individual_agreement"] == 0.75


def test_the_tie_rule_changes_majority_agreement_and_never_inclusion():
    frame = choices({"a1": [4, 2]})
    reports = {ties: agreement_report(frame, rule="2/2", ties=ties) for ties in ("strict", "half", "drop")}
    shares = [report["overall"]["majority_agreement"] for report in reports.values()]
    assert shares == [0.5, 0.75, 1.0]
    assert all(not report["paradigms"][0]["included"] for report in reports.values())


def test_without_a_rule_nothing_is_decided():
    report = agreement_report(choices({"a1": [4]}))
    assert report["rule"] is None and report["paradigms"][0]["included"] is None
    assert report["overall_included"] == report["overall"]


def test_unknown_rule_and_tie_rule_are_named():
    with pytest.raises(UnknownName, match="rule"):
        agreement_report(choices({"a1": [4]}), rule="blmp")
    with pytest.raises(UnknownName, match="tie rule"):
        agreement_report(choices({"a1": [4]}), ties="random")


def test_latin_square_ratings_are_not_estimable_rather_than_wrong():
    rows = [("A", "1", "acceptable", 6), ("A", "2", "unacceptable", 2), ("B", "1", "unacceptable", 2)]
    frame = pd.DataFrame(rows, columns=["participant", "item", "expected", "value"])
    report = agreement_report(frame.assign(task="likert", paradigm="p"), rule="blimp")
    row = report["paradigms"][0]
    assert (row["status"], row["individual_agreement"], row["included"]) == ("not_estimable", None, False)


def test_paired_ratings_agree_by_participant():
    rows = [
        (person, item, expected, value)
        for person, shift in (("A", 0), ("B", 1), ("C", -1))
        for item in "12345"
        for expected, value in (("acceptable", 5 + shift), ("unacceptable", 2 + shift))
    ]
    frame = pd.DataFrame(rows, columns=["participant", "item", "expected", "value"])
    report = agreement_report(frame.assign(task="likert", paradigm="p"), rule="blimp")
    assert report["overall"]["individual_agreement"] == 1 and report["paradigms"][0]["included"]
    assert report["paradigms"][0]["ci_method"] == "participant_wilson"


def test_accuracy_by_side_shows_a_left_biased_study():
    frame = choices({"a1": [2, 2, 2]})
    frame["expected_first"] = frame["value"] == 1
    position = agreement_report(frame)["position"]
    assert position["p_first"] == 1 and position["status"] == "ok"
    assert (position["accuracy_expected_first"], position["accuracy_expected_second"]) == (1, 0)
    assert agreement_report(frame.drop(columns="expected_first"))["position"]["status"] == "not_recorded"


@pytest.mark.filterwarnings("error")
def test_a_study_without_judgments_gives_undefined_numbers():
    frame = choices({"a1": [4], "b1": [4]})
    for rows in (frame[:0], frame.assign(value=np.nan)):
        report = agreement_report(rows, rule="climp")
        assert report["overall"]["individual_agreement"] is None
        assert report["overall"]["majority_agreement"] is None
        json.dumps(report, allow_nan=False)


def test_paradigms_emptied_by_exclusion_stay_listed():
    frame = choices({"a1": [4], "b1": [4]})
    report = agreement_report(frame[frame["paradigm"] == "a1"], before=frame, rule="1/1")
    assert by_name(report)["b1"]["status"] == "insufficient_items"
    assert by_name(report)["b1"]["items_insufficient"] == 1


def test_flow_rows_are_copied_into_the_document():
    frame = choices({"a1": [4]}).assign(submission_status="approved")
    excluded = apply_plan(frame, parse_plan("rejected"))
    report = agreement_report(excluded.kept, excluded=excluded.flow_rows())
    assert report["excluded"][1]["step"] == "rejected"
    json.dumps(report)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=6), st.integers(0, 1000))
def test_the_order_of_rows_changes_nothing(counts, seed):
    frame = choices({"a1": counts, "b1": counts[::-1]})
    mixed = frame.sample(frac=1, random_state=seed)
    first, second = (agreement_report(each, rule="blimp", draws=50) for each in (frame, mixed))
    for paradigm, other in zip(first["paradigms"], second["paradigms"], strict=True):
        assert paradigm == pytest.approx(other)


def blimp_batch(path):
    """Read BLiMP's validation batch with plain pandas: one row per judgment."""
    raw = pd.read_csv(path)
    parts = []
    for k in range(1, 6):
        cell = raw[f"Input.item_{k}_condition"].str.extract(r"^(?P<paradigm>.*)ans(?P<good>[12])$")
        chosen = raw[f"Answer.Choice{k}"].str.extract(r"^([12])\.")[0]
        pair = raw[f"Input.field_{k}_1"] + " | " + raw[f"Input.field_{k}_2"]
        parts.append(
            pd.DataFrame(
                {
                    "participant": raw["anonCode"],
                    "session": raw["AssignmentId"],
                    "submission_status": raw["AssignmentStatus"].str.lower(),
                    "kind": cell["paradigm"].eq("attnchk").map({True: "catch", False: "target"}),
                    "paradigm": cell["paradigm"],
                    "item": pair,
                    "task": "forced_choice",
                    "expected_first": cell["good"] == "1",
                    "value": (chosen == cell["good"]).astype(float).where(chosen.notna()),
                    "correct": (chosen == cell["good"]).where(chosen.notna()),
                }
            )
        )
    return pd.concat(parts, ignore_index=True)


@pytest.fixture(scope="module")
def blimp(shared_data):
    """The batch, the kept rows and the report of BLiMP's own rule."""
    batch = blimp_batch(shared_data("blimp/human_responses.csv"))
    excluded = apply_plan(batch, parse_plan("rejected"))
    judgments = excluded.kept
    return (
        batch,
        judgments,
        agreement_report(judgments, rule="blimp", before=batch, excluded=excluded.flow_rows()),
    )


def test_blimp_counts_of_the_batch(blimp, shared_vectors):
    _, _judgments, report = blimp
    expected = shared_vectors["blimp_release"]["expected"]
    assert report["overall"]["judgments"] == expected["judgments"]
    assert report["participants"] == expected["workers"]
    assert report["overall"]["items"] == expected["pairs"]
    assert report["overall"]["paradigms"] == expected["paradigms_in_batch"]
    assert report["excluded"][1]["sessions_removed"] == 10


def test_blimp_paper_includes_67_paradigms_at_96_4_and_88_6_percent(blimp, shared_vectors):
    expected = shared_vectors["blimp_release"]["expected"]
    report = blimp[2]
    included = report["overall_included"]
    assert report["overall"]["included"] == expected["included"] == 67
    assert (included["items_right"], included["items"], included["ties"]) == (323, 335, 5)
    assert included["majority_agreement"] == pytest.approx(expected["aggregate_agreement_67"], abs=1e-9)
    individual = included["individual_agreement"]
    assert individual == pytest.approx(expected["individual_mean_of_item_means_67"], abs=1e-9)
    pooled = included["individual_agreement_pooled"]
    assert pooled == pytest.approx(expected["individual_pooled_67"], abs=1e-9)
    assert f"{included['majority_agreement']:.1%} {individual:.1%}" == "96.4% 88.6%"


def test_blimp_rejected_and_thin_paradigms_are_named(blimp, shared_vectors):
    report = blimp[2]
    statuses = Counter(row["status"] for row in report["paradigms"])
    assert statuses == {"included": 67, "rejected": 2, "insufficient_items": 1}
    names = [row["paradigm"] for row in report["paradigms"] if row["status"] == "rejected"]
    assert names == shared_vectors["blimp_release"]["expected"]["rejected"]
    assert by_name(report)["subject_island"]["status"] == "insufficient_items"


def test_blimp_interval_is_that_of_the_participant_bootstrap(blimp):
    included = blimp[2]["overall_included"]
    assert [included["ci_low"], included["ci_high"]] == pytest.approx([0.863, 0.904], abs=0.003)


def test_blimp_accuracy_by_side(blimp):
    position = blimp[2]["position"]
    assert position["accuracy_expected_first"] == pytest.approx(0.857, abs=5e-4)
    assert position["accuracy_expected_second"] == pytest.approx(0.891, abs=5e-4)


def test_blimp_rules_are_not_interchangeable(blimp):
    _, judgments, report = blimp
    passing = {row["paradigm"] for row in report["paradigms"] if row["included"]}
    climp = by_name(agreement_report(judgments, rule="climp", draws=10))
    assert sum(not climp[paradigm]["included"] for paradigm in passing) == 18


def test_blimp_chance_corrected_agreement_depends_on_the_coding(blimp, shared_vectors):
    _, judgments, report = blimp
    expected = shared_vectors["blimp_release"]["expected"]
    passing = {row["paradigm"] for row in report["paradigms"] if row["included"]}
    rows = judgments[judgments["paradigm"].isin(passing)]
    coded = pd.DataFrame({"unit": rows["item"], "value": rows["value"]})
    assert krippendorff_alpha(coded).value == pytest.approx(expected["krippendorff_nominal_expected_coding"])
    assert percent_agreement(coded).value == pytest.approx(expected["pairwise_percent"])
    assert gwet_ac1(coded).value == pytest.approx(expected["gwet_ac1_expected_coding"])
    blind = agreement_report(rows, draws=10)["reliability"]
    assert blind["krippendorff_alpha"] == pytest.approx(0.649, abs=0.005)


def test_blimp_items_have_their_counts(blimp):
    batch, judgments, _ = blimp
    items = item_table(judgments, before=batch)
    assert len(items) == 348 and items["n"].sum() == 6935
    assert (items["n_before"] >= items["n"]).all()


def test_cross_fitted_agreement_removes_the_gain_of_selection():
    rng = np.random.default_rng(3)
    gains = []
    for _ in range(6):
        answers = rng.random((12, 12, 5)) < 0.62
        person, paradigm, item = (axis.ravel() for axis in np.indices(answers.shape))
        frame = pd.DataFrame({"participant": person, "paradigm": paradigm, "item": item}).astype(str)
        frame = frame.assign(value=answers.ravel().astype(float), task="forced_choice")
        report = agreement_report(frame, rule="blimp", draws=0, cross_fit=True)
        gains.append(
            (
                report["overall_included"]["individual_agreement"],
                report["cross_fitted"]["individual_agreement"],
            )
        )
    plain, fitted = np.mean(gains, axis=0)
    assert plain > 0.65 and abs(fitted - 0.62) < 0.03


def test_cross_fitting_is_on_demand_and_needs_two_participants():
    frame = choices({"a1": [4, 4, 4, 4, 4], "b1": [1, 1, 1, 1, 1]})
    assert agreement_report(frame, rule="blimp")["cross_fitted"] is None
    assert agreement_report(frame, rule="blimp", cross_fit=True)["cross_fitted"]["individual_agreement"] == 1
    one = frame[frame["participant"] == "P0"]
    assert agreement_report(one, rule="blimp", cross_fit=True, n_min=1)["cross_fitted"]["status"] == "too_few"
