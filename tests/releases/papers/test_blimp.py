"""BLiMP from the published validation batch, and from a small folder."""

import pytest

from releases.papers.holdings import open_holdings
from releases.papers.reproduce import HTML, reproduce
from tests.releases.papers import data
from tests.releases.papers.test_adc import rows_of


def test_the_published_batch_gives_the_human_numbers_of_both_tables(shared_data, tmp_path):
    (tmp_path / "blimp").mkdir()
    (tmp_path / "blimp/human_responses.csv").symlink_to(shared_data("blimp/human_responses.csv"))
    built = reproduce("blimp", open_holdings(tmp_path))
    agree = {row["exhibit"]: (row["agree"], row["compared"]) for row in built.numbers["exhibits"]}
    assert agree["validation"] == (4, 4) and agree["table-2"] == (12, 12)
    # Printed 90.9 for 90.96; two paradigms of irregular plurals are printed in each other's place.
    assert agree["table-3"] == (12, 13) and agree["table-4"] == (65, 67)
    states = {row["exhibit"]: row["state"] for row in built.numbers["exhibits"]}
    assert states["figure-1"] == "in part" and states["figure-2"] == "missing"
    between = rows_of(built.numbers, "figure-3")["5-gram, adjective between", "difference, points"]
    assert between["ours"] == pytest.approx(-35, abs=0.5) and "as printed" in between["stand_in"]
    assert r"anaphor\_gender\_agreement & 96" in built.files["table-4.tex"].decode()


def test_pairs_and_released_accuracies_at_hand_fill_the_columns_of_models(tmp_path):
    built = reproduce("blimp", open_holdings(data.blimp(tmp_path)))
    table = rows_of(built.numbers, "table-4")
    lstm = table["determiner_noun_agreement_1", "LSTM"]
    assert lstm["ours"] == pytest.approx(91.8) and lstm["agrees"]
    # A model of our own is scored where pairs and a text are at hand, and is no number of the paper's.
    ngram = table["determiner_noun_agreement_1", "5-gram"]
    assert ngram["ours"] == 100 and ngram["agrees"] is None and "WikiText-2" in ngram["stand_in"]
    assert r"$\checkmark$" in built.files["table-4.tex"].decode()
    assert "one-prefix" in built.files["figure-6.data.csv"].decode()
    assert "Accuracy by length" in built.files[HTML].decode()
