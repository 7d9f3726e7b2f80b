"""Probabilities of word boundaries, for tokenizers whose tokens begin with a space."""

import unicodedata
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from ...errors import BadInput

Floats = npt.NDArray[np.float64]
SPACES = ("Ġ", "▁", "Ċ", "ĉ", " ")
TOKENS = 1_024  # in one batch


def boundary_tokens(tokenizer: Any) -> list[int]:
    """Return the numbers of the tokens that cannot continue a word.

    References
    ----------
    Pimentel & Meister (2024), "How to compute the probability of a word", EMNLP. Oh & Schuler (2024),
    "Leading whitespaces of language models' subword vocabulary pose a confound", EMNLP.
    """
    pieces = sorted((number, piece) for piece, number in tokenizer.get_vocab().items())
    spaced = [number for number, piece in pieces if piece.startswith(SPACES)]
    if not spaced:
        raise BadInput(
            "boundary=corrected needs tokens that begin with a space, and this tokenizer has none.",
            remedy="Use boundary=none.",
        )
    special = set(tokenizer.all_special_ids)
    unspaced = [(n, piece) for n, piece in pieces if n not in special and not piece.startswith(SPACES)]
    marks = [number for number, piece in unspaced if _begins_with_mark(tokenizer, piece)]
    end = [] if tokenizer.eos_token_id is None else [int(tokenizer.eos_token_id)]
    return sorted({*spaced, *marks, *end})


def next_logprobs(model: Any, contexts: Sequence[Sequence[int]], tokens: Sequence[int]) -> Floats:
    """Return log Σ P(token | context) over some tokens, for each context."""
    device = next(model.parameters()).device
    token_ids = torch.as_tensor(list(tokens), device=device)
    # Contexts of one length form a batch, so that nothing is padded.
    by_length: dict[int, list[tuple[int, ...]]] = {}
    for context in dict.fromkeys(map(tuple, contexts)):
        by_length.setdefault(len(context), []).append(context)
    logprobs: dict[tuple[int, ...], float] = {}
    with torch.inference_mode():
        for length, group in by_length.items():
            size = max(1, TOKENS // length)
            for start in range(0, len(group), size):
                batch = group[start : start + size]
                logits = model(input_ids=torch.tensor(batch, device=device), use_cache=False).logits[:, -1]
                logprob = torch.log_softmax(logits.double(), -1)[:, token_ids].logsumexp(-1)
                logprobs.update(zip(batch, logprob.tolist(), strict=True))
    return np.array([logprobs[tuple(context)] for context in contexts], dtype=np.float64)


def _begins_with_mark(tokenizer: Any, piece: str) -> bool:
    text = tokenizer.convert_tokens_to_string([piece]).lstrip()
    return bool(text) and unicodedata.category(text[0])[0] == "P"
