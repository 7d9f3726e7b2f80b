"""Filtered corpus training from models of two architectures at hand."""

import pytest

from releases.papers.holdings import open_holdings
from releases.papers.reproduce import reproduce
from tests.releases.papers import data
from tests.releases.papers.test_adc import rows_of


def test_models_at_hand_are_tested_and_drawn(tmp_path):
    built = reproduce("fict", open_holdings(data.fict(tmp_path)))
    table = rows_of(built.numbers, "table-1")
    assert table["distractor_agreement_relational_noun", "% items targeted"]["ours"] == 50
    tests = rows_of(built.numbers, "tests")
    # Perplexities 50, 54, 52 and 45, 47, 46: differences 5, 7, 6 over three corpora.
    assert tests["LSTM", "mean perplexity"]["ours"] == 52
    assert tests["LSTM against Transformer", "perplexity, t"]["ours"] == pytest.approx(6 * 3**0.5)
    # Of the determiners' two pairs the filtered LSTM gets one, the full one both; the Transformers both.
    assert tests["LSTM", "mean delta, targeted"]["ours"] == -50
    assert tests["Transformer", "mean delta, targeted"]["ours"] == 0
    assert tests["LSTM", "mean accuracy, all"]["ours"] == pytest.approx((100 + 75 + 75) / 3)
    figure = rows_of(built.numbers, "figure-5")
    assert figure["LSTM", "mean probability delta, full"]["ours"] == pytest.approx(2.5)
    assert figure["LSTM", "mean probability delta, full"]["difference"] == pytest.approx(0.09)
    assert "det-noun" in built.files["figure-2-lstm.data.csv"].decode()
    assert {"figure-6-transformer.data.csv", "figure-4-det-noun.data.csv", "figure-5a.data.csv"} <= set(
        built.files
    )


def test_nothing_at_hand_says_what_to_bring(tmp_path):
    numbers = reproduce("fict", open_holdings(tmp_path)).numbers
    assert all(row["state"] == "missing" and row["bring"] for row in numbers["exhibits"])
