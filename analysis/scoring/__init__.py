"""Language models give sentences their scores."""

from analysis.scoring.arpa import ArpaScorer
from analysis.scoring.base import Maker, Scorer, Scores, Spec, open_scorer
from analysis.scoring.causal import CausalScorer
from analysis.scoring.classifier import ClassifierScorer
from analysis.scoring.frames import ScoredSentences, score_sentences
from analysis.scoring.lstm import LSTMScorer
from analysis.scoring.masked import MaskedScorer
from analysis.scoring.served import ServedScorer
from analysis.scoring.tables import TableScorer

BUILT_IN: dict[str, Maker] = {
    "arpa": ArpaScorer,
    "csv": TableScorer,
    "hf-causal": CausalScorer,
    "hf-masked": MaskedScorer,
    "hf-classifier": ClassifierScorer,
    "lstm": LSTMScorer,
    "openai": ServedScorer,
}


def scorer(uri: str) -> Scorer:
    """Make the scorer that an address names, such as ``arpa:model.arpa`` or ``csv:scores.csv``.

    Parameters
    ----------
    uri : str
        Kind and place: ``arpa:``, ``csv:``, ``hf-causal:``, ``hf-masked:``, ``hf-classifier:`` or
        ``openai:``, or a kind that another package offers.

    Returns
    -------
    Scorer

    Raises
    ------
    UnknownName, BadInput
        If nobody knows the kind, or the model cannot be opened.

    Examples
    --------
    >>> scorer("csv")
    Traceback (most recent call last):
    analysis.errors.BadInput: 'csv' is no model's address. Write kind:target, such as arpa:model.arpa.
    """
    return open_scorer(uri, built_in=BUILT_IN)


__all__ = ["BUILT_IN", "Maker", "ScoredSentences", "Scorer", "Scores", "Spec", "score_sentences", "scorer"]
