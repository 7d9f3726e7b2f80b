"""Language models as scorers of sentences."""

from analysis.scoring.base import Scorer, Scores, Spec
from analysis.scoring.frames import ScoredSentences, score_sentences
from analysis.scoring.registry import BUILT_IN, Maker, scorer

__all__ = ["BUILT_IN", "Maker", "ScoredSentences", "Scorer", "Scores", "Spec", "score_sentences", "scorer"]
