"""Adapters and quantised models: merged and named where their libraries are, refused by name elsewhere."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from analysis.errors import BadInput
from analysis.scoring import scorer
from analysis.scoring.neural import loading
from tests.analysis.scoring.neural.conftest import SENTENCES, by_hand

torch = pytest.importorskip("torch", reason="neural models are an extra: make install-models")
transformers = pytest.importorskip("transformers")


class Doubled:
    """A double of peft: an adapter that halves one weight."""

    def __init__(self, model, name, revision):
        self.model, self.asked = model, (name, revision)
        self.peft_config = {"default": SimpleNamespace(base_model_name_or_path="someone/other")}

    @classmethod
    def from_pretrained(cls, model, name, revision=None):
        return cls(model, name, revision)

    def merge_and_unload(self):
        with torch.no_grad():
            self.model.transformer.wte.weight.mul_(0.5)
        return self.model


def double_of_peft(monkeypatch, model_class):
    """Import the double as peft; transformers, which looks for the package itself, does not see it."""
    real = loading.import_optional

    def need(module, **options):
        return SimpleNamespace(PeftModel=model_class) if module == "peft" else real(module, **options)

    monkeypatch.setattr(loading, "import_optional", need)


@pytest.fixture
def adapter(tmp_path):
    folder = tmp_path / "adapter"
    folder.mkdir()
    (folder / "adapter_config.json").write_text('{"peft_type": "LORA"}')
    return folder


def test_adapter_is_merged_named_in_the_key_and_warned_of_on_another_model(causal, adapter, monkeypatch):
    double_of_peft(monkeypatch, Doubled)
    tiny = causal("gpt2")
    plain, adapted = (
        scorer(tiny.address("hf-causal")),
        scorer(tiny.address("hf-causal", adapter=str(adapter))),
    )
    assert adapted.spec.options["adapter"].startswith("sha256:") and "adapter" not in plain.spec.options
    assert adapted.spec.spec_id != plain.spec.spec_id
    assert any("trained on someone/other" in warning for warning in adapted.warnings)
    changed = type(tiny)(tiny.folder, adapted.model, tiny.tokenizer)
    scores = adapted.score(SENTENCES[:3]).logprob
    np.testing.assert_allclose(scores, [by_hand(changed, text) for text in SENTENCES[:3]], atol=1e-4)
    assert np.abs(scores - plain.score(SENTENCES[:3]).logprob).max() > 0.1


def test_lora_of_peft_is_read_and_merged(causal, tmp_path):
    peft = pytest.importorskip("peft", reason="adapters are an extra: pip install peft")
    tiny = causal("gpt2")
    torch.manual_seed(3)
    base = transformers.AutoModelForCausalLM.from_pretrained(tiny.folder)
    config = peft.LoraConfig(r=2, target_modules=["c_attn"], task_type="CAUSAL_LM", init_lora_weights=False)
    wrapped = peft.get_peft_model(base, config).eval()
    wrapped.save_pretrained(tmp_path / "lora")
    model = scorer(tiny.address("hf-causal", adapter=str(tmp_path / "lora")))
    beside = type(tiny)(tiny.folder, wrapped, tiny.tokenizer)
    expected = [by_hand(beside, text) for text in SENTENCES[:3]]
    np.testing.assert_allclose(model.score(SENTENCES[:3]).logprob, expected, atol=1e-3)
    assert not any("trained on" in warning for warning in model.warnings)


def test_missing_libraries_are_named_with_what_to_install(causal, adapter, monkeypatch):
    monkeypatch.setitem(sys.modules, "peft", None)
    with pytest.raises(BadInput, match="peft is not installed.*pip install peft"):
        scorer(causal("gpt2").address("hf-causal", adapter=str(adapter)))
    monkeypatch.setitem(sys.modules, "bitsandbytes", None)
    with pytest.raises(BadInput, match="bitsandbytes is not installed.*quantize="):
        scorer(causal("gpt2").address("hf-causal", quantize="int8"))


def test_adapter_that_cannot_be_opened_is_named(causal, tmp_path, monkeypatch):
    class Broken(Doubled):
        @classmethod
        def from_pretrained(cls, model, name, revision=None):
            raise KeyError("lora_A")

    double_of_peft(monkeypatch, Broken)
    (tmp_path / "adapter_config.json").write_text("{}")
    with pytest.raises(BadInput, match="the adapter .* cannot be opened on .*lora_A"):
        scorer(causal("gpt2").address("hf-causal", adapter=str(tmp_path)))


def test_quantised_weights_are_placed_as_loaded_and_are_another_model(causal, monkeypatch):
    """A double of bitsandbytes: the model comes back marked as quantised, and must not be moved."""
    real, load_arguments = transformers.AutoModelForCausalLM.from_pretrained, {}

    def quantised(name, **arguments):
        load_arguments.update(arguments)
        arguments.pop("quantization_config"), arguments.pop("device_map")
        model, info = real(name, **arguments)
        model.is_quantized = True
        monkeypatch.setattr(model, "to", None)
        return model, info

    monkeypatch.setattr(transformers.AutoModelForCausalLM, "from_pretrained", quantised)
    monkeypatch.setattr(loading, "_bitsandbytes", lambda library, quantize: f"settings of {quantize}")
    model = scorer(causal("gpt2").address("hf-causal", quantize="int4"))
    assert load_arguments["quantization_config"] == "settings of int4" and load_arguments["device_map"] == {
        "": "cpu"
    }
    assert model.spec.options["quantization"] == "bitsandbytes int4"
    assert any("quantised" in warning for warning in model.warnings)
    assert np.isfinite(model.score(SENTENCES[:2]).logprob).all()


def test_checkpoint_that_is_quantised_already_names_the_library_it_needs(causal, tmp_path):
    config = (causal("gpt2").folder / "config.json").read_text().rstrip().removesuffix("}")
    for path in causal("gpt2").folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    settings = '"quantization_config": {"quant_method": "gptq", "bits": 4}'
    (tmp_path / "config.json").write_text(f"{config}, {settings}}}")
    with pytest.raises(BadInput, match="(?i)cannot be opened: .*(optimum|gptqmodel)"):
        scorer(f"hf-causal:{tmp_path}")
