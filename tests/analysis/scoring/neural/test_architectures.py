"""Some of the architectures of ``bench_architectures.py``, of every kind of structure."""

import pytest

torch = pytest.importorskip("torch", reason="neural models are an extra: make install-models")
pytest.importorskip("transformers", reason="neural models are an extra: make install-models")

from benchmarks.scoring.architectures import EXACT, outcome  # noqa: E402

TOGETHER = "sources and sentences of one length together, with the model's own head"
ENDS = {
    ("causal", "bloom"): ("exact", "plain"),
    ("causal", "cohere"): ("exact", "own-head"),
    ("causal", "deepseek_v3"): ("exact", "tree"),
    ("causal", "falcon with alibi"): ("exact", "plain"),
    ("causal", "gemma2 with capped logits"): ("exact", "own-head"),
    ("causal", "jamba"): ("exact", "plain"),
    ("causal", "gpt_oss"): ("exact", "plain"),
    ("causal", "kimi_linear"): ("exact", "plain"),
    ("causal", "llava by its settings"): ("refused", "Unrecognized configuration class"),
    ("causal", "diffusion_gemma by its settings"): ("refused", "Unrecognized configuration class"),
    ("causal", "lfm2"): ("exact", "plain"),
    ("causal", "mamba2"): ("exact", "plain"),
    ("causal", "minimax"): ("exact", "plain"),
    ("causal", "mistral with a wide window"): ("exact", "tree"),
    ("causal", "mixtral"): ("exact", "plain"),
    ("causal", "roberta as decoder"): ("exact", "own-head"),
    ("causal", "roberta"): ("refused", "sees later tokens"),
    ("causal", "t5 as encoder-decoder"): ("refused", "encoder-decoder"),
    ("masked", "bart"): ("exact", "head everywhere"),
    ("masked", "deberta-v2"): ("exact", "last layer and head at the mask"),
    ("masked", "distilbert"): ("exact", "head at the mask"),
    ("masked", "esm"): ("exact", "last layer and head at the mask"),
    ("masked", "modernbert"): ("exact", "head at the mask"),
    ("masked", "mpnet"): ("exact", "head at the mask"),
    ("seq2seq", "bart"): ("exact", TOGETHER),
    ("seq2seq", "t5gemma2"): ("exact", TOGETHER),
    ("seq2seq", "voxtral"): ("refused", "no encoder that reads text"),
    ("masked", "gpt2 as masked"): ("refused", "gpt2 as masked"),
}


@pytest.mark.parametrize(("kind", "name"), ENDS)
def test_an_architecture_is_scored_as_by_a_loop_over_tokens_or_refused(kind, name, tmp_path):
    ended = outcome(kind, name, tmp_path)
    end, detail = ENDS[kind, name]
    assert (ended.kind, ended.worst <= EXACT) == (end, True)
    assert ended.path.partition(":")[0] == detail if end == "exact" else detail in ended.detail
