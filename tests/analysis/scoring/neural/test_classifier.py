"""What a classifier says: the signed confidence of the ADC paper, and the margin."""

import numpy as np
import pytest

from analysis.errors import BadInput, UnknownName
from analysis.scoring import scorer
from tests.analysis.scoring.neural.conftest import SENTENCES, SMALL, peaked, saved, word_tokenizer

torch = pytest.importorskip("torch", reason="neural models are an extra: make install-models")
transformers = pytest.importorskip("transformers")


def classifier(folder, labels):
    config = transformers.BertConfig(
        **SMALL,
        intermediate_size=48,
        max_position_embeddings=64,
        id2label=dict(enumerate(labels)),
        label2id={label: place for place, label in enumerate(labels)},
        num_labels=len(labels),
    )
    torch.manual_seed(20)
    return saved(folder, peaked(transformers.BertForSequenceClassification(config)), word_tokenizer())


def logits(tiny, sentence):
    with torch.no_grad():
        return tiny.model(**tiny.tokenizer(sentence, return_tensors="pt")).logits[0].double().numpy()


def test_confidence_is_the_winning_probability_with_the_label_as_its_sign(tmp_path):
    tiny = classifier(tmp_path, ["unacceptable", "acceptable"])
    confidence = scorer(tiny.address("hf-classifier")).score(SENTENCES).logprob
    margin = scorer(tiny.address("hf-classifier", output="margin")).score(SENTENCES).logprob
    for sentence, sure, far in zip(SENTENCES, confidence, margin, strict=True):
        bad, good = logits(tiny, sentence)
        chance = np.exp(good) / (np.exp(good) + np.exp(bad))
        assert far == pytest.approx(good - bad, abs=1e-4)
        assert sure == pytest.approx(chance if chance >= 0.5 else chance - 1, abs=1e-5)
    assert (np.abs(confidence) >= 0.5).all()


def test_the_label_may_be_first_and_is_found_by_its_name(tmp_path):
    tiny = classifier(tmp_path, ["acceptable", "bad"])
    first = scorer(tiny.address("hf-classifier", output="margin")).score(SENTENCES).logprob
    other = scorer(tiny.address("hf-classifier", output="margin", label="bad")).score(SENTENCES).logprob
    np.testing.assert_allclose(first, -other)


@pytest.mark.parametrize(
    ("labels", "good"),
    [
        (["grammatical", "ungrammatical"], 0),
        (["incorrect", "CORRECT"], 1),
        (["VALID", "INVALID"], 0),
        (["acceptable sentence", "bad"], 0),
        (["not_acceptable", "acceptable"], 1),
        (["well-formed", "ill-formed"], 0),
        (["1", "0"], 0),
        (["LABEL_0", "LABEL_1"], 1),
    ],
)
def test_the_label_for_acceptable_is_found_by_its_meaning(tmp_path, labels, good):
    tiny = classifier(tmp_path, labels)
    opened = scorer(tiny.address("hf-classifier", output="margin"))
    value = opened.score(SENTENCES[:1]).logprob[0]
    by_place = logits(tiny, SENTENCES[0])
    assert value == pytest.approx(by_place[good] - by_place[1 - good], abs=1e-4)
    assert ("only numbered" in " ".join(opened.warnings)) == (labels[0] in ("1", "LABEL_0"))


@pytest.mark.parametrize(
    "labels",
    [["entailment", "not_entailment"], ["yes", "no"], ["bad", "incorrect"], ["negative", "positive"]],
)
def test_labels_without_a_known_meaning_are_listed_and_asked_for(tmp_path, labels):
    tiny = classifier(tmp_path, labels)
    with pytest.raises(BadInput, match=rf"{labels[0]!r} and {labels[1]!r}.*\?label=NAME"):
        scorer(tiny.address("hf-classifier"))
    margins = [
        scorer(tiny.address("hf-classifier", output="margin", label=label)).score(SENTENCES[:1]).logprob[0]
        for label in (labels[0], "0", labels[1], "1")
    ]
    assert margins[0] == margins[1] == -margins[2] == -margins[3]


def test_three_labels_and_unknown_ones_are_refused(tmp_path):
    with pytest.raises(BadInput, match="3 labels"):
        scorer(classifier(tmp_path / "a", ["a", "b", "c"]).address("hf-classifier"))
    with pytest.raises(UnknownName, match="good"):
        scorer(classifier(tmp_path / "b", ["no", "yes"]).address("hf-classifier", label="good"))


def test_a_model_without_a_head_of_this_kind_is_refused_not_given_one_at_random(causal, tmp_path):
    with pytest.raises(BadInput, match="as GPT2ForSequenceClassification: its files lack score.weight"):
        scorer(causal("gpt2").address("hf-classifier"))
    body = classifier(tmp_path / "bert", ["unacceptable", "acceptable"])
    with pytest.raises(BadInput, match="lack cls"):
        scorer(body.address("hf-masked"))


def test_a_classifier_without_padding_is_asked_one_by_one(causal, tmp_path):
    config = transformers.GPT2Config(vocab_size=300, n_embd=24, n_layer=1, n_head=2, num_labels=2)
    tiny = saved(
        tmp_path, peaked(transformers.GPT2ForSequenceClassification(config)), causal("gpt2").tokenizer
    )
    logprobs = scorer(tiny.address("hf-classifier", output="margin")).score(SENTENCES).logprob
    for sentence, margin in zip(SENTENCES, logprobs, strict=True):
        bad, good = logits(tiny, sentence)
        assert margin == pytest.approx(good - bad, abs=1e-4)
