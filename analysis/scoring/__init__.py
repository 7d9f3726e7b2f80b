"""Language models as scorers of sentences."""

from .base import Scorer, Scores, Spec
from .frames import ScoredSentences, score_sentences
from .registry import BUILT_IN, Maker, scorer

__all__ = ["BUILT_IN", "Maker", "ScoredSentences", "Scorer", "Scores", "Spec", "score_sentences", "scorer"]
