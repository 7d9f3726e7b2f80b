"""The bound of masked diffusion models, beside the expected value over every set of masked tokens."""

import itertools
import math

import numpy as np
import pytest

from analysis.errors import BadInput
from analysis.scoring import scorer

torch = pytest.importorskip("torch", reason="neural models are an extra: make install-models")
transformers = pytest.importorskip("transformers")

TEXTS = ["The cat sleeps.", "Dogs sleep."]
# As published models are: a class of their own under the name of a causal model.
OWN_CODE = """
from transformers import BertConfig, BertForMaskedLM


class TinyDiffusionConfig(BertConfig):
    model_type = "tiny_diffusion"


class TinyDiffusion(BertForMaskedLM):
    config_class = TinyDiffusionConfig
"""


def expected_bound(tiny, text):
    """Σ over k and every set of k tokens, in double precision."""
    ids = tiny.tokenizer(text)["input_ids"]
    places, mask = range(1, len(ids) - 1), tiny.tokenizer.mask_token_id
    exact, n, total = tiny.model.double(), len(places), 0.0
    for k in range(1, n + 1):
        for hidden in itertools.combinations(places, k):
            copy = [mask if place in hidden else token for place, token in enumerate(ids)]
            with torch.no_grad():
                logprobs = torch.log_softmax(exact(input_ids=torch.tensor([copy])).logits[0], -1)
            total += sum(float(logprobs[place, ids[place]]) for place in hidden) / k / math.comb(n, k)
    tiny.model.float()
    return total


def test_the_bound_is_the_expected_value_over_every_mask_and_samples_estimate_it(masked):
    tiny = masked("bert")
    expected = np.array([expected_bound(tiny, text) for text in TEXTS])
    exact = scorer(tiny.address("hf-diffusion", samples="70000")).score(TEXTS)
    np.testing.assert_allclose(exact.logprob, expected, atol=1e-4)
    assert exact.standard_error.tolist() == [0, 0]
    errors = []
    for seed in range(12):
        model = scorer(tiny.address("hf-diffusion", samples="16", seed=str(seed)))
        estimate = model.score(TEXTS)
        is_sampled = estimate.standard_error > 0
        errors += ((estimate.logprob - expected)[is_sampled] / estimate.standard_error[is_sampled]).tolist()
    assert len(errors) >= 12 and np.mean(np.abs(errors) < 3) > 0.8
    alone = [float(model.score([text]).logprob[0]) for text in TEXTS]
    assert alone == pytest.approx(estimate.logprob.tolist(), abs=1e-5)
    assert any("standard error of log p" in warning for warning in model.warnings)


def test_models_with_code_of_their_own_are_opened_and_take_the_number_of_their_mask(masked, tmp_path):
    tiny = masked("bert")
    tiny.model.save_pretrained(tmp_path)
    tiny.tokenizer.save_pretrained(tmp_path)
    (tmp_path / "tiny_diffusion.py").write_text(OWN_CODE)
    config = transformers.BertConfig.from_pretrained(tmp_path).to_dict()
    parts = {"AutoConfig": "TinyDiffusionConfig", "AutoModelForCausalLM": "TinyDiffusion"}
    config["auto_map"] = {name: f"tiny_diffusion.{part}" for name, part in parts.items()}
    transformers.PretrainedConfig.from_dict({**config, "model_type": "tiny_diffusion"}).to_json_file(
        tmp_path / "config.json", use_diff=False
    )
    number = str(tiny.tokenizer.mask_token_id)
    own = scorer(f"hf-diffusion:{tmp_path}?trust=yes&mask={number}&samples=8")
    assert type(own.model).__name__ == "TinyDiffusion"
    listed = scorer(tiny.address("hf-diffusion", samples="8"))
    np.testing.assert_allclose(own.score(TEXTS).logprob, listed.score(TEXTS).logprob, atol=1e-5)


def test_causal_models_and_models_without_a_mask_are_refused(causal):
    with pytest.raises(BadInput, match="names no mask"):
        scorer(causal("gpt2").address("hf-diffusion"))
    with pytest.raises(BadInput, match="does not see later tokens"):
        scorer(causal("gpt2").address("hf-diffusion", mask="a"))
