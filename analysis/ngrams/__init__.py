"""N-gram language models of our own: counts, interpolated modified Kneser-Ney, ARPA files, queries."""

from analysis.ngrams.arpa import read_arpa, write_arpa
from analysis.ngrams.query import BackoffModel, token_logprobs
from analysis.ngrams.smoothing import train_model

__all__ = ["BackoffModel", "read_arpa", "token_logprobs", "train_model", "write_arpa"]
