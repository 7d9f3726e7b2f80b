"""Build a decoder-only transformer and save it so that ``hf-causal:FOLDER`` scores with it."""

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from analysis.errors import BadInput
from analysis.scoring.lstm import END, UNKNOWN
from analysis.scoring.neural.loading import need
from analysis.scoring.unigrams import UNIGRAMS
from analysis.training.codec import frequent_words
from analysis.training.plan import Plan

WORD_OR_MARK = r"\w+(?:[^\w\s]+\w+)*|[^\w\s]"
WORD = r"\w+(?:[^\w\s]+\w+)*"


class TokenizerCodec:
    """A tokenizer in the hub's form; what trains the model is what scores with it."""

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer
        self.end = int(tokenizer.token_to_id(END))

    @property
    def n_types(self) -> int:
        """Rows of the vocabulary."""
        return int(self.tokenizer.get_vocab_size())

    def encode(self, sentences: Sequence[str]) -> list[list[int]]:
        """Numbers of each sentence's tokens, without marks."""
        read = self.tokenizer.encode_batch(list(sentences), add_special_tokens=False)
        return [one.ids for one in read]


def make_codec(plan: Plan, sentences: Sequence[str], kept: Path | None = None) -> TokenizerCodec:
    """Make the tokenizer from the text, or take the one kept beside a checkpoint."""
    tokenizers = need("tokenizers")
    if kept is not None and kept.is_file():
        return TokenizerCodec(tokenizers.Tokenizer.from_file(str(kept)))
    made = _byte_pairs(plan, sentences) if plan.tokens == "bpe" else _whole_words(plan, sentences)
    if kept is not None:
        made.save(str(kept))
    return TokenizerCodec(made)


def build(plan: Plan, codec: TokenizerCodec) -> Any:
    """Make a model of GPT-2's form with fresh weights."""
    transformers = need("transformers")
    config = transformers.GPT2Config(
        vocab_size=codec.n_types,
        n_positions=plan.context,
        n_embd=plan.width,
        n_layer=plan.layers,
        n_head=plan.heads,
        resid_pdrop=plan.dropout,
        embd_pdrop=plan.dropout,
        attn_pdrop=plan.dropout,
        bos_token_id=codec.end,
        eos_token_id=codec.end,
    )
    return transformers.GPT2LMHeadModel(config)


def logits(model: Any, ids: torch.Tensor) -> torch.Tensor:
    """Logits of next tokens."""
    found: torch.Tensor = model(input_ids=ids, use_cache=False).logits
    return found


def save(
    folder: Path, model: Any, codec: TokenizerCodec, plan: Plan, unigrams: npt.NDArray[np.float64]
) -> None:
    """Write configuration, weights and tokenizer as the hub has them, and the unigrams that SLOR needs."""
    transformers = need("transformers")
    marks = {"bos_token": END, "eos_token": END, "pad_token": END}
    if codec.tokenizer.token_to_id(UNKNOWN) is not None:
        marks["unk_token"] = UNKNOWN
    with quiet(transformers):
        model.save_pretrained(folder)
        transformers.PreTrainedTokenizerFast(
            tokenizer_object=codec.tokenizer, model_max_length=plan.context, **marks
        ).save_pretrained(folder)
    np.savetxt(folder / UNIGRAMS, unigrams, fmt="%.17g")


@contextlib.contextmanager
def quiet(transformers: Any) -> Iterator[None]:
    """Keep the library's bars and advice out of our output."""
    logging = transformers.utils.logging
    before = logging.get_verbosity()
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(before)


def _cutter(plan: Plan) -> Any:
    """Cut as :class:`analysis.scoring.tokens.Tokenization` does."""
    tokenizers = need("tokenizers")
    pre, regex = tokenizers.pre_tokenizers, tokenizers.Regex
    if plan.punctuation == "keep":
        first = pre.WhitespaceSplit()
    else:
        pattern = WORD_OR_MARK if plan.punctuation == "split" else WORD
        first = pre.Split(regex(pattern), behavior="removed", invert=True)
    if plan.tokens == "space":
        return first
    return pre.Sequence([first, pre.Split(regex(r"[\s\S]"), behavior="isolated")])


def _whole_words(plan: Plan, sentences: Sequence[str]) -> Any:
    tokenizers = need("tokenizers")
    cutter = _cutter(plan)
    lower = tokenizers.normalizers.Lowercase() if plan.casing == "lower" else None
    texts = sentences if lower is None else [lower.normalize_str(one) for one in sentences]
    pieces = ([piece for piece, _ in cutter.pre_tokenize_str(one)] for one in texts)
    words = frequent_words(pieces, most=plan.vocabulary)
    index = {word: number for number, word in enumerate(words)}
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel(index, unk_token=UNKNOWN))
    made.pre_tokenizer = cutter
    if lower is not None:
        made.normalizer = lower
    made.add_special_tokens([UNKNOWN, END])
    return made


def _byte_pairs(plan: Plan, sentences: Sequence[str]) -> Any:
    """Byte-level BPE (GPT-2's): every text can be read, so no token is unknown."""
    tokenizers = need("tokenizers")
    made = tokenizers.Tokenizer(tokenizers.models.BPE())
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = tokenizers.decoders.ByteLevel()
    if plan.casing == "lower":
        made.normalizer = tokenizers.normalizers.Lowercase()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=plan.vocabulary + 1,
        special_tokens=[END],
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    made.train_from_iterator(sentences, trainer)
    if made.get_vocab_size() < 2:
        raise BadInput("the corpus has no token.")
    return made
