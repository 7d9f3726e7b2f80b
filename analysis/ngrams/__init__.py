"""N-gram language models of our own: counts, interpolated modified Kneser-Ney, ARPA files, queries."""

from analysis.ngrams.arpa import arpa_order, read_arpa
from analysis.ngrams.query import BackoffModel, token_logprobs
from analysis.ngrams.smoothing import train_model
from analysis.ngrams.writing import write_arpa

__all__ = ["BackoffModel", "arpa_order", "read_arpa", "token_logprobs", "train_model", "write_arpa"]
