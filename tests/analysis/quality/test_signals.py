"""Quality signals: what each flags, what it leaves alone, and what it cannot know."""

import numpy as np
import pandas as pd
import pingouin
import pytest

from analysis.errors import UnknownName
from analysis.quality.model_agreement import delegation_test, partial_r
from analysis.quality.report import LABELS, signal_table
from benchmarks.analysis.bench_delegation import detection, false_alarms, read_batch


def sitting(name, values, *, task="likert", **columns):
    """The answers of one session, in order."""
    n = len(values)
    return pd.DataFrame(
        {
            "participant": name,
            "session": f"{name}-1",
            "task": task,
            "kind": "target",
            "position": range(1, n + 1),
            "sentence_id": [f"s{number}" for number in range(n)],
            "value": values,
            **columns,
        }
    )


def flags(*sittings, names=None, **options):
    table = signal_table(pd.concat(sittings, ignore_index=True), names=names, **options)
    return {(row.participant, row.signal): row.reason for row in table.itertuples()}


VARIED = [1, 7, 4, 2, 6, 3, 5, 7, 1, 4, 6, 2]


def test_a_table_names_session_person_signal_version_value_and_reason():
    (row,) = signal_table(sitting("pia", [4] * 12), names=["straight_lining"]).to_dict("records")
    assert row == {
        "session": "pia-1",
        "participant": "pia",
        "signal": "straight_lining",
        "version": 1,
        "value": 1.0,
        "reason": "all 12 answers are 4",
    }


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([4] * 10, "all 10 answers are 4"),
        ([4] * 18 + [1, 2], "18 of 20 answers are 4"),
        ([1, 2, 3] * 3 + [5] * 10, "10 equal answers in a row"),
        (VARIED, None),
        ([4] * 9, None),
    ],
)
def test_straight_lines_are_flagged_from_ten_answers_on(values, reason):
    assert flags(sitting("pia", values), names=["straight_lining"]).get(("pia", "straight_lining")) == reason


def test_choosing_every_expected_sentence_is_no_straight_line():
    first = [number % 2 == 0 for number in range(24)]
    assert flags(sitting("pia", [1] * 24, task="forced_choice", expected_first=first)) == {}


@pytest.mark.parametrize(("n", "is_flagged"), [(20, True), (19, False)])
def test_one_side_in_at_least_95_percent_of_20_choices_is_flagged(n, is_flagged):
    first = [number % 2 == 0 for number in range(n)]
    first_side = sitting(
        "pia", [int(is_first) for is_first in first], task="forced_choice", expected_first=first
    )
    flagged = flags(first_side, names=["side_bias"])
    assert (("pia", "side_bias") in flagged) is is_flagged
    if is_flagged:
        assert flagged["pia", "side_bias"] == "the sentence shown first was chosen in 20 of 20 trials"


def test_the_second_side_counts_as_well():
    first = [number % 2 == 0 for number in range(40)]
    right = sitting(
        "pia", [1 - int(is_first) for is_first in first], task="forced_choice", expected_first=first
    )
    assert "shown second was chosen in 40 of 40" in flags(right, names=["side_bias"])["pia", "side_bias"]


def test_more_than_a_quarter_of_catch_trials_wrong_is_flagged():
    def caught(name, wrong):
        return sitting(name, [1] * 4, task="forced_choice").assign(
            kind="catch", correct=[number >= wrong for number in range(4)]
        )

    flagged = flags(caught("pia", 2), caught("quentin", 1), names=["catch_trials"])
    assert flagged == {("pia", "catch_trials"): "2 of 4 catch trials wrong"}


def test_speed_names_its_cut_and_the_studys_own_median():
    slow = sitting("pia", VARIED, rt_ms=3000, n_characters=40)
    fast = sitting("quentin", VARIED, rt_ms=400, n_characters=40)
    flagged = flags(slow, fast, names=["speed"])
    assert list(flagged) == [("quentin", "speed")]
    assert "median 10 ms per character, below 15" in flagged["quentin", "speed"]
    nearly = flags(slow, sitting("rosa", VARIED, rt_ms=598, n_characters=40), names=["speed"])
    assert "median 14.9 ms per character, below 15" in nearly["rosa", "speed"]
    assert "a threshold from reading research" in flagged["quentin", "speed"]
    contexts = sitting("rosa", VARIED, context_read_ms=400, n_context_characters=40)
    assert list(flags(slow, contexts, names=["context_speed"])) == [("rosa", "context_speed")]


@pytest.mark.parametrize(
    ("signal", "columns", "says"),
    [
        ("untrusted", {"is_trusted": [False] * 3 + [True] * 9}, "3 of 12 answers were given by a program"),
        ("paste", {"pasted": [True] + [False] * 11}, "1 of 12 answers were pasted"),
        ("honeypot", {"honeypot": True}, "a hidden field was filled in"),
        ("plain_form", {"by_plain_form": [True] * 12}, "12 of 12 answers came by the plain form"),
        ("storage", {"storage_failed": True}, "the browser's storage failed"),
        (
            "missing_glyphs",
            {"has_missing_glyphs": [True] + [False] * 11},
            "in 1 of 12 trials the device had no glyph",
        ),
        ("coarse_time", {"has_coarse_time": True}, "in 12 of 12 trials the clock was coarse"),
        ("focus", {"focus_lost_ms": [5000] * 3 + [0] * 9}, "the page was left in 3 of 12 trials, 15 s"),
    ],
)
def test_what_the_browser_noted_is_flagged(signal, columns, says):
    assert says in flags(sitting("pia", VARIED, **columns), names=[signal])["pia", signal]


@pytest.mark.parametrize(
    "signal", ["untrusted", "paste", "honeypot", "focus", "speed", "catch_trials", "plain_form", "storage"]
)
def test_without_evidence_there_is_no_flag(signal):
    assert flags(sitting("pia", VARIED), names=[signal]) == {}


def test_leaving_the_page_once_or_twice_is_nothing():
    columns = {"focus_lost_ms": [60_000] * 2 + [0] * 10, "page_hidden_ms": None}
    assert flags(sitting("pia", VARIED, **columns), names=["focus"]) == {}


def test_the_same_answers_or_times_on_one_list_look_like_one_person():
    values = [*VARIED, 1, 2, 3]
    pia, quentin = (sitting(name, values, list="A") for name in ("pia", "quentin"))
    other = sitting("rosa", list(reversed(values)), list="A")
    flagged = flags(pia, quentin, other, names=["duplicates"])
    assert set(flagged) == {("pia", "duplicates"), ("quentin", "duplicates")}
    times = {"list": "A", "rt_ms": range(500, 515), "task": "yes_no"}
    alike = [sitting(name, [1, 0, 1] * 5).assign(**times) for name in ("pia", "quentin")]
    assert "to the millisecond" in flags(*alike, names=["duplicates"])["pia", "duplicates"]


def test_equal_choices_are_no_sign_of_one_person():
    alike = [sitting(name, [1] * 30, task="forced_choice", list="A") for name in ("pia", "quentin")]
    assert flags(*alike, names=["duplicates"]) == {}


def test_the_same_person_twice_on_one_list_is_flagged():
    repeated = sitting("pia", VARIED, list="A").assign(session="pia-2")
    assert flags(sitting("pia", VARIED, list="A"), repeated, names=["duplicates"])


def test_a_device_of_two_people_is_flagged_and_that_of_one_person_in_two_rounds_is_not():
    pia, quentin = (sitting(name, VARIED, list=name).assign(device="d1") for name in ("pia", "quentin"))
    flagged = flags(pia, quentin, sitting("rosa", VARIED, list="C").assign(device=""), names=["duplicates"])
    assert set(flagged) == {("pia", "duplicates"), ("quentin", "duplicates")}
    assert "same device" in flagged["pia", "duplicates"]
    repeated = sitting("pia", VARIED, list="B").assign(session="pia-2", device="d1")
    assert flags(pia, repeated, names=["duplicates"]) == {}


def crowd(rng, *, n=24, people=8):
    """People who agree about sentences up to noise, and the sentences' acceptability."""
    truth = rng.normal(4, 1.5, n)
    return truth, [sitting(f"p{number}", truth + rng.normal(0, 0.8, n)) for number in range(people)]


def test_a_random_participant_is_unlike_all_others():
    rng = np.random.default_rng(1)
    _, people = crowd(rng)
    flagged = flags(*people, sitting("quentin", rng.normal(4, 1.5, 24)), names=["leave_one_out"])
    assert list(flagged) == [("quentin", "leave_one_out")]


def test_the_correlation_equals_a_plain_one_with_the_means_of_the_others():
    rng = np.random.default_rng(2)
    _, people = crowd(rng, people=4)
    frame = pd.concat([*people, sitting("quentin", rng.normal(4, 1.5, 24))], ignore_index=True)
    table = signal_table(frame, names=["leave_one_out"]).set_index("participant")
    wide = frame.pivot(index="sentence_id", columns="participant", values="value")
    plain = wide["quentin"].corr(wide.drop(columns="quentin").mean(axis=1))
    assert table.loc["quentin", "value"] == pytest.approx(plain)


def test_fewer_than_twenty_sentences_give_no_signal_of_similarity():
    rng = np.random.default_rng(3)
    _, people = crowd(rng, n=19)
    assert flags(*people, sitting("quentin", rng.normal(4, 1.5, 19)), names=["leave_one_out"]) == {}


def test_ratings_that_follow_a_model_more_than_people_are_flagged_for_review():
    rng = np.random.default_rng(4)
    truth, people = crowd(rng)
    model = truth + rng.normal(0, 1.5, len(truth))
    scores = pd.DataFrame({"sentence_id": [f"s{n}" for n in range(len(truth))], "gpt": model})
    flagged = flags(*people, sitting("quentin", model), names=["model_agreement"], scores=scores)
    assert list(flagged) == [("quentin", "model_agreement")]
    assert (
        "with gpt" in flagged["quentin", "model_agreement"]
        and "for review" in flagged["quentin", "model_agreement"]
    )


def test_choices_that_follow_a_model_where_people_differ_are_flagged():
    n = 30
    pair_ids = [f"p{number}" for number in range(n)]
    pairs = pd.DataFrame(
        {"pair_id": pair_ids, "good_id": [f"g{i}" for i in range(n)], "bad_id": [f"b{i}" for i in range(n)]}
    )
    model = np.where(np.arange(n) < 20, -1.0, 1.0)
    scores = pd.DataFrame(
        {"sentence_id": [*pairs["good_id"], *pairs["bad_id"]], "lm": [*model, *np.zeros(n)]}
    )
    people = [sitting(f"h{k}", [1] * n, task="forced_choice", pair_id=pair_ids) for k in range(3)]
    like = sitting("quentin", (model > 0).astype(int), task="forced_choice", pair_id=pair_ids)
    flagged = flags(*people, like, names=["model_agreement"], scores=scores, pairs=pairs)
    assert list(flagged) == [("quentin", "model_agreement")]
    assert "(partial r = 1.00" in flagged["quentin", "model_agreement"]


def test_the_least_p_of_a_shared_mistake_is_that_of_chance():
    """One mistake of 20, made where the model errs, is no evidence: it happens to one in 20."""
    n = 20
    answers, model, others = np.ones(n), np.ones((n, 1)), np.full(n, 0.9)
    answers[3] = model[3] = 0.0
    p = delegation_test(answers, others, model, is_choice=True)[3]
    assert p == pytest.approx(1 / n, abs=0.02)


def test_a_partial_correlation_is_that_of_pingouin():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(rng.normal(size=(30, 3)), columns=["x", "y", "c"])
    frame["y"] += frame["c"]
    expected = pingouin.partial_corr(frame, "x", "y", covar="c")
    r = partial_r(frame["x"].to_numpy(), frame["y"].to_numpy(), given=frame["c"].to_numpy())
    assert r == pytest.approx(expected["r"].iloc[0])
    tested = delegation_test(
        frame["x"].to_numpy(), frame["c"].to_numpy(), frame[["y"]].to_numpy(), is_choice=False
    )
    two_sided = expected[[name for name in expected if name.lower().startswith("p")][0]].iloc[0]
    assert min(tested[3], 1 - tested[3]) * 2 == pytest.approx(two_sided)


def test_an_unknown_signal_is_answered_with_near_names():
    with pytest.raises(UnknownName, match="side_bias"):
        signal_table(sitting("pia", VARIED), names=["sidebias"])


def test_an_empty_frame_raises_no_flag_and_twenty_one_signals_exist():
    assert signal_table(sitting("pia", [])).empty
    assert len(LABELS) == 21


def test_few_participants_of_blimps_batch_look_like_models(shared_data):
    batch = read_batch(str(shared_data("blimp/human_responses.csv")))
    answers = batch.dropna(subset=["value"]).groupby("pair_id")["value"]
    share = (answers.sum() + 0.5) / (answers.count() + 1)
    rng = np.random.default_rng(0)
    assert false_alarms(batch, share, 2, rng=rng, sets=1) < 0.05
    assert detection(share, 2, 40, is_known=True, rng=rng, delegates=10) > 0.8
