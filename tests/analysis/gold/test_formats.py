"""Pairs go out as EWoK's items and sentences as minicons' lines; what a format cannot express is named."""

import io
import json

import pandas as pd
import pytest

from analysis.errors import BadInput, UnknownName
from analysis.gold.formats.ewok_items import NO_CONTEXT, NO_COUNTERPART, OTHER_CONTEXT, SAME_TEXT, ewok_files
from analysis.gold.formats.minicons_stimuli import minicons_files
from analysis.gold.formats.psych_ds import data_name
from analysis.gold.formats.registry import format_names
from analysis.scoring import score_sentences, scorer

LEADS = ("Ann leads Bo.", "Bo leads Ann.")
TARGETS = ("Ann is the boss.", "Bo is the boss.")


def sentences(*rows) -> pd.DataFrame:
    """Sentences of id, text and context."""
    return pd.DataFrame(rows, columns=["sentence_id", "sentence", "context"])


def pairs_of(frame: pd.DataFrame, *members, paradigm: str = "leading") -> pd.DataFrame:
    """Pairs by the ids of their members, with the columns of pairs.jsonl that are needed."""
    text = frame.set_index("sentence_id")["sentence"]
    return pd.DataFrame(
        [
            {
                "pair_id": f"{good}-{bad}",
                "good_id": good,
                "bad_id": bad,
                "paradigm": paradigm,
                "sentence_good": text[good],
                "sentence_bad": text[bad],
                "human_n": 4,
                "human_share": 0.75,
                "human_label": "expected",
            }
            for good, bad in members
        ]
    )


CROSSED = sentences(
    ("a1", TARGETS[0], LEADS[0]),
    ("a2", TARGETS[1], LEADS[0]),
    ("b1", TARGETS[0], LEADS[1]),
    ("b2", TARGETS[1], LEADS[1]),
)


def lines(files: dict[str, bytes], name: str) -> list[dict]:
    """The objects of a file of JSON lines."""
    return [json.loads(line) for line in files[name].decode().splitlines()]


def left_out(files: dict[str, bytes], folder: str) -> pd.DataFrame:
    """The rows that a format cannot express."""
    return pd.read_csv(io.BytesIO(files[f"{folder}/left_out.csv"]), dtype=str, keep_default_na=False)


def test_two_pairs_with_the_same_targets_the_other_way_round_are_two_rows_of_ewok():
    files = ewok_files(pairs_of(CROSSED, ("a1", "a2"), ("b2", "b1")), CROSSED)
    first, second = lines(files, "ewok/pairs.jsonl")
    assert {name: first[name] for name in ("Domain", "Context1", "Context2", "Target1", "Target2")} == {
        "Domain": "leading",
        "Context1": LEADS[0],
        "Context2": LEADS[1],
        "Target1": TARGETS[0],
        "Target2": TARGETS[1],
    }
    assert [second[name] for name in ("Context1", "Target1", "Target2")] == [LEADS[1], TARGETS[1], TARGETS[0]]
    assert (first["pair_id"], first["counterpart_id"]) == ("a1-a2", "b2-b1")
    # What the pipeline reads beside these (read_files.py, decode_ewok).
    assert {"ContextType", "ContextDiff", "TargetDiff"} <= set(first)
    assert left_out(files, "ewok").empty


def test_pairs_that_ewok_cannot_express_are_named_with_the_reason():
    frame = pd.concat(
        [CROSSED, sentences(("c", "It rains.", ""), ("d", "It rain.", ""), ("e", TARGETS[0], "Else."))],
        ignore_index=True,
    )
    pairs = pairs_of(frame, ("c", "d"), ("a1", "b1"), ("a1", "a2"), ("a1", "b2"), ("e", "e"))
    files = ewok_files(pairs, frame)
    assert "ewok/pairs.jsonl" not in files
    assert dict(left_out(files, "ewok")[["pair_id", "reason"]].values) == {
        "c-d": NO_CONTEXT,
        "a1-b1": OTHER_CONTEXT,
        "a1-a2": NO_COUNTERPART,
        "a1-b2": OTHER_CONTEXT,
        "e-e": SAME_TEXT,
    }


def test_counterparts_are_of_the_same_paradigm_and_each_pair_has_one():
    frame = pd.concat([CROSSED, sentences(("x1", TARGETS[0], "Both."), ("x2", TARGETS[1], "Both."))])
    other = pairs_of(frame, ("b2", "b1"), paradigm="following")
    files = ewok_files(pd.concat([pairs_of(frame, ("a1", "a2")), other]), frame)
    assert set(left_out(files, "ewok")["reason"]) == {NO_COUNTERPART}
    three = pairs_of(frame, ("a1", "a2"), ("b2", "b1"), ("x2", "x1"))
    files = ewok_files(three, frame)
    assert [row["pair_id"] for row in lines(files, "ewok/pairs.jsonl")] == ["a1-a2", "b2-b1"]
    assert left_out(files, "ewok")["pair_id"].tolist() == ["x2-x1"]


def test_pairs_crossed_after_the_same_context_are_no_counterparts():
    files = ewok_files(pairs_of(CROSSED, ("a1", "a2"), ("a2", "a1")), CROSSED)
    assert set(left_out(files, "ewok")["reason"]) == {NO_COUNTERPART} and "ewok/pairs.jsonl" not in files


def test_sentences_without_contexts_are_no_items_of_ewok():
    frame = CROSSED.drop(columns="context")
    assert set(left_out(ewok_files(pairs_of(frame, ("a1", "a2")), frame), "ewok")["reason"]) == {NO_CONTEXT}


def test_predictions_on_the_items_of_ewok_come_back_by_the_ids_of_the_sentences(tmp_path):
    """Both targets occur after two contexts: by their texts they would have no score."""
    files = ewok_files(pairs_of(CROSSED, ("a1", "a2"), ("b2", "b1")), CROSSED)
    (tmp_path / "pairs.jsonl").write_bytes(files["ewok/pairs.jsonl"])
    rows = [{"id": f"leading_{place}", "pred": f" {TARGETS[0]}"} for place in (0, 1)]
    document = {"leading": {"predictions": rows}}
    (tmp_path / "predictions.json").write_text(json.dumps(document))
    model = scorer(f"babylm:{tmp_path}/predictions.json?pairs={tmp_path}/pairs.jsonl")
    scores = score_sentences(model, CROSSED, methods=["lp"]).frame
    assert scores.set_index("sentence_id").iloc[:, 0].to_dict() == {"a1": 1, "a2": 0, "b1": 1, "b2": 0}


def test_minicons_gets_one_sentence_in_a_line_beside_ids_and_prefixes(tmp_path):
    frame = pd.concat([CROSSED[:2], sentences(("n", "two\nlines", ""), ("m", " ", ""), ("o", " Last. ", ""))])
    files = minicons_files(frame)
    assert files["minicons/sentences.txt"].decode().splitlines() == [*TARGETS, "Last."]
    stimuli = pd.read_csv(io.BytesIO(files["minicons/stimuli.csv"]), keep_default_na=False)
    assert stimuli.to_dict("list") == {
        "line": [1, 2, 3],
        "sentence_id": ["a1", "a2", "o"],
        "prefix": [LEADS[0], LEADS[0], ""],
        "stimulus": [*TARGETS, "Last."],
    }
    assert left_out(files, "minicons").values.tolist() == [
        ["n", "the sentence has several lines"],
        ["m", "the sentence is empty"],
    ]


def test_what_minicons_returns_for_the_lines_comes_back_as_scores(tmp_path):
    frame = sentences(("a", "It rains.", ""), ("b", "It rain.", ""))
    files = minicons_files(frame)
    assert "minicons/left_out.csv" not in files
    (tmp_path / "sentences.txt").write_bytes(files["minicons/sentences.txt"])
    (tmp_path / "tokens.json").write_text(json.dumps([[["It", -1.0], ["rains.", -2.0]], [["It", -5.0]]]))
    model = scorer(f"minicons:{tmp_path}/tokens.json?sentences={tmp_path}/sentences.txt")
    assert score_sentences(model, frame, methods=["lp"]).frame.iloc[:, 1].tolist() == [-3, -5]


def test_scores_by_sentence_are_refused_where_a_sentence_follows_two_contexts(tmp_path):
    (tmp_path / "sentences.txt").write_text("\n".join(TARGETS))
    (tmp_path / "tokens.json").write_text(json.dumps([-1.0, -2.0]))
    model = scorer(f"minicons:{tmp_path}/tokens.json?sentences={tmp_path}/sentences.txt&reduction=sum")
    with pytest.raises(BadInput, match="after two contexts"):
        score_sentences(model, CROSSED, methods=["lp"])


@pytest.mark.parametrize(
    ("slug", "path", "name"),
    [
        ("blimp", "human.csv", "study-blimp_description-human_data.csv"),
        ("2024-à-b", "pairs.jsonl", "study-2024B_description-pairs_data.csv"),
        ("…", "pairs.jsonl", "study-study_description-pairs_data.csv"),
    ],
)
def test_names_of_psych_ds_have_letters_and_digits_only(slug, path, name):
    assert data_name(slug, path) == name


def test_an_unknown_format_is_refused_by_name():
    with pytest.raises(UnknownName, match="bids"):
        format_names("ewok,bids")
