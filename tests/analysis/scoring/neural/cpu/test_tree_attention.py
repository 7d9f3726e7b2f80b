"""Attention over trees in bfloat16: near the model's own, only there, and the model stays as it was."""

import numpy as np
import pytest

from analysis.scoring import scorer
from tests.analysis.scoring.neural.conftest import CAUSAL, SENTENCES, by_hand, byte_tokenizer, peaked, saved

torch = pytest.importorskip("torch", reason="neural models are an extra: make install-models")
transformers = pytest.importorskip("transformers")
attention = pytest.importorskip("analysis.scoring.neural.cpu.tree_attention")

HALF = 2**-8  # the step of bfloat16 at 1


def count_products(monkeypatch):
    """Numbers of trees whose attention was computed here."""
    ran, bmm = [], torch.bmm
    monkeypatch.setattr(attention.torch, "bmm", lambda *arguments: ran.append(1) or bmm(*arguments))
    return ran


@pytest.mark.parametrize("name", ["gpt2", "llama", "opt", "gpt_neox", "qwen2", "phi", "grouped"])
def test_sums_in_bfloat16_are_as_near_as_with_the_models_own(causal, name, tmp_path, monkeypatch):
    if name == "grouped":
        config = transformers.LlamaConfig(**{**CAUSAL["llama"][1], "num_key_value_heads": 1})
        torch.manual_seed(20)
        tiny = saved(tmp_path, peaked(transformers.LlamaForCausalLM(config)), byte_tokenizer())
    else:
        tiny = causal(name)
    address = tiny.address("hf-causal", dtype="bfloat16")
    ran = count_products(monkeypatch)
    right = np.array([by_hand(tiny, sentence) for sentence in SENTENCES])
    quick = scorer(address)
    logprobs = quick.score(SENTENCES).logprob
    assert quick.why.startswith("tree:") and ran
    monkeypatch.setattr(attention, "OWN", "nothing has this name")
    model_logprobs = scorer(address).score(SENTENCES).logprob
    assert (
        np.sqrt(np.mean((logprobs - right) ** 2))
        < 1.5 * np.sqrt(np.mean((model_logprobs - right) ** 2)) + 0.02
    )


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_other_numbers_keep_the_models_own_attention(causal, dtype, monkeypatch):
    ran = count_products(monkeypatch)
    scorer(causal("gpt2").address("hf-causal", dtype=dtype)).score(SENTENCES)
    assert not ran


@pytest.mark.parametrize("breaks", [False, True])
def test_a_model_attends_in_its_own_way_afterwards(causal, breaks):
    model = scorer(causal("gpt2").address("hf-causal", dtype="bfloat16")).model
    try:
        with attention.fast_tree_attention(model):
            assert model.config._attn_implementation == attention.NAME
            if breaks:
                raise KeyboardInterrupt
    except KeyboardInterrupt:
        pass
    assert model.config._attn_implementation == "sdpa"


def test_a_model_that_asks_for_eager_attention_keeps_it(causal):
    model = scorer(causal("gpt2").address("hf-causal", dtype="bfloat16")).model
    model.config._attn_implementation = "eager"
    with attention.fast_tree_attention(model):
        assert model.config._attn_implementation == "eager"


class Layer:
    """What transformers tells about a layer whose keys are shared by two heads each."""

    num_key_value_groups, is_causal = 2, True


@pytest.mark.parametrize(
    ("positions", "is_replaced"), [(7, True), (attention.SHORT, True), (attention.SHORT + 1, False)]
)
def test_it_gives_what_torch_gives(positions, is_replaced, monkeypatch):
    torch.manual_seed(1)
    query = torch.randn(3, 4, positions, 16).bfloat16()
    key, value = torch.randn(2, 3, 2, positions, 16).bfloat16()
    sees = torch.rand(3, 1, positions, positions) < 0.4
    sees |= torch.eye(positions, dtype=torch.bool)
    mask = torch.zeros(sees.shape).masked_fill(~sees, torch.finfo(torch.bfloat16).min).bfloat16()
    right = torch.nn.functional.scaled_dot_product_attention(
        query.double(), key.double(), value.double(), attn_mask=mask.double(), scale=0.3, enable_gqa=True
    )
    ran = count_products(monkeypatch)
    output, weights = attention.tree_attention(Layer(), query, key, value, mask, scaling=0.3)
    assert weights is None and bool(ran) is is_replaced
    torch.testing.assert_close(output.double(), right.transpose(1, 2), atol=8 * HALF, rtol=0)
