"""The program that makes learning curves in small, on text and pairs of our own generator."""

import json
import sys

import pandas as pd
import pytest

from benchmarks.scoring import learning_curves
from experiments.generation import acceptable_sentences, minimal_pairs

pytest.importorskip("torch", reason="neural models are an extra: make install-models")


def test_models_of_two_sizes_and_seeds_are_averaged_and_drawn(tmp_path, monkeypatch, capsys):
    (tmp_path / "text.txt").write_text("\n".join(acceptable_sentences(300, seed=3)))
    pairs = minimal_pairs("regular_plural_subject_verb_agreement_1", 12, seed=1)
    rows = pairs[["sentence_good", "sentence_bad", "UID", "linguistics_term", "pairID"]].astype(str)
    lines = [json.dumps(row) for row in rows.to_dict("records")]
    (tmp_path / "pairs.jsonl").write_text("\n".join(lines))
    monkeypatch.setattr(learning_curves, "HELD_OUT", 30)
    monkeypatch.setattr(learning_curves, "SHORT", ["--vocabulary", "200", "--epochs", "1"])
    words = ["--text", tmp_path / "text.txt", "--pairs", tmp_path / "pairs.jsonl", "--out", tmp_path / "out"]
    more = ["--sizes", "60", "120", "--seeds", "1", "2", "--pairs-each", "10"]
    monkeypatch.setattr(sys, "argv", ["learning_curves.py", "blimp", *map(str, words), *more])
    learning_curves.main()
    output = capsys.readouterr().out
    assert "manage.py train_lm" in output and "10 pairs;" in output
    models = pd.read_csv(tmp_path / "out" / "models.csv")
    assert models.groupby("family")["training_tokens"].nunique().to_dict() == {"lstm": 2, "trigram": 2}
    scores = pd.read_csv(tmp_path / "out" / "scores.csv")
    assert list(scores.columns[1:]) == list(models["model"]) and len(scores) == 20
    right = {model: scores.set_index("sentence_id")[model] for model in models["model"]}
    tested = pd.read_csv(tmp_path / "out" / "pairs.csv")
    shares = [
        (right[model][tested["good_id"]].to_numpy() > right[model][tested["bad_id"]].to_numpy()).mean()
        for model in ("lstm-120-1", "lstm-120-2")
    ]
    row = next(line for line in output.splitlines() if line.startswith("| lstm") and "| 2 |" in line)
    last = [line for line in output.splitlines() if line.startswith("| lstm |  |")][-1].split(" | ")
    assert row and float(last[5]) == pytest.approx(100 * sum(shares) / 2, abs=0.01)
    assert (tmp_path / "out" / "learning-curves-lstm.png").read_bytes().startswith(b"\x89PNG")
