"""Sentences as token ids of a neural model, with their characters and what the tokenizer changed."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import BadInput
from ..base import (
    FLAG_EMPTY,
    FLAG_MARKED,
    FLAG_NORMALISED,
    FLAG_SAME,
    FLAG_TOO_LONG,
    FLAG_UNKNOWN,
    flag_where,
)
from ..words.tokens import indistinguishable


@dataclass(frozen=True)
class Encoded:
    """Token ids without marks of beginning or end, and the characters and word of each token."""

    sentences: list[str]
    ids: list[list[int]]
    spans: list[list[tuple[int, int]]] | None
    words: list[list[int | None]]
    flags: npt.NDArray[np.uint8]
    n_unk: npt.NDArray[np.int32]

    def after(self, starts: Sequence[int]) -> "Encoded":
        """Return the sentences with words and characters only of the tokens that reach behind ``starts``."""
        if self.spans is None:
            raise BadInput(
                "the tokenizer does not give the characters of its tokens, which contexts need.",
                remedy="Use a model with a fast tokenizer.",
            )
        is_after = [[end > start for _, end in row] for row, start in zip(self.spans, starts, strict=True)]
        words = [
            [word if after else None for word, after in zip(row, rows, strict=True)]
            for row, rows in zip(self.words, is_after, strict=True)
        ]
        spans = [
            [span for span, after in zip(row, rows, strict=True) if after]
            for row, rows in zip(self.spans, is_after, strict=True)
        ]
        return replace(self, words=words, spans=spans)

    @property
    def n_tokens(self) -> npt.NDArray[np.int32]:
        """Tokens of each sentence."""
        return np.array([len(row) for row in self.ids], dtype=np.int32)

    @property
    def is_scorable(self) -> npt.NDArray[np.bool_]:
        """Whether each sentence has tokens, and no more than the model takes."""
        scorable: npt.NDArray[np.bool_] = self.flags & (FLAG_EMPTY | FLAG_TOO_LONG) == 0
        return scorable


def encode(
    tokenizer: Any,
    sentences: Sequence[str],
    *,
    lower: bool = False,
    space: bool = False,
    max_tokens: int = 0,
    n_rows: int = 0,
) -> Encoded:
    """Tokenize sentences without the marks that the tokenizer would add."""
    texts = [(" " if space else "") + (sentence.lower() if lower else sentence) for sentence in sentences]
    is_fast = bool(getattr(tokenizer, "is_fast", False))
    encoding = (
        tokenizer(texts, add_special_tokens=False, return_offsets_mapping=is_fast)
        if texts
        else {"input_ids": []}
    )
    ids = [list(row) for row in encoding["input_ids"]]
    highest = max((max(row) for row in ids if row), default=-1)
    if n_rows and highest >= n_rows:
        raise BadInput(
            f"the tokenizer gives token {highest}, the model knows {n_rows}.",
            remedy="Give the tokenizer that the model was trained with.",
        )
    unknown = tokenizer.unk_token_id
    n_unk = np.array([row.count(unknown) if unknown is not None else 0 for row in ids], dtype=np.int32)
    flags = flag_where(FLAG_EMPTY, [not row for row in ids]) | flag_where(FLAG_UNKNOWN, n_unk > 0)
    if max_tokens:
        flags |= flag_where(FLAG_TOO_LONG, [len(row) > max_tokens for row in ids])
    flags |= flag_where(FLAG_NORMALISED, _is_normalised(tokenizer, texts))
    marks = set(tokenizer.all_special_ids) - {unknown}
    has_mark = [
        bool(row) and (sentence != sentence.strip() or not marks.isdisjoint(row))
        for sentence, row in zip(sentences, ids, strict=True)
    ]
    flags |= flag_where(FLAG_MARKED, has_mark)
    flags |= flag_where(FLAG_SAME, indistinguishable(sentences, [tuple(row) for row in ids]))
    spans = None
    if is_fast and texts:
        shift = int(space)  # offsets count the space that was added before the sentence
        spans = [
            [(max(0, start - shift), max(0, end - shift)) for start, end in row]
            for row in encoding["offset_mapping"]
        ]
    return Encoded(list(sentences), ids, spans, _words(encoding, ids, is_fast=is_fast), flags, n_unk)


def _words(encoding: Any, ids: Sequence[Sequence[int]], *, is_fast: bool) -> list[list[int | None]]:
    """Return the word of each token; without a fast tokenizer every token is a word."""
    if not is_fast:
        return [list(range(len(row))) for row in ids]
    return [
        [position if word is None else word for position, word in enumerate(encoding.word_ids(index))]
        if row
        else []
        for index, row in enumerate(ids)
    ]


def _is_normalised(tokenizer: Any, texts: Sequence[str]) -> list[bool]:
    """Return whether the tokenizer changes letters: case, accents, compatibility forms."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    normalizer = getattr(backend, "normalizer", None)
    if normalizer is None:
        return [False] * len(texts)
    # Sentencepiece normalizers mark spaces by "▁", which is no change of the text.
    return [normalizer.normalize_str(text).replace("▁", " ").strip() != text.strip() for text in texts]
