"""A fast path is taken where a model's structure allows it and single precision proves it."""

import numpy as np
import pytest

from analysis.scoring import scorer
from tests.analysis.scoring.neural.conftest import SENTENCES, byte_tokenizer, saved

torch = pytest.importorskip("torch", reason="neural models are an extra: make install-models")
pytest.importorskip("transformers", reason="neural models are an extra: make install-models")

from analysis.scoring.neural.causal_paths import Naive, Tree  # noqa: E402
from analysis.scoring.neural.cpu.heads import TiledHead  # noqa: E402
from analysis.scoring.neural.probe import SinglePrecision  # noqa: E402
from analysis.scoring.neural.structure import tree_obstacle  # noqa: E402
from analysis.scoring.neural.trees import NODES, PrefixTree  # noqa: E402
from benchmarks.scoring.architectures import tiny_model  # noqa: E402

OBSTACLES = {
    "gpt2": "",
    "llama": "",
    "qwen3": "",
    "gptj": "",
    "olmoe": "",
    "deepseek_v3": "",
    "mpt": "takes no position ids",
    "bloom": "takes no position ids",
    "falcon with alibi": "ALiBi",
    "jamba": "recurrent state",
    "lfm2": "convolution",
    "rwkv": "takes no position ids",
    "deepseek_v32": "layers of the kind indexed_attention",
    "mistral": "window of 6 tokens",
    "gpt_neo": "window of 4 tokens",
}


def saved_causal(folder, name):
    return saved(folder, tiny_model("causal", name), byte_tokenizer())


@pytest.mark.parametrize("name", OBSTACLES)
def test_structure_determines_which_models_can_share_prefixes(name):
    obstacle = tree_obstacle(tiny_model("causal", name), n_tokens=20)
    assert OBSTACLES[name] in obstacle and bool(OBSTACLES[name]) == bool(obstacle)


def test_a_window_is_no_obstacle_to_sentences_that_it_holds():
    assert tree_obstacle(tiny_model("causal", "mistral"), n_tokens=6) == ""


@pytest.mark.parametrize(("name", "dtype"), [("mpt", "bfloat16"), ("jamba", "bfloat16"), ("lfm2", "float32")])
def test_models_that_rounding_hid_take_no_trees(name, dtype, tmp_path):
    tiny = saved_causal(tmp_path, name)
    model, naive = (scorer(tiny.address("hf-causal", dtype=dtype, path=path)) for path in ("auto", "naive"))
    values, expected = (scoring_model.score(SENTENCES).logprob for scoring_model in (model, naive))
    assert "tree does not apply" in model.why and not model.why.startswith("naive")
    np.testing.assert_allclose(values, expected, atol=1e-4 if dtype == "float32" else 0.1)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_a_tree_whose_siblings_see_each_other_is_not_taken(dtype, causal, monkeypatch):
    monkeypatch.setattr(PrefixTree, "sees", lambda tree: np.tri(len(tree.token), dtype=bool))
    model = scorer(causal("gpt2").address("hf-causal", dtype=dtype))
    model.score(SENTENCES)
    assert model.why.startswith("plain: ") and "tree differs by" in model.why


def test_an_error_smaller_than_rounding_is_found_in_half_precision(causal, monkeypatch):
    log_normalizer = TiledHead.log_normalizer
    # Far below the rounding of bfloat16, above what single precision allows.
    monkeypatch.setattr(TiledHead, "log_normalizer", lambda head, rows: log_normalizer(head, rows) + 1e-4)
    model = scorer(causal("gpt2").address("hf-causal", dtype="bfloat16"))
    model.score(SENTENCES)
    assert model.why.startswith("own-head: ")
    assert model.why.count("in single precision") == 3


def test_a_path_that_rounds_much_more_than_the_model_is_not_taken(causal, monkeypatch):
    trees_hidden = Tree._trees_hidden

    def coarse(path, trees):
        hidden = trees_hidden(path, trees)
        is_half = hidden.dtype == torch.bfloat16
        return hidden + 0.05 * torch.randn_like(hidden) * hidden.abs() if is_half else hidden

    monkeypatch.setattr(Tree, "_trees_hidden", coarse)
    model = scorer(causal("gpt2").address("hf-causal", dtype="bfloat16"))
    model.score(SENTENCES)
    assert model.why.startswith("plain: ") and "tree has " in model.why


@pytest.mark.parametrize("name", ["gpt2", "mixtral", "jamba"])
def test_single_precision_of_half_weights_is_that_of_a_converted_model(name):
    model = tiny_model("causal", name).to(torch.bfloat16)
    sequences = [[0, 5, 9, 30, 41, 6], [0, 5, 9, 8]]
    with SinglePrecision():
        values = Naive(model).run(sequences)
    rounded = Naive(model).run(sequences)
    expected = Naive(model.float()).run(sequences)
    np.testing.assert_allclose(np.concatenate(values), np.concatenate(expected), atol=2e-5)
    assert np.abs(np.concatenate(rounded) - np.concatenate(expected)).max() > 1e-4


def test_the_test_fills_a_tree_as_the_work_does_and_turns_it(causal, monkeypatch):
    sizes, orders = [], []
    trees_hidden = Tree._trees_hidden

    def spied(path, trees):
        sizes.extend(len(tree.token) for tree in trees)
        orders.append(path.descending)
        return trees_hidden(path, trees)

    monkeypatch.setattr(Tree, "_trees_hidden", spied)
    work = [f"{sentence} {word}" for sentence in SENTENCES for word in ("Who?", "Dogs sleep.", "No.")]
    scorer(causal("gpt2").address("hf-causal")).score(work)
    tested = sizes[: len(sizes) - sizes[::-1].index(sizes[-1])]
    assert max(tested) > 0.75 * NODES and {True, False} == set(orders)


def test_choosing_again_is_left_to_longer_sentences_and_fuller_trees(causal, monkeypatch):
    model, tested = scorer(causal("gpt2").address("hf-causal")), []
    run_naive = Naive.run
    monkeypatch.setattr(
        Naive, "run", lambda path, work, **more: tested.append(1) or run_naive(path, work, **more)
    )
    n_tests = []
    for sentences in (["Dogs sleep."], SENTENCES[:9], SENTENCES[2:9], SENTENCES, SENTENCES[::-1]):
        tested.clear()
        model.score(sentences)
        n_tests.append(len(tested))
    assert n_tests == [1, 1, 0, 1, 0]
