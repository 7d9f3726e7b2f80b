"""Filtered corpora: CoNLL-U in, sentences with a construction out, corpora of one size to train on (FiCT)."""

from analysis.corpora.conllu import Sentence, Word, parse_conllu, read_conllu
from analysis.corpora.filtering import Survey, choose, report, survey
from analysis.corpora.filters import Filter, find_filter, read_filter, shipped
from analysis.corpora.sampling import downsample

__all__ = [
    "Filter", "Sentence", "Survey", "Word", "choose", "downsample", "find_filter", "parse_conllu",
    "read_conllu", "read_filter", "report", "shipped", "survey",
]  # fmt: skip
