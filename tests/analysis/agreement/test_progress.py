"""The report on a running study: the agreement report's counts, intervals of people, open decisions."""

import json

import numpy as np
import pandas as pd
import pytest

from analysis.agreement.inclusion import parse_rule
from analysis.agreement.predictive import decision_outlook
from analysis.agreement.progress import progress_report
from analysis.agreement.report import agreement_report
from analysis.agreement.sequential import anytime_mean_interval
from analysis.errors import UnknownName


@pytest.fixture(scope="module")
def judgments():
    """Three paradigms of five items: clear, doubtful, rejected; the last two of 14 people are still at it."""
    rng, rows = np.random.default_rng(11), []
    for person in range(14):
        for paradigm, share in (("clear", 0.95), ("doubtful", 0.6), ("hopeless", 0.02)):
            for item in range(5):
                chosen = float(rng.random() < share)
                rows.append((f"p{person}", paradigm, f"{paradigm}-{item}", chosen, person))
    frame = pd.DataFrame(rows, columns=["participant", "paradigm", "item", "value", "number"])
    frame["session_status"] = np.where(frame["number"] >= 12, "active", "complete")
    return frame.assign(task="forced_choice", phenomenon="one")


def by_name(report):
    return {row["paradigm"]: row for row in report["paradigms"]}


@pytest.mark.parametrize("rule", ["blimp", "climp", "0.6"])
def test_counts_and_decisions_are_those_of_the_agreement_report(judgments, rule):
    report, agreement = progress_report(judgments, rule=rule), agreement_report(judgments, rule=rule)
    for row, other in zip(report["paradigms"], agreement["paradigms"], strict=True):
        names = ("paradigm", "items", "items_right", "ties", "judgments", "individual_agreement", "status")
        assert {name: row[name] for name in names} == {name: other[name] for name in names}
    assert report["overall"]["included"] == agreement["overall"]["included"]
    assert json.loads(json.dumps(report, allow_nan=False)) == report


def test_intervals_are_of_people_who_are_done(judgments):
    report = progress_report(judgments)
    completed = judgments[judgments["session_status"] == "complete"]
    shares = completed[completed["paradigm"] == "doubtful"].groupby("participant")["value"].mean()
    row = by_name(report)["doubtful"]
    assert (row["participants"], row["mean"]) == (12, pytest.approx(shares.mean()))
    assert (row["low"], row["high"]) == pytest.approx(anytime_mean_interval(shares), abs=1e-9)
    overall = completed.groupby("participant")["value"].mean()
    assert report["overall"]["mean"] == pytest.approx(overall.mean())
    assert (report["participants"], report["participants_at_it"]) == (14, 2)


def test_open_decisions_and_items_near_a_tie_are_named(judgments):
    report = progress_report(judgments, more=5)
    rows = by_name(report)
    assert (rows["clear"]["open"], rows["doubtful"]["open"], rows["hopeless"]["open"]) == (False, True, False)
    counts = judgments[judgments["paradigm"] == "doubtful"].groupby("item")["value"].agg(["sum", "size"])
    status = rows["doubtful"]["status"]
    expected = decision_outlook(parse_rule("blimp"), counts["sum"], counts["size"], now=status, more=5)
    assert rows["doubtful"]["p_change"] == pytest.approx(expected.p_change, abs=1e-6)
    assert {row["paradigm"] for row in report["items"]} == {"doubtful"}
    chances = [row["p_change"] for row in report["items"]]
    assert chances == sorted(chances, reverse=True) and min(chances) >= 0.05
    assert report["items_open"] == len(report["items"])


def test_rules_about_a_share_report_whether_the_interval_settles_the_decision(judgments):
    rows = by_name(progress_report(judgments, rule="0.5"))
    assert [rows[name]["settled"] for name in ("clear", "doubtful", "hopeless")] == [
        "above",
        "not yet",
        "below",
    ]


def test_without_data_nothing_is_claimed(judgments):
    report = progress_report(judgments.iloc[:0])
    assert report["paradigms"] == [] and report["items"] == []
    assert (report["overall"]["mean"], report["overall"]["low"], report["overall"]["high"]) == (None, 0, 1)


def test_ratings_of_one_side_only_are_not_estimable(judgments):
    rows = judgments.assign(task="likert", expected="acceptable")
    assert {row["p_change"] for row in progress_report(rows)["paradigms"]} == {None}


def test_rows_without_a_session_count_every_participant(judgments):
    report = progress_report(judgments.drop(columns="session_status"))
    assert by_name(report)["clear"]["participants"] == 14


def test_an_unknown_rule_is_refused(judgments):
    with pytest.raises(UnknownName, match="rule"):
        progress_report(judgments, rule="bimp")
