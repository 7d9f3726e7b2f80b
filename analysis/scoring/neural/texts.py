"""Sentences as token ids of a neural model, with their characters and what the tokenizer changed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
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
from ..words.sentence_check import Readings
from ..words.tokens import indistinguishable, lower_case_origins, word_numbers
from .tokenizer_files import tokens_differ


@dataclass(frozen=True)
class Encoded:
    """Token ids without marks of beginning or end, and the characters and word of each token.

    ``texts`` are the sentences as they were given to the tokenizer.
    """

    sentences: list[str]
    ids: list[list[int]]
    spans: list[list[tuple[int, int]]] | None
    words: list[list[int | None]]
    flags: npt.NDArray[np.uint8]
    n_unk: npt.NDArray[np.int32]
    texts: list[str]

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
    word_rule: str = "",
) -> Encoded:
    """Tokenize sentences without the marks that the tokenizer would add.

    With a ``word_rule`` the words are those of :func:`word_numbers`; otherwise each token is a word.
    """
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
    normalised = _normalize_texts(tokenizer, texts)
    flags |= flag_where(
        FLAG_NORMALISED,
        [after.strip() != text.strip() for after, text in zip(normalised, texts, strict=True)],
    )
    marks = set(tokenizer.all_special_ids) - {unknown}
    has_mark = [
        bool(row) and (sentence != sentence.strip() or not marks.isdisjoint(row))
        for sentence, row in zip(sentences, ids, strict=True)
    ]
    flags |= flag_where(FLAG_MARKED, has_mark)
    flags |= flag_where(FLAG_SAME, indistinguishable(sentences, [tuple(row) for row in ids]))
    offsets: list[list[tuple[int, int]]] | None = encoding["offset_mapping"] if is_fast and texts else None
    return Encoded(
        list(sentences),
        ids,
        None if offsets is None else list(map(partial(_spans, space=space), sentences, texts, offsets)),
        _words(texts, ids, offsets, word_rule),
        flags,
        n_unk,
        texts,
    )


def read_tokens(
    tokenizer: Any, encoded: Encoded, *, library_tokenizer: Any | None = None, decoder: Any | None = None
) -> Readings:
    """Return what a tokenizer reads of sentences: the text of their tokens, and unknown pieces.

    ``decoder`` restores the text where ``tokenizer`` only reads.
    """
    unknown = tokenizer.unk_token_id
    backend = getattr(tokenizer, "backend_tokenizer", None)
    has_decoder = backend is None or backend.decoder is not None
    spans = encoded.spans or [[(0, 0)] * len(row) for row in encoded.ids]
    return Readings(
        [tuple(row) for row in encoded.ids],
        (decoder or tokenizer).batch_decode(
            encoded.ids, skip_special_tokens=False, clean_up_tokenization_spaces=False
        )
        if has_decoder
        else None,
        [
            [
                sentence[start:end] or str(tokenizer.unk_token)
                for token, (start, end) in zip(row, places, strict=True)
                if token == unknown
            ]
            for sentence, row, places in zip(encoded.sentences, encoded.ids, spans, strict=True)
        ],
        _normalize_texts(tokenizer, encoded.texts),
        tokens_differ(tokenizer, library_tokenizer, encoded.texts) if library_tokenizer is not None else [],
    )


def _spans(
    sentence: str, text: str, offsets: Sequence[tuple[int, int]], *, space: bool
) -> list[tuple[int, int]]:
    """Return the characters of tokens in the sentence, from those in the text given to the tokenizer."""
    shift = int(space)  # offsets count the space that was added before the sentence
    spans = [(max(0, start - shift), max(0, end - shift)) for start, end in offsets]
    if len(text) == len(sentence) + shift:
        return spans
    origin = [*lower_case_origins(sentence), len(sentence)]
    return [(origin[start], origin[end - 1] + 1 if end > start else origin[end]) for start, end in spans]


def _words(
    texts: Sequence[str],
    ids: Sequence[Sequence[int]],
    offsets: Sequence[Sequence[tuple[int, int]]] | None,
    rule: str,
) -> list[list[int | None]]:
    if not rule or offsets is None:
        return [list(range(len(row))) for row in ids]
    return [list(_token_words(text, row, rule)) for text, row in zip(texts, offsets, strict=True)]


def _token_words(text: str, offsets: Sequence[tuple[int, int]], rule: str) -> Iterator[int]:
    """Yield the word of each token, that of its first character; a token in two words joins them.

    Word numbers of the tokenizer are not used: several give one to a whole sentence.
    """
    numbers = word_numbers(text, rule)
    word, latest, earlier = -1, -1, 0
    for start, end in offsets:
        if not earlier <= start <= end <= len(text):
            raise BadInput(
                f"the tokenizer gives no places in {text[:60]!r} by which the words of its tokens are known.",
                remedy="Add method=pll to the model URI.",
            )
        word += numbers[start] > latest
        last = start + max(1, len(text[start:end].rstrip())) - 1
        latest, earlier = max(latest, numbers[last]), start
        yield word


def _normalize_texts(tokenizer: Any, texts: Sequence[str]) -> list[str]:
    """Return texts as the tokenizer changes their letters: case, accents, compatibility forms."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    normalizer = getattr(backend, "normalizer", None)
    if normalizer is None:
        return list(texts)
    # Sentencepiece normalizers mark spaces by "▁", which is no change of the text.
    return [normalizer.normalize_str(text).replace("▁", " ") for text in texts]
