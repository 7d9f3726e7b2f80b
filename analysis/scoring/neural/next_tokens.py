"""Predictions of next tokens: of word boundaries, their entropy, and their probability by temperature."""

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
ROWS = 64  # tokens whose logits are scaled at once


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


def next_entropies(model: Any, sequences: Sequence[Sequence[int]]) -> list[Floats]:
    """Return the entropy in nats of the prediction of every token but the first of each sequence."""
    device = next(model.parameters()).device
    entropies: dict[tuple[int, ...], Floats] = {}
    with torch.inference_mode():
        for row in dict.fromkeys(map(tuple, sequences)):
            if len(row) < 2:
                entropies[row] = np.empty(0)
                continue
            logits = model(input_ids=torch.tensor([row[:-1]], device=device), use_cache=False).logits[0]
            logprobs = torch.log_softmax(logits.double(), -1)
            entropies[row] = torch.special.entr(logprobs.exp()).sum(-1).cpu().numpy()
    return [entropies[tuple(row)] for row in sequences]


def temperature_sums(
    model: Any, rows: Sequence[tuple[Sequence[int], int]], temperatures: Sequence[float]
) -> Floats:
    """Return −Σ log p of the last tokens of each row by temperature, and its derivative.

    The derivative is by the inverse temperature: Σ E[logit] − logit of the token.
    """
    device = next(model.parameters()).device
    sums = np.zeros((2, len(temperatures)))
    with torch.inference_mode():
        for ids, n in rows:
            row = torch.tensor([list(ids)], device=device)
            logits = model(input_ids=row[:, :-1], use_cache=False).logits[0, -n:]
            for part, targets in zip(logits.split(ROWS), row[0, -n:].split(ROWS), strict=True):
                values = part.double()
                chosen = values.gather(1, targets[:, None])[:, 0]
                for place, temperature in enumerate(temperatures):
                    scaled = values / temperature
                    normalizer = scaled.logsumexp(-1)
                    mean = ((scaled - normalizer[:, None]).exp() * values).sum(-1)
                    sums[0, place] += float((normalizer - chosen / temperature).sum())
                    sums[1, place] += float((mean - chosen).sum())
    return sums


def _begins_with_mark(tokenizer: Any, piece: str) -> bool:
    text = tokenizer.convert_tokens_to_string([piece]).lstrip()
    return bool(text) and unicodedata.category(text[0])[0] == "P"
