"""Recurrent models: the same numbers as a loop over tokens, probabilities that add up, files that fit."""

import json
from itertools import product

import numpy as np
import pytest

from analysis.errors import BadInput
from analysis.scoring import scorer
from analysis.scoring.base import FLAG_EMPTY, FLAG_SAME, FLAG_UNKNOWN
from analysis.scoring.words.regions import score_words
from tests.analysis.scoring.neural.conftest import SENTENCES

torch = pytest.importorskip("torch", reason="neural models are an extra: make install-models")

WORDS = ["<unk>", "<eos>", *dict.fromkeys(" ".join(SENTENCES).split())]


def folder_of(path, words=WORDS, **settings):
    """A folder as Gulordava et al. give theirs: weights of two layers, vocabulary."""
    from analysis.scoring.neural.lstm_model import LSTMModel, Shape

    torch.manual_seed(20)
    model = LSTMModel(Shape(len(words), 12, 16, 2))
    with torch.no_grad():
        for weight in model.parameters():
            weight.mul_(3)
    path.mkdir(exist_ok=True)
    torch.save(model.state_dict(), path / "model.pt")
    (path / "vocab.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
    if settings:
        (path / "config.json").write_text(json.dumps(settings), encoding="utf-8")
    return model.eval()


def one_by_one(model, words, pieces):
    """Sum over tokens, one step of the recurrence at a time."""
    total, state, before = 0.0, None, words.index("<eos>")
    with torch.no_grad():
        for piece in pieces:
            out, state = model.rnn(model.encoder(torch.tensor([[before]])), state)
            before = words.index(piece) if piece in words else words.index("<unk>")
            total += float(torch.log_softmax(model.decoder(out)[0, 0], -1)[before])
    return total


def test_sums_equal_a_loop_over_tokens_whatever_the_order(tmp_path):
    model = folder_of(tmp_path)
    scores = scorer(f"lstm:{tmp_path}").score(SENTENCES, tokens=True)
    for sentence, logprob, row in zip(SENTENCES, scores.logprob, scores.token_logprobs, strict=True):
        assert logprob == pytest.approx(one_by_one(model, WORDS, sentence.split()), abs=1e-4)
        assert row.sum() == pytest.approx(logprob) and len(row) == len(sentence.split())
    turned = scorer(f"lstm:{tmp_path}").score([*SENTENCES[::-1], SENTENCES[3]])
    np.testing.assert_allclose(turned.logprob[:-1][::-1], scores.logprob, atol=1e-5)
    assert turned.logprob[-1] == pytest.approx(scores.logprob[3], abs=1e-5)


def test_the_end_is_added_when_asked_for(tmp_path):
    model = folder_of(tmp_path)
    scores = scorer(f"lstm:{tmp_path}?eos=yes").score(SENTENCES[:1])
    assert scores.logprob[0] == pytest.approx(
        one_by_one(model, WORDS, [*SENTENCES[0].split(), "<eos>"]), abs=1e-4
    )
    assert scores.n_tokens[0] == len(SENTENCES[0].split())


def test_probabilities_of_all_short_strings_add_up(tmp_path):
    words = ["<unk>", "<eos>", "a", "b", "c", "d"]
    folder_of(tmp_path, words)
    plain, ended = scorer(f"lstm:{tmp_path}"), scorer(f"lstm:{tmp_path}?eos=yes")
    pieces = ["a", "b", "c", "d", "never-seen"]
    strings = {n: [" ".join(tokens) for tokens in product(pieces, repeat=n)] for n in (1, 2, 3)}
    totals = {n: float(np.exp(plain.score(texts).logprob).sum()) for n, texts in strings.items()}
    closed = {n: float(np.exp(ended.score(texts).logprob).sum()) for n, texts in strings.items()}
    assert all(total < 1 for total in totals.values())
    # what does not go on ends: P(length ≥ n) - P(length ≥ n+1) = P(ends after n)
    for n in (1, 2):
        assert totals[n] - totals[n + 1] == pytest.approx(closed[n], abs=1e-6)
    ends_at_once = 1 - totals[1]
    assert ends_at_once + closed[1] + closed[2] + totals[3] == pytest.approx(1, abs=1e-6)


def test_characters_are_tokens_when_the_folder_is_configured_so(tmp_path):
    words = ["<unk>", "<eos>", *"他她走了来"]
    model = folder_of(tmp_path, words, tokens="chars")
    scores = scorer(f"lstm:{tmp_path}").score(["他走了", "她 来 了", "他跑了"])
    assert scores.n_tokens.tolist() == [3, 3, 3] and scores.n_unk.tolist() == [0, 0, 1]
    assert scores.logprob[1] == pytest.approx(one_by_one(model, words, "她来了"), abs=1e-4)


def test_empty_unknown_and_indistinguishable_sentences_are_flagged(tmp_path):
    folder_of(tmp_path)
    scores = scorer(f"lstm:{tmp_path}").score(["", "Zebras Dogs", "Gnus Dogs", "Dogs sleep."])
    assert np.isnan(scores.logprob[0]) and np.isfinite(scores.logprob[1:]).all()
    expected = FLAG_UNKNOWN | FLAG_SAME
    assert scores.flags.tolist() == [FLAG_EMPTY, expected, expected, 0]


def test_a_critical_word_has_its_probability_after_the_prefix(tmp_path):
    folder_of(tmp_path)
    model = scorer(f"lstm:{tmp_path}")
    rows = model.score(["The cat near"], tokens=True).token_logprobs
    assert score_words(model, ["The cat"], ["near"]).logprob[0] == pytest.approx(rows[0][2])


def test_a_pickled_module_is_never_run_but_explained(tmp_path):
    model = folder_of(tmp_path)
    torch.save(model, tmp_path / "model.pt")
    with pytest.raises(BadInput, match=r"pickled model.*state_dict"):
        scorer(f"lstm:{tmp_path}")


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (lambda path: (path / "vocab.txt").write_text("<unk>\n<eos>\na\n"), "3 lines, the model"),
        (lambda path: (path / "vocab.txt").write_text("a\nb\n"), "no <unk>"),
        (lambda path: (path / "vocab.txt").write_text("<unk>\na\na\n"), r"row 3.*twice"),
        (lambda path: (path / "vocab.txt").unlink(), "no vocabulary"),
        (lambda path: (path / "model.pt").unlink(), "no such file"),
        (lambda path: torch.save({"encoder.weight": torch.ones(2, 2)}, path / "model.pt"), "rnn.weight_ih"),
        (lambda path: (path / "config.json").write_text("["), "settings"),
    ],
)
def test_a_folder_that_does_not_fit_is_refused(tmp_path, harm, message):
    folder_of(tmp_path)
    harm(tmp_path)
    with pytest.raises(BadInput, match=message):
        scorer(f"lstm:{tmp_path}")


def test_the_revision_names_the_weights(tmp_path):
    folder_of(tmp_path)
    before = scorer(f"lstm:{tmp_path}").spec
    state = torch.load(tmp_path / "model.pt", weights_only=True)
    state["decoder.bias"][0] += 1
    torch.save(state, tmp_path / "model.pt")
    assert scorer(f"lstm:{tmp_path}").spec.spec_id != before.spec_id
