"""Building a decoder-only transformer, and saving it for ``hf-causal:FOLDER``."""

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from ..errors import BadInput
from ..scoring.neural.loading import import_optional
from ..scoring.scorers.lstm import END, UNKNOWN
from ..scoring.words.unigrams import UNIGRAMS
from .codec import frequent_words
from .plan import Plan

WORD_OR_MARK = r"\w+(?:[^\w\s]+\w+)*|[^\w\s]"
WORD = r"\w+(?:[^\w\s]+\w+)*"


class TokenizerCodec:
    """A tokenizer in the format of the hub, used for training and scoring alike."""

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer
        self.end = int(tokenizer.token_to_id(END))

    @property
    def n_types(self) -> int:
        """Number of rows of the vocabulary."""
        return int(self.tokenizer.get_vocab_size())

    def encode(self, sentences: Sequence[str]) -> list[list[int]]:
        """Return the token numbers of each sentence, without marks."""
        encodings = self.tokenizer.encode_batch(list(sentences), add_special_tokens=False)
        return [encoding.ids for encoding in encodings]


def make_codec(plan: Plan, sentences: Sequence[str], checkpoint: Path | None = None) -> TokenizerCodec:
    """Train the tokenizer on the text, or load the one saved beside a checkpoint."""
    tokenizers = import_optional("tokenizers")
    if checkpoint is not None and checkpoint.is_file():
        return TokenizerCodec(tokenizers.Tokenizer.from_file(str(checkpoint)))
    tokenizer = _byte_pairs(plan, sentences) if plan.tokens == "bpe" else _whole_words(plan, sentences)
    if checkpoint is not None:
        tokenizer.save(str(checkpoint))
    return TokenizerCodec(tokenizer)


def build(plan: Plan, codec: TokenizerCodec) -> Any:
    """Make a GPT-2 model with random weights."""
    transformers = import_optional("transformers")
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
    """Return the logits of next tokens."""
    output: torch.Tensor = model(input_ids=ids, use_cache=False).logits
    return output


def save(
    folder: Path, model: Any, codec: TokenizerCodec, plan: Plan, unigrams: npt.NDArray[np.float64]
) -> None:
    """Write configuration, weights and tokenizer in the format of the hub, and unigram probabilities."""
    transformers = import_optional("transformers")
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
    """Suppress the progress bars and warnings of the library inside this context."""
    logging = transformers.utils.logging
    before = logging.get_verbosity()
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(before)


def _pre_tokenizer(plan: Plan) -> Any:
    """Return a pre-tokenizer equal to :class:`obelus.scoring.words.tokens.Tokenization`."""
    tokenizers = import_optional("tokenizers")
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
    tokenizers = import_optional("tokenizers")
    pre_tokenizer = _pre_tokenizer(plan)
    lower = tokenizers.normalizers.Lowercase() if plan.casing == "lower" else None
    texts = sentences if lower is None else [lower.normalize_str(sentence) for sentence in sentences]
    pieces = ([piece for piece, _ in pre_tokenizer.pre_tokenize_str(text)] for text in texts)
    words = frequent_words(pieces, size=plan.vocabulary)
    index = {word: number for number, word in enumerate(words)}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(index, unk_token=UNKNOWN))
    tokenizer.pre_tokenizer = pre_tokenizer
    if lower is not None:
        tokenizer.normalizer = lower
    tokenizer.add_special_tokens([UNKNOWN, END])
    return tokenizer


def _byte_pairs(plan: Plan, sentences: Sequence[str]) -> Any:
    """Train byte-level BPE, as in GPT-2; it encodes every text, so no token is unknown."""
    tokenizers = import_optional("tokenizers")
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    if plan.casing == "lower":
        tokenizer.normalizer = tokenizers.normalizers.Lowercase()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=plan.vocabulary + 1,
        special_tokens=[END],
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(sentences, trainer)
    if tokenizer.get_vocab_size() < 2:
        raise BadInput("the corpus has no token.")
    return tokenizer
