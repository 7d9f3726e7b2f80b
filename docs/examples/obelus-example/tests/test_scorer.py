import pytest

from analysis.errors import UnknownName
from analysis.scoring.model_uri import parse_model_uri
from obelus_example.scorer import ExampleScorer


def test_shorter_sentences_score_higher():
    scorer = ExampleScorer(parse_model_uri("example:characters"))
    assert scorer.score(["a cat", "cats"]).logprob.tolist() == [-5.0, -4.0]


def test_an_unknown_model_is_refused():
    with pytest.raises(UnknownName, match="characters"):
        ExampleScorer(parse_model_uri("example:character"))
