"""The words that pll-l2r masks come from the text, whatever tokenizer a model has."""

import itertools

import numpy as np
import pandas as pd
import pytest

from analysis.scoring import scorer
from analysis.scoring.conventions import scoring_conventions
from analysis.scoring.frames import score_sentences
from tests.analysis.scoring.neural.conftest import SENTENCES, peaked

torch = pytest.importorskip("torch", reason="neural models are an extra: make install-models")
transformers = pytest.importorskip("transformers")
tokenizers = pytest.importorskip("tokenizers")

TEXTS = [
    "The cat near the dogs sleeps.",
    "Who didn't co-operate, the dogs?",
    "ﬁne cafés near İzmir  sleep 😀 well",
    "我不喜欢这只猫。",
    "她 喜欢 iPad吗",
    "ผมเห็นแมว",
]
SPACELESS, SIGNS = set("我不喜欢这只猫她吗ผมเหนแมว"), set("็")
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
MASK = 4
BYTES = [f"<0x{number:02X}>" for number in range(256)]
MODELS = {
    "BPE": lambda: tokenizers.models.BPE(unk_token="[UNK]"),
    "characters": lambda: tokenizers.models.BPE(unk_token="[UNK]"),
    "BPE and bytes": lambda: tokenizers.models.BPE(unk_token="[UNK]", byte_fallback=True, fuse_unk=True),
    "WordPiece": lambda: tokenizers.models.WordPiece(unk_token="[UNK]"),
    "Unigram": tokenizers.models.Unigram,
}
NORMALIZERS = {
    "as they are": None,
    "NFKC": tokenizers.normalizers.NFKC(),
    "BERT, uncased": tokenizers.normalizers.BertNormalizer(lowercase=True),
    "Gemma": tokenizers.normalizers.Replace(" ", "▁"),
    "Llama": tokenizers.normalizers.Sequence([
        tokenizers.normalizers.Prepend("▁"), tokenizers.normalizers.Replace(" ", "▁")
    ]),
}  # fmt: skip
PRE_TOKENIZERS = {
    "none": None,
    "Metaspace, whole": tokenizers.pre_tokenizers.Metaspace(split=False, prepend_scheme="first"),
    "Metaspace": tokenizers.pre_tokenizers.Metaspace(),
    "BERT": tokenizers.pre_tokenizers.BertPreTokenizer(),
    "byte level": tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=True),
}


def trained(model, normalizer, pre_tokenizer):
    """A tokenizer of these parts, trained on some of the texts, so that the others have unknown letters."""
    tokenizer = tokenizers.Tokenizer(MODELS[model]())
    if NORMALIZERS[normalizer]:
        tokenizer.normalizer = NORMALIZERS[normalizer]
    if PRE_TOKENIZERS[pre_tokenizer]:
        tokenizer.pre_tokenizer = PRE_TOKENIZERS[pre_tokenizer]
    settings = {"special_tokens": SPECIAL, "show_progress": False, "vocab_size": 300}
    trainers = tokenizers.trainers
    if model == "Unigram":
        trainer = trainers.UnigramTrainer(unk_token="[UNK]", **settings)
    elif model == "WordPiece":
        trainer = trainers.WordPieceTrainer(**settings)
    else:
        settings["special_tokens"] = SPECIAL + (BYTES if model == "BPE and bytes" else [])
        settings["vocab_size"] = len(settings["special_tokens"]) + (1 if model == "characters" else 150)
        trainer = trainers.BpeTrainer(**settings)
    tokenizer.train_from_iterator(SENTENCES + TEXTS[:2] + TEXTS[3:4], trainer)
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return tokenizer


def word_of_each_character(text):
    """White space is None; a letter of a script without spaces is a word, with the signs over it."""
    numbers, number, before = [], -1, " "
    for letter in text:
        apart = before == " " or {letter, before} & SPACELESS or before in SIGNS
        number += letter != " " and letter not in SIGNS and bool(apart)
        numbers.append(None if letter == " " else number)
        before = letter
    return numbers


def masked_with(text, offsets):
    """For each token the tokens masked in its copy: itself, and those after it up to the next word."""
    by_character = word_of_each_character(text)
    touched = []
    for start, end in offsets:
        inside = {number for number in by_character[start:end] if number is not None}
        following = [number for number in by_character[start:] if number is not None]
        touched.append(inside or {following[0] if following else len(text)})
    rows = []
    for place in range(len(offsets)):
        later = place + 1
        while later < len(offsets) and min(touched[later]) <= max(set().union(*touched[:later])):
            later += 1
        rows.append(range(place, later))
    return rows


def by_hand(model, tokenizer, text, *, rows):
    """Σ log p of each token in a copy of its own, in double precision."""
    ids, total = tokenizer.encode(text).ids, 0.0
    for place, hidden in enumerate(rows, start=1):
        copy = list(ids)
        for k in hidden:
            copy[k + 1] = MASK
        with torch.no_grad():
            logits = model(input_ids=torch.tensor([copy])).logits[0, place]
        total += float(torch.log_softmax(logits, -1)[ids[place]])
    return total


@pytest.fixture(scope="module")
def bert():
    torch.manual_seed(20)
    config = transformers.BertConfig(
        vocab_size=700, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32
    )
    return peaked(transformers.BertForMaskedLM(config))


def test_word_by_word_scores_equal_a_loop_with_every_kind_of_tokenizer(bert, tmp_path):
    bert.save_pretrained(tmp_path)
    exact = transformers.BertForMaskedLM.from_pretrained(tmp_path, dtype=torch.float64).eval()
    kinds = [
        (model, normalizer, pre_tokenizer)
        for model, normalizer, pre_tokenizer in itertools.product(MODELS, NORMALIZERS, PRE_TOKENIZERS)
        if model == "BPE" or normalizer == "as they are" or pre_tokenizer == "Metaspace, whole"
    ]
    assert len(kinds) >= 40
    n_words_of_several = 0
    for kind in kinds:
        tokenizer = trained(*kind)
        names = {f"{name[1:-1].lower()}_token": name for name in SPECIAL}
        wrapped = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names)
        wrapped.save_pretrained(tmp_path)
        tokenizer = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
        rows = [masked_with(text, tokenizer.encode(text, add_special_tokens=False).offsets) for text in TEXTS]
        n_words_of_several += sum(len(hidden) > 1 for row in rows for hidden in row)
        expected = [by_hand(exact, tokenizer, text, rows=row) for text, row in zip(TEXTS, rows, strict=True)]
        scores = scorer(f"hf-masked:{tmp_path}").score(TEXTS)
        np.testing.assert_allclose(scores.logprob, expected, atol=1e-4, err_msg=str(kind))
    assert n_words_of_several > 1_000


def test_the_conventions_name_the_words_and_another_rule_is_another_key(bert, tmp_path):
    bert.save_pretrained(tmp_path)
    names = {f"{name[1:-1].lower()}_token": name for name in SPECIAL}
    tokenizer = trained("WordPiece", "as they are", "BERT")
    transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names).save_pretrained(tmp_path)
    frame = pd.DataFrame({"sentence_id": ["a"], "sentence": ["The dogs sleep."]})
    records = [
        score_sentences(scorer(f"hf-masked:{tmp_path}{rule}"), frame).summary
        for rule in ("", "?words=punctuation", "?method=pll")
    ]
    words = [scoring_conventions(record)["words masked"] for record in records]
    assert words[0] == "between white space; single characters in scripts without spaces"
    assert words[1].startswith("between white space and punctuation marks") and words[2] == "–"
    assert len({record["spec_id"] for record in records}) == 3


def test_phrases_of_scripts_without_spaces_can_be_the_words(bert, tmp_path):
    """Two phrases are masked as two words, not as six characters, and the rule is named with its version."""
    budoux = pytest.importorskip("budoux")
    bert.save_pretrained(tmp_path)
    names = {f"{name[1:-1].lower()}_token": name for name in SPECIAL}
    trained("characters", "as they are", "none").save(str(tmp_path / "tokenizer.json"))
    wrapped = transformers.PreTrainedTokenizerFast(tokenizer_file=str(tmp_path / "tokenizer.json"), **names)
    wrapped.save_pretrained(tmp_path)
    exact = transformers.BertForMaskedLM.from_pretrained(tmp_path, dtype=torch.float64).eval()
    text, phrases = "我不喜欢 这只猫。", ["我", "不", "喜欢", "这", "只猫。"]
    assert budoux.load_default_simplified_chinese_parser().parse(text.replace(" ", "")) == phrases
    tokenizer = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    offsets = tokenizer.encode(text, add_special_tokens=False).offsets
    ends = [1, 2, 4, 6, 9]  # of phrases; the space counts with the phrase after it
    rows = [
        range(place, sum(start < next(end for end in ends if end > offset) for start, _ in offsets))
        for place, (offset, _) in enumerate(offsets)
    ]
    expected = by_hand(exact, tokenizer, text, rows=rows)
    model = scorer(f"hf-masked:{tmp_path}?words=phrases-zh-hans")
    assert model.score([text]).logprob == pytest.approx([expected], abs=1e-4)
    assert scorer(f"hf-masked:{tmp_path}").score([text]).logprob != pytest.approx([expected], abs=5e-4)
    frame = pd.DataFrame({"sentence_id": ["a"], "sentence": [text]})
    named = scoring_conventions(score_sentences(model, frame).summary)["words masked"]
    assert (
        named == f"between white space; BudouX's phrases of simplified Chinese, version {budoux.__version__}"
    )
