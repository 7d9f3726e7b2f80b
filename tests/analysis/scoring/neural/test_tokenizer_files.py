"""Tokens are those of a folder's tokenizer.json, whatever the library makes of the folder."""

import json

import numpy as np
import pandas as pd
import pytest

from analysis.scoring import score_sentences, scorer
from analysis.scoring.words.sentence_check import check_findings
from tests.analysis.scoring.neural.conftest import CAUSAL, SENTENCES, by_hand, peaked

torch = pytest.importorskip("torch", reason="neural models are an extra: make install-models")
transformers = pytest.importorskip("transformers")
tokenizers = pytest.importorskip("tokenizers")

TEXTS = [*SENTENCES, "ﬁne  cafés", "No <mask> dog"]
SPECIAL = ["<unk>", "<s>", "</s>", "<pad>", "<mask>"]
NAMES = {
    f"{name}_token": token for name, token in zip(("unk", "bos", "eos", "pad", "mask"), SPECIAL, strict=True)
}
# Classes that transformers 5 builds anew from the vocabulary, by kind of model; those of bytes read no file.
CLASSES = {
    "BPE": "GPT2Tokenizer GPT2TokenizerFast RobertaTokenizer Qwen2Tokenizer GPTNeoXTokenizer "
    "DebertaTokenizer GemmaTokenizer CohereTokenizer OpenAIGPTTokenizer ByT5Tokenizer LlamaTokenizerFast "
    "PreTrainedTokenizerFast",
    "Unigram": "XLMRobertaTokenizer T5Tokenizer DebertaV2Tokenizer XGLMTokenizer XLNetTokenizer "
    "MBartTokenizer",
    "WordPiece": "BertTokenizer FunnelTokenizer MPNetTokenizer",
}


def trained(kind):
    """A tokenizer that no class has: spaces, capitals and compatibility forms otherwise than is usual."""
    models, trainers, pre = tokenizers.models, tokenizers.trainers, tokenizers.pre_tokenizers
    settings = {"special_tokens": SPECIAL, "show_progress": False, "vocab_size": 300}
    if kind == "BPE":
        tokenizer = tokenizers.Tokenizer(models.BPE(unk_token="<unk>"))
        tokenizer.normalizer = tokenizers.normalizers.NFKC()
        tokenizer.pre_tokenizer = pre.ByteLevel(add_prefix_space=True)
        trainer = trainers.BpeTrainer(initial_alphabet=pre.ByteLevel.alphabet(), **settings)
    elif kind == "Unigram":
        tokenizer = tokenizers.Tokenizer(models.Unigram())
        tokenizer.normalizer = tokenizers.normalizers.Lowercase()
        tokenizer.pre_tokenizer = pre.Metaspace(prepend_scheme="never")
        trainer = trainers.UnigramTrainer(unk_token="<unk>", **settings)
    else:
        tokenizer = tokenizers.Tokenizer(models.WordPiece(unk_token="<unk>"))
        tokenizer.pre_tokenizer = pre.WhitespaceSplit()
        trainer = trainers.WordPieceTrainer(**settings)
    tokenizer.train_from_iterator(SENTENCES, trainer)
    return tokenizer


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A GPT-2 whose tokenizer is written by each test."""
    folder = tmp_path_factory.mktemp("gpt2")
    config = transformers.GPT2Config(
        **CAUSAL["gpt2"][1] | {"vocab_size": 400}, bos_token_id=1, eos_token_id=2
    )
    torch.manual_seed(20)
    peaked(transformers.GPT2LMHeadModel(config)).save_pretrained(folder)
    return folder


def write(folder, tokenizer, **settings):
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps(NAMES | settings))
    return tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))


@pytest.mark.parametrize("kind", CLASSES)
def test_tokens_are_those_of_the_file_for_every_class(folder, kind):
    warned = []
    for name in CLASSES[kind].split():
        from_file = write(folder, trained(kind), tokenizer_class=name)
        model = scorer(f"hf-causal:{folder}")
        expected = [from_file.encode(text, add_special_tokens=False).ids for text in TEXTS]
        assert model.token_ids(TEXTS) == expected, name
        assert (model.start, model.tokenizer.mask_token_id) == ([1], 4), name
        if any("tokens are those of tokenizer.json; transformers' " in text for text in model.warnings):
            warned.append(name)
    assert set(CLASSES[kind].split()) - set(warned) <= {"LlamaTokenizerFast", "PreTrainedTokenizerFast"}


def test_a_score_is_that_of_the_tokens_of_the_file(folder):
    write(folder, trained("BPE"), tokenizer_class="GPT2TokenizerFast")
    model = scorer(f"hf-causal:{folder}")
    loop = type("Tiny", (), {
        "model": transformers.GPT2LMHeadModel.from_pretrained(folder).eval(),
        "tokenizer": transformers.PreTrainedTokenizerFast.from_pretrained(folder),
    })()  # fmt: skip
    expected = [by_hand(loop, sentence, start=(1,)) for sentence in SENTENCES]
    np.testing.assert_allclose(model.score(SENTENCES).logprob, expected, atol=1e-4)
    [warning] = [text for text in model.warnings if "GPT2Tokenizer" in text]
    assert warning.endswith("would read “Dogs sleep.” as D og s Ġsleep . in place of Ġ D og s Ġsleep .")


def test_a_file_that_cuts_fills_or_strips_changes_no_sentence(folder):
    tokenizer = trained("BPE")
    tokenizer.enable_truncation(3)
    tokenizer.enable_padding(length=50)
    tokenizer.add_special_tokens([tokenizers.AddedToken("<mask>", lstrip=True, rstrip=True)])
    for name in ("GPT2TokenizerFast", "RobertaTokenizer", "PreTrainedTokenizerFast"):
        from_file = write(folder, tokenizer, tokenizer_class=name, model_max_length=4)
        from_file.no_truncation()
        from_file.no_padding()
        tokens = scorer(f"hf-causal:{folder}").token_ids(TEXTS)
        assert tokens == [from_file.encode(text, add_special_tokens=False).ids for text in TEXTS], name


def test_the_check_of_a_run_counts_sentences_that_the_library_reads_otherwise(folder):
    tokenizer = trained("BPE")
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    write(folder, tokenizer, tokenizer_class="GPT2TokenizerFast")
    frame = pd.DataFrame({"sentence_id": ["a", "b", "c"], "sentence": ["Dogs sleep.", " Dogs.", "ﬁsh  "]})
    summary = score_sentences(scorer(f"hf-causal:{folder}"), frame).summary
    findings = {finding.name: finding for finding in check_findings(summary["check"])}
    assert (findings["library"].n, findings["library"].of) == (2, 3)
    assert findings["changed"].examples == ["ﬁ lost in 1"] and "other_text" not in findings
    assert "unknown" not in findings and "same_sentences" not in findings


def test_unknown_pieces_are_shown_as_the_sentence_has_them(masked):
    frame = pd.DataFrame({"sentence_id": ["a", "b"], "sentence": ["the 漢 sleeps", "the 字 sleeps"]})
    summary = score_sentences(scorer(masked("bert").address("hf-masked")), frame, pairs=[("a", "b")]).summary
    same, _, unknown = check_findings(summary["check"])
    assert same.is_grave and same.examples == ["“the 漢 sleeps” = “the 字 sleeps”"]
    assert (unknown.n, unknown.examples) == (2, ["“漢”", "“字”"])
