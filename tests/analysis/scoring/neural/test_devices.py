"""Precision, device and attention of a model: what is chosen is recorded, what is not there is refused."""

import numpy as np
import pytest

from analysis.errors import BadInput, UnknownName
from analysis.scoring import scorer
from analysis.scoring.neural.loading import resolve_device
from tests.analysis.scoring.neural.conftest import SENTENCES, Tiny, saved

torch = pytest.importorskip("torch", reason="neural models are an extra: make install-models")


@pytest.fixture
def speed(monkeypatch):
    """Set the matrix products per second of each precision."""
    from analysis.scoring.neural.cpu import precision

    speeds = {torch.float32: 70.0, torch.bfloat16: 140.0, torch.float16: 140.0}
    monkeypatch.setattr(precision, "products_per_second", speeds.__getitem__)
    return speeds


def test_precision_of_the_files_is_taken_and_recorded(causal, tmp_path, speed):
    tiny = causal("gpt2")
    assert scorer(tiny.address("hf-causal", dtype="auto")).spec == scorer(tiny.address("hf-causal")).spec
    half = saved(tmp_path, type(tiny.model)(tiny.model.config).to(torch.bfloat16), tiny.tokenizer)
    automatic = scorer(half.address("hf-causal", dtype="auto"))
    assert automatic.spec.dtype == "bfloat16" and automatic.model.dtype == torch.bfloat16
    assert automatic.spec.spec_id == scorer(half.address("hf-causal", dtype="bfloat16")).spec.spec_id
    assert any("bfloat16" in warning for warning in automatic.warnings)


def test_half_precision_of_the_files_is_left_where_the_processor_is_slow_in_it(causal, tmp_path, speed):
    tiny = causal("gpt2")
    half = saved(tmp_path, type(tiny.model)(tiny.model.config).to(torch.bfloat16), tiny.tokenizer)
    speed[torch.bfloat16] = 2.0
    automatic, single = (scorer(half.address("hf-causal", dtype=dtype)) for dtype in ("auto", "float32"))
    assert automatic.spec.dtype == "float32" and automatic.spec.spec_id == single.spec.spec_id
    assert "files have bfloat16; scored in float32, which is 35.0 times as fast" in " ".join(
        automatic.warnings
    )
    assert automatic.score(SENTENCES).logprob.tolist() == single.score(SENTENCES).logprob.tolist()
    kept = scorer(half.address("hf-causal", dtype="bfloat16"))
    assert kept.spec.dtype == "bfloat16"
    assert "dtype=float32 would be 35.0 times as fast" in " ".join(kept.warnings)


def test_products_of_a_precision_are_measured_once():
    from analysis.scoring.neural.cpu.precision import products_per_second

    assert products_per_second(torch.float32) == products_per_second(torch.float32) > 0


@pytest.mark.parametrize("kind", ["hf-causal", "hf-masked"])
def test_attention_of_choice_gives_the_same_scores_under_another_key(causal, masked, kind):
    tiny: Tiny = causal("llama") if kind == "hf-causal" else masked("bert")
    plain = scorer(tiny.address(kind))
    eager = scorer(tiny.address(kind, attn_implementation="eager"))
    assert eager.model.config._attn_implementation == "eager"
    np.testing.assert_allclose(eager.score(SENTENCES).logprob, plain.score(SENTENCES).logprob, atol=1e-4)
    assert eager.spec.options["attention"] == "eager" and "attention" not in plain.spec.options


def test_attention_that_is_not_installed_is_refused_with_the_reason(causal):
    with pytest.raises(BadInput, match="(?i)flash.?attention"):
        scorer(causal("llama").address("hf-causal", attn_implementation="flash_attention_2"))


def test_device_is_chosen_by_number_and_refused_where_it_is_not_there(monkeypatch):
    assert resolve_device("auto") == resolve_device("cpu") == "cpu"
    for name in ("cuda", "cuda:0", "mps"):
        with pytest.raises(BadInput, match="no accelerator is available"):
            resolve_device(name)
    with pytest.raises(UnknownName, match="cuda:N"):
        resolve_device("cuda:first")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert [resolve_device(name) for name in ("auto", "cuda", "cuda:1")] == ["cuda", "cuda", "cuda:1"]
    with pytest.raises(BadInput, match="no cuda:2: the accelerators are numbered 0 to 1"):
        resolve_device("cuda:2")
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    assert resolve_device("mps") == "mps"


def test_number_of_a_device_is_an_option_of_the_model_uri(causal):
    with pytest.raises(BadInput, match="no accelerator is available"):
        scorer(causal("gpt2").address("hf-causal", device="cuda:1"))
