"""Several judgments of one sentence by one participant: every statistic counts participants, not rows."""

import numpy as np
import pandas as pd
import pytest

from analysis.aggregation.decisions import decisions
from analysis.aggregation.preferences import pair_wins
from analysis.aggregation.proportions import wilson_interval
from analysis.aggregation.ratings import item_means
from analysis.agreement.majority import count_items
from analysis.agreement.progress import progress_report
from analysis.agreement.report import agreement_report
from analysis.comparison.report import compare_report
from analysis.gold.tables import pair_table, sentence_table
from analysis.reliability.chance_corrected import gwet_ac1, krippendorff_alpha
from analysis.reliability.icc import intraclass_correlation
from analysis.reliability.kappa import light_kappa
from analysis.reliability.report import reliability_report
from analysis.reliability.split_half import split_half, split_half_by_size

N_PEOPLE, N_REPEATS = 10, 10


def choices(n_repeats: int) -> pd.DataFrame:
    """Seven of ten participants choose the expected sentence, each time."""
    rows = [
        {"participant": f"p{person}", "item": "i", "value": int(person < 7)}
        for person in range(N_PEOPLE)
        for _ in range(n_repeats)
    ]
    return pd.DataFrame(rows)


def test_an_item_with_ten_repeats_of_ten_people_has_the_interval_of_ten_people():
    counts = count_items(decisions(choices(N_REPEATS))).iloc[0]
    low, high = wilson_interval(7, N_PEOPLE)
    assert (counts["n"], counts["share"]) == (N_PEOPLE, pytest.approx(0.7))
    assert (counts["ci_low"], counts["ci_high"]) == (pytest.approx(low), pytest.approx(high))
    assert round(float(counts["ci_low"]), 2) == 0.40 and round(float(counts["ci_high"]), 2) == 0.89


def test_an_item_without_repeats_keeps_its_interval_exactly():
    counts = count_items(decisions(choices(1))).iloc[0]
    low, high = wilson_interval(7, N_PEOPLE)
    assert (counts["ci_low"], counts["ci_high"]) == (low, high)


def test_repeats_of_one_participant_do_not_narrow_another_item():
    rows = pd.concat([choices(1), choices(3).assign(item="j")])
    first, second = count_items(decisions(rows))[["ci_low", "ci_high"]].to_numpy()
    assert np.allclose(first, second)


@pytest.mark.parametrize("n_repeats", [1, 2, 5])
def test_means_of_ratings_and_their_errors_do_not_change_with_repeats(n_repeats):
    once = pd.DataFrame(
        {"participant": ["a", "b", "c"], "item": "i", "sentence_id": "s", "value": [2.0, 5.0, 6.0]}
    )
    rows = pd.concat([once] * n_repeats, ignore_index=True)
    columns = ["n", "mean", "sd", "se", "ci_low", "ci_high", "mean_raw"]
    expected = item_means(once, once["value"])[columns].to_numpy()
    assert np.allclose(item_means(rows, rows["value"])[columns].to_numpy(), expected)
    assert item_means(rows, rows["value"])["n"].tolist() == [3]


def study(task: str, *, n_items: int = 12) -> pd.DataFrame:
    """Answers of eight participants to every item, each once, in random order of rows."""
    rng = np.random.default_rng(3)
    rows = pd.DataFrame(
        [(f"p{p}", f"i{i}", f"s{i}{side}") for p in range(8) for i in range(n_items) for side in "gb"],
        columns=["participant", "item", "sentence_id"],
    )
    rows["expected"] = np.where(rows["sentence_id"].str.endswith("g"), "acceptable", "unacceptable")
    rows["condition"], rows["paradigm"], rows["task"] = rows["expected"], "islands", task
    rows["value"] = (
        rng.integers(0, 2, len(rows)).astype(float) if task != "likert" else rng.integers(1, 8, len(rows))
    )
    if task == "forced_choice":
        rows = rows[rows["expected"] == "acceptable"].assign(pair_id=rows["item"])
    return rows.sample(frac=1, random_state=1).reset_index(drop=True)


def members(n_items: int = 12) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Pairs of the study, and its sentences."""
    items = [f"i{i}" for i in range(n_items)]
    pairs = pd.DataFrame({"pair_id": items, "good_id": [f"s{i[1:]}g" for i in items]})
    pairs["bad_id"], pairs["paradigm"] = [f"s{i[1:]}b" for i in items], "islands"
    sentences = pd.DataFrame({"sentence_id": [*pairs["good_id"], *pairs["bad_id"]]})
    return pairs, sentences


def without_counts(report: dict) -> dict:
    """A report without the counts of rows that say how many answers were repeats."""
    left = {"judgments_merged", "judgments_missing", "repetitions", "position"}
    return {name: value for name, value in report.items() if name not in left}


@pytest.mark.parametrize("task", ["forced_choice", "yes_no", "likert"])
def test_three_equal_answers_of_each_participant_change_no_statistic(task):
    once = study(task)
    thrice = pd.concat([once] * 3).sample(frac=1, random_state=2).reset_index(drop=True)
    pairs, sentences = members()

    def statistics(rows: pd.DataFrame) -> list:
        unit = "pair_id" if task == "forced_choice" else "sentence_id"
        answers = rows.rename(columns={unit: "unit"})[["participant", "unit", "value"]]
        human = pd.DataFrame({"sentence_id": sentences["sentence_id"], "score": np.arange(24.0) % 5})
        scores = human.rename(columns={"score": "model"})
        comparison = compare_report(human, pairs, scores, judgments=rows)
        ratings = sentence_table(rows, sentences, task=task)
        return [
            without_counts(agreement_report(rows, rule="blimp", draws=50)),
            progress_report(rows)["paradigms"],
            without_counts(reliability_report(rows, splits=20, groups=4, transform="raw")),
            krippendorff_alpha(answers).value,
            krippendorff_alpha(answers, level="interval").value,
            gwet_ac1(answers).value,
            light_kappa(answers)["value"],
            intraclass_correlation(rows, unit=unit).table.to_dict("list"),
            split_half(rows, unit=unit, splits=20).spearman_brown,
            split_half(rows, unit="item", splits=20).spearman_brown,
            split_half_by_size(rows, unit=unit, sizes=[6], draws=20).to_dict("list"),
            comparison["baselines"] if task != "likert" else None,
            ratings.to_dict("list") if task != "likert" else None,  # spreads of z count ratings
            pair_table(rows, ratings, pairs, task=task).to_dict("list") if task != "likert" else None,
            pair_wins(rows, pairs).to_dict("list") if task == "forced_choice" else None,
        ]

    for number, (alone, repeated) in enumerate(zip(statistics(once), statistics(thrice), strict=True)):
        assert str(rounded(alone)) == str(rounded(repeated)), number


def rounded(value: object) -> object:
    """Round the numbers of nested lists and dictionaries to nine decimals."""
    if isinstance(value, dict):
        return {key: rounded(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [rounded(part) for part in value]
    return round(value, 9) + 0.0 if isinstance(value, float) else value


def test_the_more_frequent_answer_counts_and_equal_ones_count_one_half():
    rows = pd.DataFrame({"participant": list("aaabbcccc"), "item": "i", "value": [1, 1, 0, 0, 1, 0, 0, 0, 1]})
    counts = count_items(decisions(rows)).iloc[0]
    assert counts[["k", "n", "n_half", "majority"]].tolist() == [1, 3, 1, "tie"]
    report = agreement_report(rows, draws=20)
    assert (report["overall"]["judgments"], report["judgments_merged"]) == (3, 6)


def test_one_participant_with_ten_answers_does_not_outvote_four():
    rows = pd.DataFrame({"participant": [*"aaaaaaaaaa", *"bcde"], "item": "i", "value": [1] * 10 + [0] * 4})
    assert count_items(decisions(rows))[["k", "n", "majority"]].to_numpy().tolist() == [[1, 5, "unexpected"]]


def test_participants_who_agree_only_with_themselves_have_no_agreement():
    rng = np.random.default_rng(0)
    own = pd.DataFrame([(f"p{p}", f"i{i}", rng.integers(1, 8)) for p in range(8) for i in range(20)])
    once = own.set_axis(["participant", "unit", "value"], axis=1)
    thrice = pd.concat([once] * 3)
    for level in ("nominal", "ordinal", "interval", "ratio"):
        alone, repeated = (krippendorff_alpha(rows, level=level).value for rows in (once, thrice))
        assert repeated == pytest.approx(alone, abs=1e-12) and abs(repeated) < 0.06


def test_repeated_answers_in_words_are_refused():
    rows = pd.DataFrame({"participant": list("aab"), "unit": 1, "value": ["yes", "no", "yes"]})
    with pytest.raises(ValueError, match="more than once"):
        gwet_ac1(rows)
