"""Marks before a sentence and pieces of a target, as each tokenizer writes them itself."""

import json
import sys
from types import ModuleType

import pytest

from analysis.scoring import scorer
from tests.analysis.scoring.neural.conftest import (
    CAUSAL,
    SENTENCES,
    SIZE,
    SMALL,
    by_hand,
    byte_tokenizer,
    peaked,
    saved,
)

torch = pytest.importorskip("torch", reason="neural models are an extra: make install-models")
transformers = pytest.importorskip("transformers")
tokenizers = pytest.importorskip("tokenizers")

WORDS = sorted({word for sentence in SENTENCES for word in sentence.split()})
SIDES = '''
import json
from transformers import PreTrainedTokenizer


class SidesTokenizer(PreTrainedTokenizer):
    """Characters of a source, words of a target, as Marian has two models of pieces."""

    vocab_files_names = {"vocab_file": "vocab.json"}

    def __init__(self, vocab_file, **settings):
        self.vocab = json.load(open(vocab_file))
        self.is_target = False
        super().__init__(**settings)

    vocab_size = property(lambda self: len(self.vocab))

    def get_vocab(self):
        return dict(self.vocab)

    def _tokenize(self, text):
        return text.split() if self.is_target else list(text.replace(" ", ""))

    def _convert_token_to_id(self, token):
        return self.vocab.get(token, self.vocab["<unk>"])

    def _convert_id_to_token(self, index):
        return list(self.vocab)[index]

    def build_inputs_with_special_tokens(self, ids, pair=None):
        return ids + [self.vocab["</s>"]]

    def _switch_to_target_mode(self):
        self.is_target = True

    def _switch_to_input_mode(self):
        self.is_target = False
'''


def causal_model(prefix, settings, folder, *, begin, **marks):
    """A model whose tokenizer writes the tokens ``begin`` before a sentence."""
    config = getattr(transformers, f"{prefix}Config")(**settings, bos_token_id=0, eos_token_id=1)
    config.pad_token_id = 1
    torch.manual_seed(20)
    tokenizer = byte_tokenizer(**marks)
    ids = tokenizer.get_vocab()
    tokenizer.backend_tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single=f"{' '.join(begin)} $A", special_tokens=[(mark, ids[mark]) for mark in begin]
    )
    return saved(folder, peaked(transformers.AutoModelForCausalLM.from_config(config)), tokenizer)


def test_a_tokenizer_that_begins_with_its_end_mark_is_followed_and_named(tmp_path):
    tiny = causal_model(*CAUSAL["xglm"], tmp_path, begin=["</s>"])
    opened = scorer(tiny.address("hf-causal"))
    scores = opened.score(SENTENCES).logprob
    for sentence, score in zip(SENTENCES, scores, strict=True):
        assert score == pytest.approx(by_hand(tiny, sentence, start=(1,)), abs=1e-4)
    assert opened.spec.options["start"] == "eos:1"
    assert any("begin with </s>" in warning for warning in opened.warnings)
    own = scorer(tiny.address("hf-causal", bos="bos"))
    assert own.score(SENTENCES[:1]).logprob[0] == pytest.approx(by_hand(tiny, SENTENCES[0]), abs=1e-4)
    assert not any("begin with" in warning for warning in own.warnings)


@pytest.mark.parametrize("path", ["tree", "plain", "naive"])
def test_two_marks_are_both_read_and_neither_is_scored(tmp_path, path):
    tiny = causal_model(*CAUSAL["llama"], tmp_path, begin=["</s>", "<s>"])
    opened = scorer(tiny.address("hf-causal", path=path))
    scores = opened.score(SENTENCES, tokens=True)
    for place, sentence in enumerate(SENTENCES):
        ids = tiny.tokenizer(sentence, add_special_tokens=False)["input_ids"]
        after_first = by_hand(tiny, sentence, start=(1, 0)) - by_hand(tiny, "", start=(1, 0))
        assert scores.logprob[place] == pytest.approx(after_first, abs=1e-4)
        assert scores.n_tokens[place] == len(scores.token_logprobs[place]) == len(ids)
    assert opened.spec.options["start"] == "tokenizer:1+0"


def test_a_tokenizer_that_writes_no_mark_gets_its_bos(causal):
    opened = scorer(causal("gpt2").address("hf-causal"))
    assert opened.spec.options["start"] == "bos:0"
    assert not any("begin with" in warning for warning in opened.warnings)


def seq2seq_by_hand(model, source, target):
    total, start = 0.0, model.config.decoder_start_token_id
    with torch.no_grad():
        for place, token in enumerate(target):
            decoder = torch.tensor([[start, *target[:place]]])
            logits = model(
                input_ids=torch.tensor([source]), decoder_input_ids=decoder, use_cache=False
            ).logits[0, -1]
            total += float(torch.log_softmax(logits.double(), -1)[token])
    return total


def test_targets_are_cut_with_the_pieces_of_the_target(tmp_path):
    letters = sorted({letter for word in WORDS for letter in word})
    vocabulary = {token: place for place, token in enumerate(["<unk>", "</s>", *letters, *WORDS])}
    config = transformers.T5Config(
        vocab_size=300,
        d_model=SIZE,
        d_ff=48,
        num_layers=2,
        num_heads=2,
        d_kv=12,
        decoder_start_token_id=1,
        eos_token_id=1,
    )
    torch.manual_seed(20)
    model = peaked(transformers.T5ForConditionalGeneration(config))
    model.save_pretrained(tmp_path)
    (tmp_path / "vocab.json").write_text(json.dumps(vocabulary))
    (tmp_path / "sides.py").write_text(SIDES)
    settings = {
        "tokenizer_class": "SidesTokenizer",
        "auto_map": {"AutoTokenizer": ["sides.SidesTokenizer", None]},
        "unk_token": "<unk>",
        "eos_token": "</s>",
    }
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings))
    scores = scorer(f"hf-seq2seq:{tmp_path}?trust=yes").score(SENTENCES)
    for place, sentence in enumerate(SENTENCES):
        target = [vocabulary[word] for word in sentence.split()]
        assert scores.logprob[place] == pytest.approx(seq2seq_by_hand(model, [1], target), abs=1e-4)
        assert scores.n_tokens[place] == len(target)


def test_targets_of_fsmt_have_the_vocabulary_of_the_target(tmp_path, monkeypatch):
    moses = ModuleType("sacremoses")  # double of a library that is no dependency: cuts at spaces
    moses.MosesPunctNormalizer = lambda lang: type("N", (), {"normalize": staticmethod(str)})()
    moses.MosesTokenizer = lambda lang: type(
        "T", (), {"tokenize": staticmethod(lambda text, **options: text.split())}
    )()
    monkeypatch.setitem(sys.modules, "sacremoses", moses)
    letters = sorted({letter for word in WORDS for letter in (*word, f"{word[-1]}</w>")})
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    source = {token: place for place, token in enumerate([*special, *letters])}
    target = {token: place for place, token in enumerate([*special, "¿", *reversed(letters)])}
    for name, vocabulary in (("vocab-src.json", source), ("vocab-tgt.json", target)):
        (tmp_path / name).write_text(json.dumps(vocabulary))
    (tmp_path / "merges.txt").write_text("")
    settings = {"tokenizer_class": "FSMTTokenizer", "langs": ["en", "de"]}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings))
    config = transformers.FSMTConfig(
        langs=["en", "de"],
        src_vocab_size=len(source),
        tgt_vocab_size=len(target),
        d_model=SMALL["hidden_size"],
        encoder_layers=2,
        decoder_layers=2,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=48,
        decoder_ffn_dim=48,
        max_position_embeddings=128,
        tie_word_embeddings=False,
        decoder_start_token_id=2,
    )
    torch.manual_seed(20)
    model = peaked(transformers.FSMTForConditionalGeneration(config))
    model.save_pretrained(tmp_path)
    scores = scorer(f"hf-seq2seq:{tmp_path}").score(SENTENCES[:3])
    for place, sentence in enumerate(SENTENCES[:3]):
        pieces = [piece for word in sentence.split() for piece in (*word[:-1], f"{word[-1]}</w>")]
        expected = seq2seq_by_hand(model, [source["</s>"]], [target[piece] for piece in pieces])
        assert scores.logprob[place] == pytest.approx(expected, abs=1e-4)
        assert scores.n_unk[place] == 0
