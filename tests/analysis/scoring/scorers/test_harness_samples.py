"""Sample logs of lm-evaluation-harness become scores, and a release's tasks give our scores in it."""

import json
import os
import subprocess
import sys

import pytest

from analysis.errors import BadInput
from analysis.gold.formats.lm_eval_tasks import task_files
from analysis.scoring import scorer
from benchmarks.scoring import golden_models

PAIRS = [("The dog sleeps.", "The dog sleep."), ("Dogs didn't sleep.", "Dogs didn't sleeps.")]


def sample(good: str, bad: str, *, context: str = "", answers=(("-3.5", "False"), ("-4.25", "True"))) -> dict:
    """A line as the harness writes it."""
    requests = {f"gen_args_{n}": {"arg_0": context, "arg_1": text} for n, text in enumerate((good, bad))}
    return {"doc_id": 0, "arguments": requests, "filtered_resps": [list(answer) for answer in answers]}


def write(path, *samples) -> str:
    path.write_text("".join(f"{json.dumps(line)}\n" for line in samples), encoding="utf-8")
    return f"lm-eval:{path}"


def test_logged_sentences_have_the_scores_of_the_harness(tmp_path):
    write(tmp_path / "samples_one_2026.jsonl", sample(*PAIRS[0]))
    write(tmp_path / "samples_two_2026.jsonl", sample(*PAIRS[1]))
    sentences = [PAIRS[0][0], PAIRS[1][1], "Never logged."]
    for target in (tmp_path, tmp_path / "samples_*.jsonl"):
        sums = scorer(f"lm-eval:{target}").score(sentences).logprob
        assert sums.tolist()[:2] == [-3.5, -4.25] and sums[2] != sums[2]


def test_the_space_that_the_harness_scored_is_recorded_and_kinds_are_not_mixed(tmp_path):
    plain, spaced = sample(*PAIRS[0]), sample(*(f" {text}" for text in PAIRS[0]))
    opened = scorer(write(tmp_path / "samples_space.jsonl", spaced))
    assert opened.spec.options["space"] == "yes" and "after a space" in opened.warnings[0]
    assert opened.score([PAIRS[0][0]]).logprob.tolist() == [-3.5]
    spaced["filtered_resps"] = [["-9.5", ""], ["-9.75", ""]]
    both = write(tmp_path / "samples_both.jsonl", plain, spaced)
    with pytest.raises(BadInput, match="some sentences were scored after a space.*space=yes"):
        scorer(both)
    chosen = [scorer(f"{both}?space={space}").score([PAIRS[0][0]]).logprob[0] for space in ("yes", "no")]
    assert chosen == [-9.5, -3.5]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"doc": {}}, "row 2: the line is no sample with arguments and filtered_resps.*--log_samples"),
        (sample(*PAIRS[0], context="Is this good?"), "row 2, column 'arguments': .*after the context"),
        (sample(*PAIRS[0], answers=(("yes", ""), ("no", ""))), "'yes' is not a log probability"),
        (sample(*PAIRS[0], answers=(("-1", "False"),)), "2 requests have 1 answers"),
        (sample(*PAIRS[0], answers=(("-9", ""), ("-9", ""))), "has -9 here and -3.5 in .*one run"),
    ],
)
def test_a_log_that_cannot_be_used_names_file_line_and_remedy(line, message, tmp_path):
    target = write(tmp_path / "samples_x.jsonl", sample(*PAIRS[0]), line)
    with pytest.raises(BadInput, match=message) as refused:
        scorer(target)
    assert "samples_x.jsonl" in str(refused.value)


def test_a_folder_without_logs_says_how_to_write_them(tmp_path):
    with pytest.raises(BadInput, match="no sample log.*--log_samples"):
        scorer(f"lm-eval:{tmp_path}")


@pytest.mark.parametrize("name", ["causal, GPT-2", "causal, Llama"])
def test_the_harness_gives_our_scores_on_the_tasks_of_a_release(name, tmp_path):
    absent = "lm-evaluation-harness is not installed: make install-validators"
    pytest.importorskip("lm_eval", reason=absent)
    pytest.importorskip("torch", reason="needs the extra models: make install-models")
    import pandas as pd

    model = dict(golden_models.neural(tmp_path / "models"))[name]
    rows = [
        {
            "sentence_good": good,
            "sentence_bad": bad,
            "paradigm": f"paradigm_{n}",
            "phenomenon": "agreement",
            "human_n": 4,
            "human_share": 0.75,
            "human_label": "expected",
        }
        | {key: f"{key}{n}" for key in ("pair_id", "good_id", "bad_id")}
        for n, (good, bad) in enumerate(PAIRS)
    ]
    (tmp_path / "gold" / "lm_eval").mkdir(parents=True)
    (tmp_path / "gold" / "pairs.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    for path, content in task_files(pd.DataFrame(rows), slug="study").items():
        (tmp_path / "gold" / path).write_bytes(content)
    folder = model.partition(":")[2].partition("?")[0]
    command = [sys.executable, "-m", "lm_eval", "--model", "hf", "--tasks", "study", "--log_samples"]
    command += ["--model_args", f"pretrained={folder},dtype=float32", "--device", "cpu", "--batch_size", "1"]
    command += ["--include_path", str(tmp_path / "gold" / "lm_eval"), "--output_path", str(tmp_path / "out")]
    offline = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "hub")}
    process = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **offline}, timeout=400, check=False
    )
    assert process.returncode == 0, process.stderr[-2000:]
    sentences = [sentence for pair in PAIRS for sentence in pair]
    logged = scorer(f"lm-eval:{tmp_path / 'out'}").score(sentences).logprob
    assert logged == pytest.approx(scorer(f"hf-causal:{folder}").score(sentences).logprob, abs=1e-4)
