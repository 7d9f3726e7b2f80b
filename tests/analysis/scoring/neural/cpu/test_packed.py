"""Layers by oneDNN: the same scores, on a processor that has it; where they differ, the model's own stay."""

import numpy as np
import pytest

from analysis.scoring import scorer
from tests.analysis.scoring.neural.conftest import SENTENCES, by_hand, peaked, saved, word_tokenizer
from tests.analysis.scoring.neural.test_classifier import classifier, logits

torch = pytest.importorskip("torch", reason="neural models are an extra: make install-models")
transformers = pytest.importorskip("transformers")
packed = pytest.importorskip("analysis.scoring.neural.cpu.packed")
backend = pytest.importorskip("analysis.scoring.neural.backend")

needs_onednn = pytest.mark.skipif(
    not packed.can_pack(torch.empty(0)), reason="this build of torch has no oneDNN with packed weights"
)
FUSES = {"gpt2": 2, "llama": 2, "opt": 2, "gpt_neox": 2, "qwen2": 2, "phi": 2}  # layers with an activation


def stand_ins(layers):
    """How many layers, and how many of them with their activation."""
    linears = [
        substitution.substitute
        for substitution in layers.substitutions
        if isinstance(substitution.substitute, packed.PackedLinear)
    ]
    return len(linears), sum(linear.activation != "none" for linear in linears)


@needs_onednn
@pytest.mark.parametrize("name", FUSES)
def test_layers_and_activations_of_usual_architectures_are_replaced(causal, name):
    model = causal(name).model
    layers, fused = stand_ins(packed.packed_layers(model))
    linears = [
        module
        for module in model.base_model.modules()
        if isinstance(module, torch.nn.Linear | transformers.Conv1D)
    ]
    assert (layers, fused) == (len(linears), FUSES[name])


@needs_onednn
@pytest.mark.parametrize("name", ["gpt2", "llama"])
def test_scoring_runs_the_replacements_and_leaves_the_model_unchanged(causal, name, monkeypatch):
    ran, forward = [], packed.PackedLinear.forward
    monkeypatch.setattr(
        packed.PackedLinear, "forward", lambda self, rows: ran.append(self.activation) or forward(self, rows)
    )
    model = scorer(causal(name).address("hf-causal"))
    modules = [type(module) for module in model.model.modules()]
    model.score(SENTENCES)
    assert {"none", {"gpt2": "gelu", "llama": "swish"}[name]} == set(ran)
    assert [type(module) for module in model.model.modules()] == modules


@needs_onednn
@pytest.mark.parametrize("name", ["gpt2", "llama", "opt"])
def test_weights_too_large_to_copy_give_the_same_scores(causal, name, monkeypatch):
    monkeypatch.setattr(packed, "MAX_PACKED_BYTES", 0)
    tiny = causal(name)
    logprobs = scorer(tiny.address("hf-causal")).score(SENTENCES).logprob
    np.testing.assert_allclose(logprobs, [by_hand(tiny, sentence) for sentence in SENTENCES], atol=1e-4)


@needs_onednn
def test_large_weights_are_not_copied(causal, monkeypatch):
    model = causal("gpt2").model
    owned = {parameter.untyped_storage().data_ptr() for parameter in model.parameters()}
    for most, shared in ((0, True), (packed.MAX_PACKED_BYTES, False)):
        monkeypatch.setattr(packed, "MAX_PACKED_BYTES", most)
        swapped = [substitution.substitute for substitution in packed.packed_layers(model).substitutions]
        packed_linears = [layer for layer in swapped if hasattr(layer, "packed")]
        lie = {
            not layer.packed.is_mkldnn and layer.packed.untyped_storage().data_ptr() in owned
            for layer in packed_linears
        }
        assert lie == {shared}


class Leaky(torch.nn.Module):
    """Gives what goes into the activation along with what comes out."""

    def __init__(self, block):
        super().__init__()
        self.c_fc, self.act, self.c_proj, self.dropout = block.c_fc, block.act, block.c_proj, block.dropout

    def forward(self, hidden):
        inner = self.c_fc(hidden)
        return self.c_proj(inner + self.act(inner))


@needs_onednn
def test_an_activation_whose_input_is_used_again_stays_by_itself(causal):
    original = causal("gpt2").model
    model = type(original)(original.config)
    model.load_state_dict(original.state_dict())
    model.eval()
    for block in model.transformer.h:
        block.mlp = Leaky(block.mlp)
    layers, fused = stand_ins(packed.packed_layers(model))
    assert layers and not fused


@needs_onednn
@pytest.mark.parametrize("broken", ["other numbers", "an error"])
@pytest.mark.parametrize("kind", ["causal", "masked"])
def test_a_build_that_gives_something_else_is_not_used(request, kind, broken, monkeypatch):
    tiny = request.getfixturevalue(kind)("gpt2" if kind == "causal" else "bert")
    right = scorer(tiny.address(f"hf-{kind}")).score(SENTENCES).logprob

    def forward(self, rows):
        if broken == "an error":
            raise RuntimeError("could not create a primitive")
        return (
            packed.linear(rows, self.packed, self.bias, activation=self.activation, variant=self.variant)
            * 1.1
        )

    monkeypatch.setattr(packed.PackedLinear, "forward", forward)
    assert packed.packed_layers(tiny.model) == packed.PackedLayers()
    np.testing.assert_allclose(scorer(tiny.address(f"hf-{kind}")).score(SENTENCES).logprob, right, atol=1e-4)


@pytest.mark.parametrize("kind", ["causal", "masked"])
def test_without_onednn_a_model_keeps_its_own_layers_and_scores_the_same(request, kind, monkeypatch):
    tiny = request.getfixturevalue(kind)("gpt2" if kind == "causal" else "bert")
    right = scorer(tiny.address(f"hf-{kind}")).score(SENTENCES).logprob

    def missing(*arguments, **options):
        raise AttributeError("'_OpNamespace' 'mkldnn' object has no attribute '_linear_pointwise'")

    packed._works.cache_clear()
    monkeypatch.setattr(packed, "linear", missing)
    try:
        assert not packed.can_pack(torch.empty(0))
        model = scorer(tiny.address(f"hf-{kind}"))
        np.testing.assert_allclose(model.score(SENTENCES).logprob, right, atol=1e-4)
        assert model.why.startswith("tree:" if kind == "causal" else "last layer and head at the mask:")
    finally:
        packed._works.cache_clear()


@needs_onednn
def test_a_classifier_runs_the_replacements_and_gives_the_same_scores(tmp_path, monkeypatch):
    tiny, ran, forward = classifier(tmp_path, ["no", "yes"]), [], packed.PackedLinear.forward
    monkeypatch.setattr(
        packed.PackedLinear, "forward", lambda self, rows: ran.append(1) or forward(self, rows)
    )
    logprobs = scorer(tiny.address("hf-classifier", output="margin", label="yes")).score(SENTENCES).logprob
    margins = [float(np.diff(logits(tiny, sentence))[0]) for sentence in SENTENCES]
    np.testing.assert_allclose(logprobs, margins, atol=1e-4)
    assert ran


@needs_onednn
def test_the_layers_of_a_model_are_made_once(causal, monkeypatch):
    packings, pack = [], packed.packed_layers
    monkeypatch.setattr(
        backend, "packed_layers", lambda model, head: packings.append(1) or pack(model, head=head)
    )
    model = scorer(causal("gpt2").address("hf-causal"))
    for sentences in (["Dogs sleep."], SENTENCES[:9], SENTENCES):
        model.score(sentences)
    assert packings == [1]


@needs_onednn
@pytest.mark.parametrize("act", ["gelu", "gelu_new", "relu", "silu"])
def test_every_activation_gives_what_the_model_gives(tmp_path, act):
    config = transformers.BertConfig(
        vocab_size=300,
        hidden_size=24,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=48,
        max_position_embeddings=64,
        hidden_act=act,
    )
    torch.manual_seed(20)
    tiny = saved(tmp_path, peaked(transformers.BertForMaskedLM(config)), word_tokenizer())
    layers = packed.packed_layers(tiny.model)
    assert stand_ins(layers)[1] == 2
    ids = torch.tensor([tiny.tokenizer(SENTENCES[0])["input_ids"]])
    with torch.inference_mode():
        right = tiny.model(input_ids=ids).logits
        with layers.active():
            logits = tiny.model(input_ids=ids).logits
    torch.testing.assert_close(logits, right, atol=1e-4, rtol=1e-4)
