"""Both and neither in forced choice: counted as declared, everywhere alike, against plain counts."""

import numpy as np
import pandas as pd
import pytest

from analysis.aggregation.preferences import bradley_terry, pair_wins
from analysis.aggregation.undecided import TREATMENTS, apply_treatment, is_undecided, undecided_summary
from analysis.agreement.report import agreement_report, item_table
from analysis.errors import UnknownName
from analysis.gold.human_scores import human_table
from analysis.gold.tables import pair_table, sentence_table
from analysis.quality.response_patterns import side_bias

# Each pair: answers for the expected member, for the other, both, neither.
PLAN = {"a": (3, 1, 1, 1), "b": (1, 1, 4, 0), "c": (5, 0, 0, 1)}
PAIRS = pd.DataFrame(
    {"pair_id": list(PLAN), "good_id": [f"{p}+" for p in PLAN], "bad_id": [f"{p}-" for p in PLAN]}
)
SENTENCES = pd.DataFrame({"sentence_id": [f"{pair}{side}" for pair in PLAN for side in "+-"]})


def answers() -> pd.DataFrame:
    rows = []
    for pair, counts in PLAN.items():
        answers_of_pair = (
            ["+"] * counts[0] + ["-"] * counts[1] + ["both"] * counts[2] + ["neither"] * counts[3]
        )
        for person, answer in enumerate(answers_of_pair):
            is_open = answer in ("both", "neither")
            rows.append(
                {
                    "participant": f"p{person}",
                    "session": f"s{person}",
                    "task": "forced_choice",
                    "kind": "target",
                    "paradigm": "x",
                    "item": pair,
                    "pair_id": pair,
                    "sentence_id": None if is_open else f"{pair}{answer}",
                    "response": answer if is_open else f"id-{pair}-{person}",
                    "value": 0.5 if is_open else float(answer == "+"),
                    "expected_first": True,
                    "status": "answered",
                }
            )
    return pd.DataFrame(rows)


def treated_answers(treatment: str) -> pd.DataFrame:
    frame = answers()
    return frame.assign(value=apply_treatment(frame, treatment))


@pytest.mark.parametrize("treatment", list(TREATMENTS))
def test_shares_and_majorities_equal_plain_counts(treatment):
    items = item_table(treated_answers(treatment)).set_index("item")
    for pair, (good, bad, n_both, neither) in PLAN.items():
        undecided = n_both + neither
        n = good + bad + (0 if treatment == "leave_out" else undecided)
        score = good + (undecided / 2 if treatment == "half" else 0)
        row = items.loc[pair]
        assert (row["k"], row["n"]) == (good, n)
        assert row["share"] == pytest.approx(score / n)
        wins = "expected" if 2 * score > n else "unexpected" if 2 * score < n else "tie"
        assert row["majority"] == (wins if n >= 3 else "insufficient")
        assert row["ci_low"] <= row["share"] <= row["ci_high"]


@pytest.mark.parametrize(
    ("treatment", "individual"), [("disagreement", 0.5), ("half", 25 / 36), ("leave_out", 0.75)]
)
def test_the_report_states_the_treatment_and_the_agreement_follows_it(treatment, individual):
    report = agreement_report(treated_answers(treatment), rule="0.6", undecided=treatment, draws=200)
    shares = item_table(treated_answers(treatment))["share"]
    assert report["overall"]["individual_agreement"] == pytest.approx(shares.mean())
    assert report["overall"]["individual_agreement"] == pytest.approx(individual)
    assert report["undecided"]["both"] == 5 and report["undecided"]["neither"] == 2
    assert TREATMENTS[treatment].words in report["conventions"]["both and neither"]
    assert report["paradigms"][0]["status"] == ("rejected" if treatment == "disagreement" else "included")
    n_undecided = report["overall"]["judgments_undecided"]
    assert n_undecided == (0 if treatment == "leave_out" else 7)
    assert report["position"]["n"] == 11  # an answer without a choice has no side


def test_people_are_compared_by_their_choices_only():
    alphas = {
        agreement_report(treated_answers(treatment), draws=50)["reliability"]["krippendorff_alpha"]
        for treatment in TREATMENTS
    }
    assert len(alphas) == 1


def test_a_study_that_offers_neither_has_no_treatment_note():
    plain = answers().loc[lambda rows: rows["value"] != 0.5]
    assert undecided_summary(plain) is None
    assert "both and neither" not in agreement_report(plain, draws=50)["conventions"]


@pytest.mark.parametrize("treatment", list(TREATMENTS))
def test_gold_pairs_keep_the_counts_and_members_share_undecided_answers(treatment):
    judged = treated_answers(treatment)
    sentences = sentence_table(judged, SENTENCES, task="forced_choice")
    pairs = pair_table(judged, sentences, PAIRS, task="forced_choice").set_index("pair_id")
    for pair, (good, bad, n_both, neither) in PLAN.items():
        row, is_in = pairs.loc[pair], treatment != "leave_out"
        assert (row["human_k"], row["human_k_bad"]) == (good, bad)
        assert (row["human_n_both"], row["human_n_neither"]) == ((n_both, neither) if is_in else (0, 0))
        half = (n_both + neither) / 2 if treatment == "half" else 0
        assert row["human_share"] == pytest.approx((good + half) / row["human_n"])
    human = human_table(sentences, pairs.reset_index(), task="forced_choice").set_index("sentence_id")[
        "score"
    ]
    raw = {}
    for pair, (good, bad, n_both, neither) in PLAN.items():
        half = (n_both + neither) / 2 if treatment == "half" else 0
        n = pairs.loc[pair, "human_n"]
        raw |= {f"{pair}+": (good + half) / n, f"{pair}-": (bad + half) / n}
    values = np.array(list(raw.values()), dtype=float)
    expected = dict(zip(raw, (values - values.mean()) / values.std(), strict=True))
    assert human.to_dict() == pytest.approx(expected)


@pytest.mark.parametrize(("treatment", "n"), [("disagreement", 6), ("half", 6), ("leave_out", 4)])
def test_preferences_split_an_answer_that_counts(treatment, n):
    wins = pair_wins(treated_answers(treatment), PAIRS)
    a = wins[wins["winner"].isin(["a+", "a-"])].set_index("winner")["n"]
    assert a.sum() == n and a["a+"] - a["a-"] == 2
    assert bradley_terry(wins).status == "not_connected_or_separated"


def test_a_side_is_taken_by_choices_alone():
    rows = pd.concat([answers().assign(session="one", position=n) for n in range(4)])
    sides = side_bias(rows.assign(value=apply_treatment(rows, "disagreement")))
    assert sides.loc["one", "value"] == pytest.approx(9 / 11)


def test_only_forced_choice_without_a_chosen_sentence_is_undecided():
    rows = pd.DataFrame(
        {
            "response": ["both", "both", "neither", "both"],
            "task": ["forced_choice", "yes_no", "forced_choice", "forced_choice"],
            "sentence_id": [None, None, "s1", ""],
        }
    )
    assert is_undecided(rows).tolist() == [True, False, False, True]
    with pytest.raises(UnknownName):
        apply_treatment(rows.assign(value=1.0), "sometimes")
