"""N-gram language models of our own: counts, interpolated modified Kneser-Ney, ARPA files, queries."""

from .arpa import arpa_order, read_arpa
from .query import BackoffModel, token_logprobs
from .smoothing import train_model
from .writing import write_arpa

__all__ = ["BackoffModel", "arpa_order", "read_arpa", "token_logprobs", "train_model", "write_arpa"]
