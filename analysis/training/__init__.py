"""Small language models and acceptability classifiers, trained here and scored by our own scorers.

Nothing here imports torch before it is used: the extra ``models`` brings it.
"""

from analysis.training.cola import Labelled, read_cola
from analysis.training.plan import KINDS, SIZES, Plan, make_plan
from analysis.training.text import Corpus, read_corpus

__all__ = ["KINDS", "SIZES", "Corpus", "Labelled", "Plan", "make_plan", "read_cola", "read_corpus"]
