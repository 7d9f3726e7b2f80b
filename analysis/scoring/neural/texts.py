"""Sentences as a neural model reads them: token ids, spans of characters, and what the tokenizer changed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from analysis.errors import BadInput, UnknownName
from analysis.scoring.base import (
    FLAG_EMPTY,
    FLAG_MARKED,
    FLAG_NORMALISED,
    FLAG_SAME,
    FLAG_TOO_LONG,
    FLAG_UNKNOWN,
)
from analysis.scoring.tokens import indistinguishable


@dataclass(frozen=True)
class Encoded:
    """Token ids without marks of beginning or end, with the characters and the word each stands for."""

    sentences: list[str]
    ids: list[list[int]]
    spans: list[list[tuple[int, int]]] | None
    words: list[list[int]]
    flags: npt.NDArray[np.uint8]
    n_unk: npt.NDArray[np.int32]

    @property
    def n_tokens(self) -> npt.NDArray[np.int32]:
        """Tokens of each sentence."""
        return np.array([len(one) for one in self.ids], dtype=np.int32)


def encode(
    tokenizer: Any,
    sentences: Sequence[str],
    *,
    lower: bool = False,
    space: bool = False,
    most: int = 0,
    n_rows: int = 0,
) -> Encoded:
    """Cut sentences into a model's tokens, without marks that the tokenizer would add by itself.

    Parameters
    ----------
    tokenizer : transformers tokenizer
    sentences : sequence of str
    lower : bool
        Lower-case first.
    space : bool
        Put a space before each sentence, as some harnesses do.
    most : int
        Longest sequence the model takes, in tokens; longer ones are flagged. 0 for no limit.
    n_rows : int
        How many tokens the model knows. 0 to leave it unchecked.

    Returns
    -------
    Encoded
        Spans count characters of the sentence as it was given; a space put before it has an empty span.

    Raises
    ------
    BadInput
        If the tokenizer gives a token that the model does not know: it is another model's.

    Notes
    -----
    Different sentences with the same tokens are indistinguishable to the model and are flagged so: a pair of
    them is a tie by construction.
    """
    texts = [(" " if space else "") + (one.lower() if lower else one) for one in sentences]
    fast = bool(getattr(tokenizer, "is_fast", False))
    read = (
        tokenizer(texts, add_special_tokens=False, return_offsets_mapping=fast)
        if texts
        else {"input_ids": []}
    )
    ids = [list(one) for one in read["input_ids"]]
    highest = max((max(one) for one in ids if one), default=-1)
    if n_rows and highest >= n_rows:
        raise BadInput(
            f"the tokenizer gives token {highest}, the model knows {n_rows}.",
            remedy="Give the tokenizer that the model was trained with.",
        )
    unknown = tokenizer.unk_token_id
    n_unk = np.array([one.count(unknown) if unknown is not None else 0 for one in ids], dtype=np.int32)
    flags = np.zeros(len(ids), dtype=np.uint8)
    flags |= np.array([FLAG_EMPTY * (not one) for one in ids], dtype=np.uint8)
    flags |= (FLAG_UNKNOWN * (n_unk > 0)).astype(np.uint8)
    if most:
        flags |= np.array([FLAG_TOO_LONG * (len(one) > most) for one in ids], dtype=np.uint8)
    flags |= _changed(tokenizer, texts)
    marks = set(tokenizer.all_special_ids) - {unknown}
    flags |= np.array(
        [
            FLAG_MARKED * (bool(one) and (sentence != sentence.strip() or not marks.isdisjoint(one)))
            for sentence, one in zip(sentences, ids, strict=True)
        ],
        dtype=np.uint8,
    )
    flags |= (FLAG_SAME * indistinguishable(sentences, [tuple(one) for one in ids])).astype(np.uint8)
    spans = None
    if fast and texts:
        shift = int(space)
        spans = [
            [(max(0, start - shift), max(0, end - shift)) for start, end in one]
            for one in read["offset_mapping"]
        ]
    return Encoded(list(sentences), ids, spans, _words(read, ids, fast=fast), flags, n_unk)


def lower_case(word: str) -> bool:
    """Read the option ``casing``: ``as-is`` or ``lower``."""
    if word not in ("as-is", "lower"):
        raise UnknownName("casing", word, ("as-is", "lower"))
    return word == "lower"


def _words(read: Any, ids: Sequence[Sequence[int]], *, fast: bool) -> list[list[int]]:
    """The word each token belongs to; without a fast tokenizer every token is a word."""
    if not fast:
        return [list(range(len(one))) for one in ids]
    found = []
    for place, one in enumerate(ids):
        words = read.word_ids(place)
        found.append([place if word is None else word for place, word in enumerate(words)] if one else [])
    return found


def _changed(tokenizer: Any, texts: Sequence[str]) -> npt.NDArray[np.uint8]:
    """Flag what the tokenizer normalises away: case, accents, compatibility forms."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    normalizer = getattr(backend, "normalizer", None)
    if normalizer is None:
        return np.zeros(len(texts), dtype=np.uint8)
    plain = [normalizer.normalize_str(text).replace("▁", " ").strip() for text in texts]
    return np.array(
        [FLAG_NORMALISED * (one != text.strip()) for one, text in zip(plain, texts, strict=True)],
        dtype=np.uint8,
    )
