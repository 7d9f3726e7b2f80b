"""BabyLM's predictions and minicons' output become scores; choices are written as predictions."""

import json
import math

import pandas as pd
import pytest

from analysis.command_line.program import main
from analysis.errors import BadInput
from analysis.scoring import scorer
from analysis.scoring.base import FLAGS
from analysis.scoring.scorers.babylm_predictions import babylm_predictions

PAIRS = [
    {"UID": "agreement", "sentence_good": "The dog sleeps.", "sentence_bad": "The dog sleep."},
    {"UID": "agreement", "sentence_good": "Dogs sleep.", "sentence_bad": "Dogs sleeps."},
]
EWOK = {
    "Domain": "social-relations",
    "Context1": "Ann leads Bo.",
    "Context2": "Bo leads Ann.",
    "Target1": "Ann is the boss.",
    "Target2": "Bo is the boss.",
}


def stored(path, document) -> str:
    """A document as JSON, or rows as JSON lines."""
    lines = "".join(f"{json.dumps(row)}\n" for row in document) if path.suffix == ".jsonl" else None
    path.write_text(lines if lines is not None else json.dumps(document), encoding="utf-8")
    return str(path)


def predictions(subset: str, *texts: str) -> dict:
    """A task's file as the pipeline writes it."""
    rows = [{"id": f"{subset}_{place}", "pred": text} for place, text in enumerate(texts)]
    return {subset: {"predictions": rows}}


def babylm(folder, document, pairs=PAIRS):
    """The scorer of a file of predictions beside its pairs."""
    pair_file = stored(folder / "pairs.jsonl", pairs)
    return scorer(f"babylm:{stored(folder / 'predictions.json', document)}?pairs={pair_file}")


def test_chosen_sentences_have_one_and_the_others_of_their_pairs_nothing(tmp_path):
    opened = babylm(tmp_path, predictions("agreement", "The dog sleep.", "Dogs sleep."))
    sums = opened.score(
        ["The dog sleeps.", "The dog sleep.", "Dogs sleep.", "Dogs sleeps.", "Never."]
    ).logprob
    assert sums.tolist()[:4] == [0, 1, 1, 0] and math.isnan(sums[4])


def test_a_collated_file_gives_its_tasks_with_pairs(tmp_path):
    document = {"blimp": predictions("Agreement", "The dog sleeps.", "Dogs sleeps.")}
    document["reading"] = {"reading": {"predictions": [{"pred": 1.0, "prev_pred": 2.0}]}}
    sums = babylm(tmp_path, document).score(["The dog sleeps.", "Dogs sleeps."]).logprob
    assert sums.tolist() == [1, 1]


def test_ewok_sentences_are_the_context_and_the_target(tmp_path):
    opened = babylm(tmp_path, predictions("social-relations", " Bo is the boss."), [EWOK])
    sums = opened.score(["Ann leads Bo. Ann is the boss.", "Ann leads Bo. Bo is the boss."]).logprob
    assert sums.tolist() == [0, 1]


def test_a_sentence_chosen_in_one_pair_and_not_in_another_has_no_score(tmp_path):
    pairs = [PAIRS[0], {**PAIRS[0], "sentence_bad": "Dog the sleeps."}]
    opened = babylm(tmp_path, predictions("agreement", "The dog sleeps.", "Dog the sleeps."), pairs)
    sums = opened.score(["The dog sleeps.", "The dog sleep.", "Dog the sleeps."]).logprob
    assert math.isnan(sums[0]) and sums.tolist()[1:] == [0, 1]


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (predictions("agreement", "A cat sleeps."), "row 1, column 'pred': 'A cat sleeps.' of agreement"),
        ({"reading": {"predictions": [{"pred": 1}]}}, "no predictions of pairs.*--save_predictions"),
        ([1], "no predictions of pairs"),
    ],
)
def test_predictions_that_cannot_be_used_name_row_and_remedy(document, message, tmp_path):
    with pytest.raises(BadInput, match=message):
        babylm(tmp_path, document)


def test_predictions_without_pairs_ask_for_them(tmp_path):
    path = stored(tmp_path / "predictions.json", predictions("agreement", "Dogs sleep."))
    with pytest.raises(BadInput, match="pairs=pairs.jsonl"):
        scorer(f"babylm:{path}")


def test_choices_are_written_as_the_pipeline_writes_them_and_read_again(tmp_path):
    scores = {"The dog sleeps.": -4.0, "The dog sleep.": -3.0, "Dogs sleep.": -2.0, "Dogs sleeps.": -2.0}
    document = babylm_predictions(pd.DataFrame(PAIRS), scores)
    assert document == predictions("agreement", "The dog sleep.", "Dogs sleep.")
    assert babylm(tmp_path, document).score(["The dog sleep.", "Dogs sleep."]).logprob.tolist() == [1, 1]
    del scores["The dog sleep."]
    rest = babylm_predictions(pd.DataFrame(PAIRS), scores)["agreement"]["predictions"]
    assert rest == [{"id": "agreement_1", "pred": "Dogs sleep."}]


def test_pairs_with_equal_scores_are_counted_where_choices_are_written_and_named_where_they_are_read(
    tmp_path, capsys
):
    pairs = [
        {"pair_id": str(n), "good_id": f"g{n}", "bad_id": f"b{n}", **pair} for n, pair in enumerate(PAIRS)
    ]
    texts = {pair[f"{side}_id"]: pair[f"sentence_{side}"] for pair in pairs for side in ("good", "bad")}
    frame = pd.DataFrame({"sentence_id": texts.keys(), "sentence": texts.values()})
    frame.to_csv(tmp_path / "sentences.csv", index=False)
    frame.assign(lp=[-4.0, -5.0, -2.0, -2.0])[["sentence_id", "lp"]].to_csv(tmp_path / "in.csv", index=False)
    common = ["--sentences", str(tmp_path / "sentences.csv"), "--to", str(tmp_path / "out.csv")]
    pair_file, choices = stored(tmp_path / "pairs.jsonl", pairs), str(tmp_path / "predictions.json")
    command = ["score", f"csv:{tmp_path / 'in.csv'}", *common, "--pairs", pair_file, "--predictions", choices]
    assert main(command) == 0
    assert "1 of 2 pairs have two equal scores" in capsys.readouterr().err
    assert main(["score", f"babylm:{choices}?pairs={pair_file}", *common]) == 0
    assert "names the good sentence where a model gives both the same score" in capsys.readouterr().err


@pytest.mark.parametrize("has_subset", [True, False])
def test_score_writes_the_choices_of_a_model_as_predictions(has_subset, tmp_path, capsys):
    rows = [("g0", "b0"), ("g1", "b1")]
    pairs = [{**pair, "good_id": good, "bad_id": bad} for pair, (good, bad) in zip(PAIRS, rows, strict=True)]
    pairs = [{"pair_id": pair["good_id"], **pair} for pair in pairs]
    if not has_subset:
        pairs = [{name: value for name, value in pair.items() if name != "UID"} for pair in pairs]
    sentences = [(pair[f"{side}_id"], pair[f"sentence_{side}"]) for pair in pairs for side in ("good", "bad")]
    frame = pd.DataFrame(sentences, columns=["sentence_id", "sentence"])
    frame.to_csv(tmp_path / "sentences.csv", index=False)
    frame.assign(lp=[-4.0, -3.0, -2.0, -5.0])[["sentence_id", "lp"]].to_csv(tmp_path / "in.csv", index=False)
    command = ["score", f"csv:{tmp_path / 'in.csv'}", "--sentences", str(tmp_path / "sentences.csv")]
    command += ["--pairs", stored(tmp_path / "pairs.jsonl", pairs), "--to", str(tmp_path / "out.csv")]
    code = main([*command, "--predictions", str(tmp_path / "predictions.json")])
    assert (code == 0) == has_subset
    if has_subset:
        written = json.loads((tmp_path / "predictions.json").read_text())
        assert written == predictions("agreement", "The dog sleep.", "Dogs sleep.")
    else:
        assert "UID" in capsys.readouterr().err and not (tmp_path / "out.csv").exists()


def minicons(folder, entries, options=""):
    """The scorer of a list that minicons returned."""
    (folder / "sentences.txt").write_text("Dogs sleep.\nDogs sleeps.\n", encoding="utf-8")
    path = stored(folder / "tokens.json", entries)
    return scorer(f"minicons:{path}?sentences={folder / 'sentences.txt'}{options}")


def test_tokens_of_minicons_are_added_and_counted(tmp_path):
    entries = [[["Dogs", 0.0], ["sleep", 2.0], [".", 1.5]], [["Dogs", 0.0, 1], ["sleeps", 4.0, 9]]]
    scores = minicons(tmp_path, entries, "&value=surprisal&base=2").score(
        ["Dogs sleep.", "Dogs sleeps.", "x"]
    )
    assert scores.logprob.tolist()[:2] == pytest.approx([-3.5 * math.log(2), -4 * math.log(2)])
    assert scores.n_tokens.tolist()[:2] == [2, 1] and math.isnan(scores.logprob[2])


def test_numbers_of_minicons_are_taken_as_they_are(tmp_path):
    opened = minicons(tmp_path, [-1.5, -2.5], "&reduction=mean")
    assert opened.score(["Dogs sleeps."]).logprob.tolist() == [-2.5] and "means" in opened.warnings[0]
    assert minicons(tmp_path, [-1.5, -2.5], "&reduction=sum").warnings == []
    with pytest.raises(BadInput, match="added or averaged.*reduction=mean"):
        minicons(tmp_path, [-1.5, -2.5])


def test_a_first_token_without_a_score_is_not_counted_and_flagged(tmp_path):
    opened = minicons(tmp_path, [[["D", 0.0], ["ogs", -5.5], [".", -4.5]], [["Dogs", 0.0]]])
    scores = opened.score(["Dogs sleep.", "Dogs sleeps.", "x"])
    assert scores.logprob[0] == -10 and scores.n_tokens.tolist() == [2, 0, 0]
    assert math.isnan(scores.logprob[1])  # no token has a score: never the best one
    assert (scores.flags & FLAGS["first token not scored"] > 0).tolist() == [True, True, False]
    assert (
        "2 of 2 sentences" in opened.warnings[0] and "1 sentences have no scored token" in opened.warnings[1]
    )
    assert not opened.spec.bos


def test_a_mark_before_the_first_token_is_not_counted_and_no_flag(tmp_path):
    opened = minicons(tmp_path, [[["</s>", 0.0], ["Dogs", -5.5]], [["[CLS]", 0.0], ["Dogs", -1.5]]])
    scores = opened.score(["Dogs sleep.", "Dogs sleeps."])
    assert scores.logprob.tolist() == [-5.5, -1.5] and scores.n_tokens.tolist() == [1, 1]
    assert not scores.flags.any() and opened.spec.bos and opened.warnings == []


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ([-1.0], "1 scores are beside 2 sentences"),
        ([[["Dogs", 0.0], [".", -1.0]], [["Dogs", 0.0], [".", 0.25]]], "row 2: 0.25 is no log probability"),
        ([-1.0, "x"], "row 2: the entry is neither a number nor a list"),
        ([-1.0, [["Dogs"]]], "row 2: the entry is neither"),
        ({"a": 1}, "no list with an entry for each sentence"),
    ],
)
def test_output_of_minicons_that_cannot_be_used_names_row_and_remedy(entries, message, tmp_path):
    with pytest.raises(BadInput, match=message):
        minicons(tmp_path, entries, "&reduction=mean")
