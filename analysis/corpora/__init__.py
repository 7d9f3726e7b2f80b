"""Filtered corpora: CoNLL-U in, sentences with a construction out, corpora of one size to train on (FiCT)."""

from .conllu import Sentence, Word, parse_conllu, read_conllu
from .filtering import Survey, choose, report, survey
from .filters import Filter, filter_names, find_filter, read_filter
from .sampling import downsample

__all__ = [
    "Filter", "Sentence", "Survey", "Word", "choose", "downsample", "filter_names", "find_filter",
    "parse_conllu", "read_conllu", "read_filter", "report", "survey",
]  # fmt: skip
