"""Critical words after prefixes: one tokenization, boundaries, every kind of model that gives tokens."""

import numpy as np
import pytest

from analysis.errors import BadInput
from analysis.ngrams import train_model, write_arpa
from analysis.scoring import scorer
from analysis.scoring.words.regions import score_regions, score_words
from tests.analysis.scoring.neural.conftest import SENTENCES, by_hand, saved, word_tokenizer

torch = pytest.importorskip("torch", reason="neural models are an extra: make install-models")
tokenizers = pytest.importorskip("tokenizers")
transformers = pytest.importorskip("transformers")

PREFIX, WORD = "The cat near the dogs", "sleeps"


def next_tokens(tiny, text):
    """Log probability of every next token after a text."""
    ids = [0, *tiny.tokenizer(text, add_special_tokens=False)["input_ids"]]
    with torch.no_grad():
        return torch.log_softmax(tiny.model(input_ids=torch.tensor([ids])).logits[0, -1].double(), -1)


def boundaries(tiny):
    """Tokens that begin with a space or a mark of ASCII, and the end."""
    numbers = []
    for piece, number in tiny.tokenizer.get_vocab().items():
        text = tiny.tokenizer.convert_tokens_to_string([piece])
        if number == 1 or (number > 1 and text[:1] and text[0] in " \n\t!\"#%&'()*,-./:;?@[\\]_{}"):
            numbers.append(number)
    return numbers


@pytest.mark.parametrize("name", ["gpt2", "gemma2"])
def test_prefix_and_word_add_up_to_both(causal, name):
    tiny = causal(name)
    model = scorer(tiny.address("hf-causal"))
    prefixes = [sentence.rsplit(" ", 1)[0] for sentence in SENTENCES if sentence.count(" ") > 1]
    words = [sentence.rsplit(" ", 1)[1] for sentence in SENTENCES if sentence.count(" ") > 1]
    logprobs = model.score([f"{prefix} {word}" for prefix, word in zip(prefixes, words, strict=True)]).logprob
    apart = model.score(prefixes).logprob + score_words(model, prefixes, words).logprob
    np.testing.assert_allclose(apart, logprobs, atol=1e-4)


def test_the_correction_adds_the_end_of_the_word_and_takes_its_beginning(causal):
    tiny = causal("gpt2")
    plain = score_words(scorer(tiny.address("hf-causal")), [PREFIX], [WORD]).logprob[0]
    corrected = score_words(scorer(tiny.address("hf-causal", boundary="corrected")), [PREFIX], [WORD])
    end = torch.logsumexp(next_tokens(tiny, f"{PREFIX} {WORD}")[boundaries(tiny)], 0)
    start = torch.logsumexp(next_tokens(tiny, PREFIX)[boundaries(tiny)], 0)
    assert corrected.logprob[0] == pytest.approx(plain + float(end - start), abs=1e-4)


def test_corrections_of_neighbours_cancel_but_for_the_ends(causal):
    tiny = causal("gpt2")
    words = SENTENCES[9].rstrip(".").split()
    prefixes = [" ".join(words[:n]) for n in range(1, len(words))]
    plain, corrected = (
        score_words(scorer(tiny.address("hf-causal", **options)), prefixes, words[1:]).logprob.sum()
        for options in ({}, {"boundary": "corrected"})
    )
    marks = boundaries(tiny)
    ends = [torch.logsumexp(next_tokens(tiny, text)[marks], 0) for text in (" ".join(words), words[0])]
    assert corrected - plain == pytest.approx(float(ends[0] - ends[1]), abs=1e-3)


def test_the_correction_is_in_the_key_and_leaves_whole_sentences_alone(causal):
    tiny = causal("gpt2")
    plain, corrected = (
        scorer(tiny.address("hf-causal", **options)) for options in ({}, {"boundary": "corrected"})
    )
    assert corrected.spec.options["boundary"] == "corrected"
    assert corrected.spec.spec_id != plain.spec.spec_id
    np.testing.assert_allclose(corrected.score(SENTENCES).logprob, plain.score(SENTENCES).logprob, atol=1e-6)


def test_a_tokenizer_without_spaces_has_no_correction(causal, tmp_path):
    folder = saved(tmp_path, causal("gpt2").model, word_tokenizer())
    with pytest.raises(BadInput, match="begin with a space"):
        scorer(folder.address("hf-causal", boundary="corrected", bos="none"))


def test_a_token_that_begins_before_the_word_counts_and_is_flagged(causal):
    tiny = causal("gpt2")
    model = scorer(tiny.address("hf-causal"))
    [token] = {t for t in tiny.tokenizer.tokenize(" near") if "near" in t} or {""}
    assert token, "the tiny tokenizer should hold a word of several letters"
    scores = score_words(model, ["The cat ne", "The cat"], ["ar", "near"], sentences=["The cat near", ""])
    assert scores.is_cut.tolist() == [True, False]
    assert scores.logprob[0] == pytest.approx(scores.logprob[1])


def test_text_between_prefix_and_word_is_taken_from_the_sentence(causal):
    tiny = causal("gpt2")
    model = scorer(tiny.address("hf-causal"))
    logprobs = score_words(model, ["他走", "他走"], ["了", "了"], sentences=["他走了。", "她走了。"]).logprob
    assert logprobs[0] == pytest.approx(by_hand(tiny, "他走了") - by_hand(tiny, "他走"), abs=1e-4)
    assert logprobs[1] == pytest.approx(by_hand(tiny, "他走 了") - by_hand(tiny, "他走"), abs=1e-4)


def test_a_masked_model_gives_the_words_own_tokens(masked):
    model = scorer(masked("bert").address("hf-masked"))
    sentence_scores = model.score([f"{PREFIX} {WORD}"], tokens=True)
    word_places = [k for k, (_, end) in enumerate(sentence_scores.spans[0]) if end > len(PREFIX) + 1]
    scores = score_words(model, [PREFIX], [WORD])
    assert scores.logprob[0] == pytest.approx(sentence_scores.token_logprobs[0][word_places].sum(), abs=1e-5)
    assert scores.n_tokens.tolist() == [len(word_places)]


def test_an_ngram_model_follows_its_own_tokens(tmp_path):
    path = tmp_path / "two.arpa"
    write_arpa(train_model([["the", "cat", "sleeps", "."], ["the", "cats", "sleep", "."]], order=3), path)
    model = scorer(f"arpa:{path}?casing=lower&punctuation=split")
    scores = score_regions(
        model, ["a", "b"], {"a": ("The cat", "sleeps")}, sentences=["The cat  sleeps.", "Cats sleep."]
    )
    rows = model.score(["The cat sleeps."], tokens=True)
    assert scores.logprob[0] == pytest.approx(rows.token_logprobs[0][2])
    assert np.isnan(scores.logprob[1]) and scores.n_tokens.tolist() == [1, 0]
    assert rows.spans == [[(0, 3), (4, 7), (8, 14), (14, 15), (15, 15)]]


@pytest.mark.django_db
def test_the_correction_comes_through_the_cache(causal):
    from releases.scoring.score_cache import CachedScorer

    model = scorer(causal("gpt2").address("hf-causal", boundary="corrected"))
    cached = score_words(CachedScorer(model), [PREFIX], [WORD]).logprob
    assert cached.tolist() == score_words(model, [PREFIX], [WORD]).logprob.tolist()
