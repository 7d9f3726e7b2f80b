"""The probability that a word ends here, which tokens that begin with a space leave to the next token."""

import unicodedata
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from analysis.errors import BadInput

Floats = npt.NDArray[np.float64]
SPACES = ("Ġ", "▁", "Ċ", "ĉ", " ")
TOKENS = 1_024  # in one batch


def boundary_tokens(tokenizer: Any) -> list[int]:
    """Number the tokens that cannot go on a word.

    Parameters
    ----------
    tokenizer : transformers tokenizer

    Returns
    -------
    list of int
        Tokens that begin with a space or with punctuation, and the end of the text.

    Raises
    ------
    BadInput
        If the tokenizer marks no beginnings of words by a space.

    References
    ----------
    Pimentel & Meister (2024), "How to compute the probability of a word", EMNLP. Oh & Schuler (2024),
    "Leading whitespaces of language models' subword vocabulary pose a confound", EMNLP.
    """
    pieces = sorted((number, piece) for piece, number in tokenizer.get_vocab().items())
    spaced = [number for number, piece in pieces if piece.startswith(SPACES)]
    if not spaced:
        raise BadInput(
            "boundary=corrected is for tokens that begin with a space, which this tokenizer has not.",
            remedy="Leave boundary to none.",
        )
    special = set(tokenizer.all_special_ids)
    others = [(n, piece) for n, piece in pieces if n not in special and not piece.startswith(SPACES)]
    marks = [number for number, piece in others if _begins_with_mark(tokenizer, piece)]
    end = [] if tokenizer.eos_token_id is None else [int(tokenizer.eos_token_id)]
    return sorted({*spaced, *marks, *end})


def next_logprobs(model: Any, contexts: Sequence[Sequence[int]], tokens: Sequence[int]) -> Floats:
    """Give log Σ P(token | context) over some tokens, for each context.

    Parameters
    ----------
    model : transformers model for causal language modelling
    contexts : sequence of sequences of int
        At least one token each.
    tokens : sequence of int
        The next tokens that are summed over.

    Returns
    -------
    ndarray of float

    Notes
    -----
    Distinct contexts of one length go together: nothing is padded, and the model's own head is used.
    """
    device = next(model.parameters()).device
    wanted = torch.as_tensor(list(tokens), device=device)
    by_length: dict[int, list[tuple[int, ...]]] = {}
    for context in dict.fromkeys(map(tuple, contexts)):
        by_length.setdefault(len(context), []).append(context)
    found: dict[tuple[int, ...], float] = {}
    with torch.inference_mode():
        for length, group in by_length.items():
            size = max(1, TOKENS // length)
            for start in range(0, len(group), size):
                part = group[start : start + size]
                logits = model(input_ids=torch.tensor(part, device=device), use_cache=False).logits[:, -1]
                logprob = torch.log_softmax(logits.double(), -1)[:, wanted].logsumexp(-1)
                found.update(zip(part, logprob.tolist(), strict=True))
    return np.array([found[tuple(context)] for context in contexts], dtype=np.float64)


def _begins_with_mark(tokenizer: Any, piece: str) -> bool:
    text = tokenizer.convert_tokens_to_string([piece]).lstrip()
    return bool(text) and unicodedata.category(text[0])[0] == "P"
