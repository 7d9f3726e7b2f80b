"""Scorer that looks scores up in a file: ``csv:PATH?column=NAME&sign=lower``."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ...choices import SCORE_SIGNS
from ...errors import BadInput, UnknownName
from ...table_forms import SENTENCES, read_number_columns
from ..base import (
    FLAG_EMPTY,
    Progress,
    Scores,
    Spec,
    assemble_scores,
    file_revision,
    flag_where,
)
from ..conventions import read_source
from ..model_uri import CONTEXT, ModelURI, Option, parse_options
from ..orientation import column_sign
from ..words.contexts import context_rule

COUNTS = ("n_tokens", "n_words", "n_chars", "n_bytes", "n_unk", "unigram_logprob", "logprob_se")
COLUMN = Option("column", placeholder="NAME")
SIGN = Option("sign", values=SCORE_SIGNS, default="")


class TableScorer:
    """Looks scores up by ``sentence_id``, or by the sentence where the file has no ids.

    Columns ``n_tokens`` and ``unigram_logprob``, where present, serve the measures that need them; without
    ``n_tokens``, words between white space are counted. ``sign=lower`` negates the scores; a column named as
    surprisal, perplexity or loss, or with positive values only, needs a sign. A file of counts written by
    ``manage.py score`` gives every measure again; ``source`` describes how those counts were computed.
    """

    OPTIONS = (COLUMN, SIGN, CONTEXT)
    capabilities = frozenset({"sum"})

    def __init__(self, uri: ModelURI) -> None:
        options = parse_options(uri, self.OPTIONS)
        self.file, self.contexts = uri.target, context_rule(options)
        self.table, self.key = read_number_columns(uri.target, keys=("sentence_id", "sentence"))
        self.column = self._column(options["column"])
        signs = {self.column: options["sign"]}
        self.sign = column_sign(self.column, signs, values=self.table[self.column], file=uri.target)
        self.source = read_source(uri.target, column=self.column, n_sentences=len(self.table))
        self.spec = Spec(
            uri=uri.uri,
            revision=file_revision(uri.target),
            method="csv",
            tokens="model" if "n_tokens" in self.table else "space",
            options={"column": self.column, **({"sign": self.sign} if self.sign == "lower" else {})},
        )

    def score(
        self,
        sentences: Sequence[str],
        *,
        ids: Sequence[str] | None = None,
        tokens: bool = False,
        progress: Progress | None = None,
    ) -> Scores:
        """Look up every sentence; the score of a sentence that the file does not contain is NaN."""
        if self.key == "sentence_id" and ids is None:
            raise BadInput("this file names sentences by id only.", file=self.file, column="sentence_id")
        keys = ids if self.key == "sentence_id" and ids is not None else sentences
        rows = self.table.reindex(pd.Index(keys, dtype=object))
        words = np.array([len(sentence.split()) for sentence in sentences], dtype=np.int32)
        n_tokens = rows["n_tokens"].fillna(0).to_numpy() if "n_tokens" in rows else words
        if progress is not None:
            progress(len(sentences))
        values = rows[self.column].to_numpy(dtype=np.float64)
        return assemble_scores(
            sentences,
            -values if self.sign == "lower" else values,
            n_tokens=np.asarray(n_tokens, dtype=np.int32),
            n_unk=rows["n_unk"].fillna(0).to_numpy(np.int32) if "n_unk" in rows else np.zeros_like(words),
            flags=flag_where(FLAG_EMPTY, words == 0),
            unigram_logprob=rows["unigram_logprob"].to_numpy(np.float64)
            if "unigram_logprob" in rows
            else None,
            flag_missing=False,
        )

    def _column(self, name: str) -> str:
        candidates = [str(column) for column in self.table if column not in COUNTS + SENTENCES.optional]
        if name:
            if name not in candidates:
                raise UnknownName(f"column of {self.file}", name, candidates)
            return name
        if len(candidates) != 1:
            message = f"{len(candidates)} columns could be the scores: {', '.join(candidates) or 'none'}."
            raise BadInput(message, file=self.file, remedy="Name one: csv:FILE?column=NAME.")
        return candidates[0]
