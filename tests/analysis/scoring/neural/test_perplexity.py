"""Perplexity of texts, their temperature, and entropies, beside loops over tokens."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize_scalar

from analysis.command_line.program import main
from analysis.errors import BadInput, NotEnoughData
from analysis.scoring import scorer
from analysis.scoring.perplexity import calibrate_temperature, text_perplexity
from tests.analysis.scoring.neural.conftest import SENTENCES, saved

torch = pytest.importorskip("torch", reason="neural models are an extra: make install-models")

TEXT = "\n".join(SENTENCES) + "\nNaïve cafés closed.\n"


def logits_of(tiny, ids):
    with torch.no_grad():
        return tiny.model(input_ids=torch.tensor([ids])).logits[0].double()


def windows_by_hand(tiny, *, stride, temperature=1.0):
    """−log p of every token of the text, after the mark and as many tokens as a window of 64 leaves room."""
    ids, nats, end = tiny.tokenizer(TEXT, add_special_tokens=False)["input_ids"], [], 0
    while end < len(ids):
        before, end = end, min(len(ids), end + (stride if end else 63))
        row = [0, *ids[max(0, end - 63) : end]]
        logprobs = torch.log_softmax(logits_of(tiny, row)[:-1] / temperature, -1)
        chosen = logprobs.gather(1, torch.tensor(row[1:])[:, None])[:, 0]
        nats.append(-float(chosen[len(chosen) - (end - before) :].sum()))
    return nats, len(ids)


@pytest.mark.parametrize("stride", [10, 0])
def test_a_document_is_read_in_overlapping_windows_and_each_token_counts_once(causal, stride):
    tiny = causal("gpt2")
    report = text_perplexity(scorer(tiny.address("hf-causal")), TEXT, stride=stride)
    nats, n = windows_by_hand(tiny, stride=stride or 32)
    assert report["tokens"] == n > 150 and report["nats"] == pytest.approx(sum(nats), abs=1e-3)
    assert (report["window"], report["stride"], report["by"]) == (64, stride or 32, "document")
    assert report["bytes"] == len(TEXT.encode()) > report["characters"] == len(TEXT)
    assert report["bits_per_byte"] == pytest.approx(sum(nats) / math.log(2) / len(TEXT.encode()), rel=1e-5)
    assert report["perplexity_per_word"] == pytest.approx(math.exp(sum(nats) / len(TEXT.split())), rel=1e-4)


def test_lines_are_read_by_themselves_and_pseudo_perplexity_is_named(causal, masked):
    lines = [line for line in TEXT.split("\n") if line]
    for model in (scorer(causal("gpt2").address("hf-causal")), scorer(masked("bert").address("hf-masked"))):
        report = text_perplexity(model, TEXT, by="lines")
        scores = model.score(lines)
        assert report["nats"] == pytest.approx(-scores.logprob.sum(), rel=1e-6)
        assert report["tokens"] == scores.n_tokens.sum() and report["stride"] is None
    assert report["kind"] == "pseudo-log-likelihood"
    with pytest.raises(BadInput, match="reads sentences, no document"):
        text_perplexity(model, TEXT, by="document")
    with pytest.raises(NotEnoughData):
        text_perplexity(model, " \n")


def test_the_first_token_without_a_mark_is_counted_as_unscored(causal):
    model = scorer(causal("gpt2").address("hf-causal", bos="none"))
    report = text_perplexity(model, TEXT, stride=20)
    assert report["unscored_tokens"] == 1
    assert report["tokens"] == windows_by_hand(causal("gpt2"), stride=20)[1] - 1


@pytest.fixture
def trained(causal, tmp_path):
    """A model that has learnt a little of the text, and is too certain of it."""
    tiny = causal("llama")
    torch.manual_seed(20)
    model = type(tiny.model)(tiny.model.config)
    ids = torch.tensor([tiny.tokenizer(TEXT, add_special_tokens=False)["input_ids"][:60]])
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(25):
        optimizer.zero_grad()
        model(input_ids=ids, labels=ids).loss.backward()
        optimizer.step()
    return saved(tmp_path, model.eval(), tiny.tokenizer)


def test_the_temperature_is_the_best_and_is_tested_on_other_windows(trained):
    tiny = trained
    report = calibrate_temperature(scorer(tiny.address("hf-causal")), TEXT, stride=20)

    def nats(temperature, part=slice(None)):
        return sum(windows_by_hand(tiny, stride=20, temperature=temperature)[0][part])

    best = minimize_scalar(nats, bounds=(0.3, 4), method="bounded", options={"xatol": 1e-4})
    assert report["status"] == "ok" and report["temperature"] == pytest.approx(best.x, rel=2e-3)
    tested = report["held_out"]
    expected = nats(tested["temperature"], slice(1, None, 2)) / math.log(2) / tested["tokens"]
    assert tested["bits_per_token"] == pytest.approx(expected, rel=1e-4)
    assert tested["bits_per_token"] < tested["bits_per_token_before"]
    with pytest.raises(BadInput, match="temperature already"):
        calibrate_temperature(scorer(tiny.address("hf-causal", temperature="2")), TEXT)


def test_the_command_prints_how_the_text_was_read(causal, tmp_path, capsys):
    (tmp_path / "text.txt").write_text(TEXT)
    arguments = ["perplexity", causal("gpt2").address("hf-causal"), str(tmp_path / "text.txt"), "--calibrate"]
    assert main([*arguments, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["calibration"]["held_out"]["tokens"] > 0
    assert main(arguments) == 0
    printed = capsys.readouterr().out
    assert "windows of 64 tokens, 32 new in each (stride)" in printed
    assert f"temperature {report['calibration']['temperature']:.4f}" in printed


def test_entropies_are_those_of_the_predictions_also_after_a_context(causal, tmp_path):
    tiny = causal("gpt2")
    frame = pd.DataFrame({"sentence_id": ["a", "b"], "sentence": SENTENCES[8:10], "context": ["", "No dog."]})
    frame.to_csv(tmp_path / "s.csv", index=False)
    files = ["--to", str(tmp_path / "scores.csv"), "--tokens", str(tmp_path / "tokens.csv")]
    model = tiny.address("hf-causal")
    assert main(["score", model, "--sentences", str(tmp_path / "s.csv"), "--entropy", *files]) == 0
    table = pd.read_csv(tmp_path / "tokens.csv")
    assert table.loc[table["unit"] != "token", "entropy_bits"].isna().all()
    for name, lead, text in (("a", "", SENTENCES[8]), ("b", "No dog. ", SENTENCES[9])):
        ids = [0, *tiny.tokenizer(lead + text, add_special_tokens=False)["input_ids"]]
        p = torch.softmax(logits_of(tiny, ids)[:-1], -1).numpy()
        rows = table[(table["sentence_id"] == name) & (table["unit"] == "token")]["entropy_bits"]
        expected = -(p * np.log2(p)).sum(axis=1)[len(p) - len(rows) :]
        np.testing.assert_allclose(rows, expected, atol=1e-4)
