"""``manage.py train_lm`` and ``manage.py train_acceptability``."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from analysis.scoring import scorer
from tests.analysis.training.conftest import easy

pytest.importorskip("torch", reason="neural models are an extra: make install-models")
pytest.importorskip("transformers", reason="neural models are an extra: make install-models")

ROOT = Path(__file__).resolve().parents[3]
TINY = ["--kind", "lstm", "--width", "16", "--epochs", "1", "--vocabulary", "200"]


def run(capsys, *words):
    call_command(*map(str, words))
    return capsys.readouterr().out


@pytest.fixture
def cola(tmp_path):
    """An easy file in CoLA's form."""
    labelled = easy(40, 1)
    rows = zip(labelled.sentences, labelled.labels, strict=True)
    path = tmp_path / "train.tsv"
    path.write_text(
        "".join(f"own\t{label}\t{'' if label else '*'}\t{sentence}\n" for sentence, label in rows)
    )
    return path


def test_a_single_seed_is_stored_in_the_folder_itself(capsys, tmp_path, corpus_file):
    call_command(*map(str, ["train_lm", corpus_file, *TINY, "--out", tmp_path / "m"]))
    out, stages = capsys.readouterr()
    assert stages.splitlines()[:2] == ["reading the text", "seed 1, preparing tokens and model"]
    assert f"lstm:{tmp_path / 'm'}  perplexity" in out
    assert scorer(f"lstm:{tmp_path / 'm'}").score(["The cat slept."]).logprob[0] < 0


def test_several_seeds_are_averaged(capsys, tmp_path, corpus_file):
    words = ["train_lm", corpus_file, *TINY, "--seed", "3", "4", "--out", tmp_path / "m", "--json"]
    report = json.loads(run(capsys, *words))
    models = report["models"]
    assert [model["model"] for model in models] == [f"lstm:{tmp_path}/m/seed-{seed}" for seed in (3, 4)]
    assert report["mean_perplexity"] == pytest.approx(sum(model["perplexity"] for model in models) / 2)
    resumed = json.loads(run(capsys, *words, "--resume"))
    assert resumed == report


def test_a_process_that_was_killed_is_resumed_to_the_numbers_of_an_unbroken_one(
    capsys, tmp_path, corpus_file
):
    words = [
        "train_lm",
        corpus_file,
        *TINY[:-4],
        "--epochs",
        "3",
        "--vocabulary",
        "200",
        "--checkpoint-every",
        "1",
    ]
    killed = subprocess.Popen(
        [sys.executable, str(ROOT / "manage.py"), *map(str, words), "--out", str(tmp_path / "killed")],
        env={**os.environ, "OMP_NUM_THREADS": "1"}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip
    last = tmp_path / "killed" / "checkpoints" / "last.pt"
    while killed.poll() is None and not last.is_file():
        time.sleep(0.01)
    killed.kill()
    _, stderr = killed.communicate()
    assert killed.returncode == -signal.SIGKILL, stderr.decode()
    assert not (tmp_path / "killed" / "training.json").exists()
    resumed = json.loads(run(capsys, *words, "--out", tmp_path / "killed", "--resume", "--json"))
    unbroken = json.loads(run(capsys, *words, "--out", tmp_path / "whole", "--json"))
    for report in (resumed, unbroken):
        del report["models"][0]["model"]
    assert resumed == unbroken


def test_a_model_that_learned_nothing_or_left_much_out_is_reported_with_a_remedy(capsys, tmp_path):
    noise = np.random.default_rng(1).choice(list("abcdefghijklmnopqrst"), size=(60, 5))
    long = ["a b c d e f g h", "b c d e f g h i", "c d e f g h i j"]
    text = tmp_path / "noise.txt"
    text.write_text("\n".join([*map(" ".join, noise), *long]))
    words = ["--kind", "transformer", "--epochs", "1", "--context", "7", "--lr", "0.000001"]
    out = run(capsys, "train_lm", text, *words, "--out", tmp_path / "m")
    assert "learned no more than frequencies" in out
    assert "3 sentences are longer than the context (7 tokens)" in out and "--context" in out


def test_a_probe_is_trained_and_every_restart_shown(capsys, tmp_path, cola):
    words = ["--model", "tiny", "--restarts", "2", "--epochs", "1", "--out", tmp_path / "probe"]
    out = run(capsys, "train_acceptability", cola, *words, "--test", cola)
    assert "chosen" in out and "test: MCC" in out and f"hf-classifier:{tmp_path / 'probe'}" in out
    assert abs(scorer(f"hf-classifier:{tmp_path / 'probe'}").score(["The cat slept."]).logprob[0]) >= 0.5


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["train_lm", "none.txt", *TINY, "--out", "m"], "none.txt: there is no such file"),
        (["train_lm", "CORPUS", *TINY, "--out", "m", "--tokens", "bpe"], "words or characters"),
        (["train_lm", "CORPUS", *TINY, "--out", "m", "--seed", "1", "1"], "twice"),
        (["train_lm", "CORPUS", *TINY, "--out", "m", "--device", "tpu"], "device"),
        (["train_lm", "CORPUS", *TINY, "--out", "m", "--size", "huge"], "size"),
        (["train_acceptability", "CORPUS", "--model", "tiny", "--out", "m"], "'.txt' are not read"),
    ],
)
def test_bad_input_ends_with_one_line_and_no_folder(tmp_path, monkeypatch, corpus_file, words, message):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CommandError, match=message) as failed:
        call_command(*[str(corpus_file) if word == "CORPUS" else word for word in words])
    assert failed.value.returncode == 2 and "\n" not in str(failed.value)
    assert list(tmp_path.iterdir()) == []


def test_without_the_extra_the_line_that_installs_it_is_given(tmp_path, monkeypatch, corpus_file, cola):
    import importlib

    real = importlib.import_module

    def absent(name, *arguments):
        if name in ("torch", "transformers"):
            raise ImportError(name)
        return real(name, *arguments)

    monkeypatch.setattr("analysis.scoring.neural.loading.import_module", absent)
    for words in (
        ["train_lm", str(corpus_file), *TINY, "--out", str(tmp_path / "m")],
        ["train_acceptability", str(cola), "--model", "tiny", "--out", str(tmp_path / "m")],
    ):
        with pytest.raises(CommandError, match=r"not installed\. Run make install-models"):
            call_command(*words)
    assert not (tmp_path / "m").exists()
