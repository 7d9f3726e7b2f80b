"""Training of small language models and acceptability classifiers.

torch, of the optional extra ``models``, is imported when a training starts.
"""

from .cola import Labelled, read_cola
from .plan import KINDS, SIZES, Plan, make_plan
from .text import Corpus, read_corpus

__all__ = ["KINDS", "SIZES", "Corpus", "Labelled", "Plan", "make_plan", "read_cola", "read_corpus"]
