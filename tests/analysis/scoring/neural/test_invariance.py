"""What must hold whatever the sentences: order, company and cuts change nothing; probabilities add up."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.ngrams import train_model, write_arpa
from analysis.scoring import scorer
from analysis.scoring.words.regions import score_words
from tests.analysis.scoring.neural.conftest import peaked, saved

torch = pytest.importorskip("torch", reason="neural models are an extra: make install-models")
tokenizers = pytest.importorskip("tokenizers")
transformers = pytest.importorskip("transformers")

WORDS = ["The", "cat", "cats", "near", "dogs", "sleep", "sleeps.", "漢字", "ﬁsh", "é", "🙂", "ا"]
sentences = st.lists(st.lists(st.sampled_from(WORDS), max_size=7).map(" ".join), min_size=1, max_size=12)
few = settings(max_examples=15, deadline=None)


@pytest.fixture(scope="module")
def models(causal, masked, tmp_path_factory):
    """One model of each kind, and the four ways of a causal one."""
    path = tmp_path_factory.mktemp("arpa") / "small.arpa"
    write_arpa(train_model([["The", "cat", "sleeps."], ["The", "cats", "sleep"]], order=3), path)
    tiny = causal("gpt2")
    ways = {
        way: scorer(tiny.address("hf-causal", path=way)) for way in ("tree", "plain", "own-head", "naive")
    }
    return {**ways, "masked": scorer(masked("bert").address("hf-masked")), "arpa": scorer(f"arpa:{path}")}


@pytest.mark.parametrize("name", ["tree", "plain", "own-head", "naive", "masked", "arpa"])
@few
@given(given_sentences=sentences, cut=st.integers(0, 12), data=st.data())
def test_order_duplicates_and_shards_change_no_score(models, name, given_sentences, cut, data):
    model = models[name]
    logprobs = model.score(given_sentences).logprob
    order = data.draw(st.permutations(range(len(given_sentences))))
    turned = model.score([given_sentences[place] for place in order]).logprob
    np.testing.assert_allclose(turned, logprobs[list(order)], atol=1e-4)
    doubled = model.score([*given_sentences, *given_sentences]).logprob
    np.testing.assert_allclose(doubled, np.tile(logprobs, 2), atol=1e-4)
    parts = [part for part in (given_sentences[:cut], given_sentences[cut:]) if part]
    np.testing.assert_allclose(
        np.concatenate([model.score(part).logprob for part in parts]), logprobs, atol=1e-4
    )


@few
@given(words=st.lists(st.sampled_from(WORDS), min_size=2, max_size=7), data=st.data())
def test_a_prefix_and_what_follows_add_up_to_the_whole(models, words, data):
    n = data.draw(st.integers(1, len(words) - 1))
    prefix, following = " ".join(words[:n]), " ".join(words[n:])
    model = models["plain"]
    total, alone = model.score([f"{prefix} {following}", prefix]).logprob
    assert alone + score_words(model, [prefix], [following]).logprob[0] == pytest.approx(total, abs=1e-4)


@pytest.fixture(scope="module")
def six_words(tmp_path_factory):
    """A causal model that knows six words and the end, which is its beginning too."""
    words = {"<end>": 0, **{word: n for n, word in enumerate("abcdef", start=1)}}
    backend = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="<end>"))
    backend.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=backend, eos_token="<end>")
    config = transformers.GPT2Config(
        vocab_size=7, n_embd=24, n_layer=2, n_head=2, n_positions=16, bos_token_id=0, eos_token_id=0
    )
    torch.manual_seed(20)
    return saved(tmp_path_factory.mktemp("six"), peaked(transformers.GPT2LMHeadModel(config)), tokenizer)


@pytest.mark.parametrize("way", ["tree", "plain", "own-head", "naive"])
def test_all_strings_of_six_words_have_together_the_probability_one(six_words, way):
    """Those of at most two words and an end, those of three words without one, and the end alone."""
    ended = scorer(six_words.address("hf-causal", eos="yes", path=way))
    open_end = scorer(six_words.address("hf-causal", path=way))
    strings = {n: [" ".join(letters) for letters in itertools.product("abcdef", repeat=n)] for n in (1, 2, 3)}
    total = np.exp(ended.score([*strings[1], *strings[2]]).logprob).sum()
    total += np.exp(open_end.score(strings[3]).logprob).sum()
    [first] = ended.score(["a"], tokens=True).token_logprobs
    with torch.no_grad():
        logits = six_words.model(input_ids=torch.tensor([[0]])).logits[0, -1].double()
    assert first[0] == pytest.approx(float(torch.log_softmax(logits, -1)[1]), abs=1e-5)
    total += float(torch.softmax(logits, -1)[0])
    assert total == pytest.approx(1.0, abs=1e-5)
