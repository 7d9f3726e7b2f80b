"""Scores of tiny models with fixed weights stay what they were when they were written down."""

import json

import numpy as np
import pytest

from analysis.scoring import scorer
from benchmarks.peers import golden_peers
from benchmarks.scoring import golden_models

GOLDEN = json.loads(golden_models.GOLDEN.read_text(encoding="utf-8"))
PEERS = json.loads(golden_peers.GOLDEN.read_text(encoding="utf-8"))["sums"]


def compare(models):
    for name, scores in models.items():
        assert scores["n_tokens"] == GOLDEN[name]["n_tokens"], name
        np.testing.assert_allclose(
            scores["logprob"], GOLDEN[name]["logprob"], rtol=0, atol=1e-4, err_msg=name
        )


def test_ngram_models_give_the_scores_written_down(tmp_path):
    models = golden_models.scores(golden_models.ngram_models(tmp_path))
    assert len(models) == 2
    compare(models)


def test_neural_models_give_the_scores_written_down(tmp_path):
    for package in ("torch", "transformers"):
        pytest.importorskip(package, reason="neural models are an extra: make install-models")
    models = golden_models.scores(golden_models.neural(tmp_path))
    assert {*models, "n-grams of order 2", "n-grams of order 3"} == set(GOLDEN)
    compare(models)


@pytest.mark.parametrize("name", list(golden_peers.ASKED))
def test_sums_are_those_that_minicons_and_lm_eval_gave(tmp_path, name):
    for package in ("torch", "transformers"):
        pytest.importorskip(package, reason="neural models are an extra: make install-models")
    logprobs = scorer(dict(golden_models.neural(tmp_path))[name]).score(golden_models.SENTENCES).logprob
    assert PEERS[name]
    for peer, sums in PEERS[name].items():
        np.testing.assert_allclose(logprobs, sums, rtol=0, atol=1e-4, err_msg=peer)
