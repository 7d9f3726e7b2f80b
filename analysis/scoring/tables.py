"""Scores computed elsewhere, from a file: ``csv:PATH?column=NAME``."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from analysis.comparison.files import SENTENCES, read_number_columns
from analysis.errors import BadInput, UnknownName
from analysis.scoring.base import (
    FLAG_EMPTY,
    Progress,
    ScorerAddress,
    Scores,
    Spec,
    file_revision,
    take_options,
)
from analysis.scoring.recorded import source_of

COUNTS = ("n_tokens", "n_words", "n_chars", "n_bytes", "n_unk", "unigram_logprob")


class TableScorer:
    """Looks scores up by ``sentence_id``, or by the sentence itself where the file has no ids.

    Columns ``n_tokens`` and ``unigram_logprob``, where present, serve the measures that need them; without
    ``n_tokens`` the words between white space are counted. A file of counts that ``manage.py score`` wrote
    gives every measure again; ``source`` says how those were made.
    """

    capabilities = frozenset({"sum"})

    def __init__(self, address: ScorerAddress) -> None:
        options = take_options(address, "column")
        self.file = address.target
        self.table, self.key = read_number_columns(address.target, keys=("sentence_id", "sentence"))
        self.column = self._column(options.get("column", ""))
        self.source = source_of(address.target, column=self.column, n_sentences=len(self.table))
        self.spec = Spec(
            uri=address.uri,
            revision=file_revision(address.target),
            method="csv",
            tokens="model" if "n_tokens" in self.table else "space",
            options={"column": self.column},
        )

    def score(
        self,
        sentences: Sequence[str],
        *,
        ids: Sequence[str] | None = None,
        tokens: bool = False,
        progress: Progress | None = None,
    ) -> Scores:
        """Look every sentence up; one that the file does not hold is NaN."""
        if self.key == "sentence_id" and ids is None:
            raise BadInput("this file names sentences by id only.", file=self.file, column="sentence_id")
        wanted = ids if self.key == "sentence_id" and ids is not None else sentences
        rows = self.table.reindex(pd.Index(wanted, dtype=object))
        words = np.array([len(sentence.split()) for sentence in sentences], dtype=np.int32)
        n_tokens = rows["n_tokens"].fillna(0).to_numpy() if "n_tokens" in rows else words
        if progress is not None:
            progress(len(sentences))
        return Scores(
            rows[self.column].to_numpy(dtype=np.float64),
            np.asarray(n_tokens, dtype=np.int32),
            words,
            np.array([len(sentence) for sentence in sentences], dtype=np.int32),
            rows["n_unk"].fillna(0).to_numpy(dtype=np.int32) if "n_unk" in rows else np.zeros_like(words),
            (FLAG_EMPTY * (words == 0)).astype(np.uint8),
            rows["unigram_logprob"].to_numpy(dtype=np.float64) if "unigram_logprob" in rows else None,
        )

    def _column(self, wanted: str) -> str:
        offered = [str(name) for name in self.table.columns if name not in COUNTS + SENTENCES.optional]
        if wanted:
            if wanted not in offered:
                raise UnknownName(f"column of {self.file}", wanted, offered)
            return wanted
        if len(offered) != 1:
            message = f"{len(offered)} columns could be the scores: {', '.join(offered) or 'none'}."
            raise BadInput(message, file=self.file, remedy="Name one: csv:FILE?column=NAME.")
        return offered[0]
