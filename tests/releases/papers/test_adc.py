"""The paper of the acceptability delta criterion from published data, and from a small folder."""

import pytest

from releases.papers.holdings import open_holdings
from releases.papers.reproduce import HTML, reproduce
from tests.releases.papers import data


def rows_of(numbers, exhibit):
    """Rows of an exhibit by row and measure."""
    return {(row["row"], row["measure"]): row for row in numbers["rows"] if row["exhibit"] == exhibit}


def test_the_published_numbers_of_li_adger_are_had_from_its_files(shared_data, tmp_path):
    (tmp_path / "li-adger").symlink_to(shared_data("li-adger"))
    numbers = reproduce("adc", open_holdings(tmp_path)).numbers
    assert rows_of(numbers, "data")["LI-Adger", "pairs compared"]["agrees"]
    for exhibit, n in (("table-2", 3), ("table-3", 4), ("table-4", 2), ("table-6", 7)):
        agree = [row["agrees"] for row in rows_of(numbers, exhibit).values() if row["agrees"] is not None]
        assert agree == [True] * n, exhibit
    states = {row["exhibit"]: row["state"] for row in numbers["exhibits"]}
    assert states["table-1"] == "missing" and states["table-4"] == "in part" and len(states) == 14


def test_brought_scores_and_decisions_fill_the_tables(tmp_path):
    data.li_adger(tmp_path)
    data.adc_scores(tmp_path)
    data.cola(tmp_path)
    built = reproduce("adc", open_holdings(tmp_path))
    table = rows_of(built.numbers, "table-1")
    # Pairs right: two of three; differences beside people's, z over six sentences, by hand.
    assert table["BERT-large-cased CoLA", "BLiMP"]["ours"] == 1
    assert table["BERT-large-cased CoLA", "BLiMP"]["difference"] == pytest.approx(1 - 0.936)
    assert table["BERT-large-cased CoLA", "ADC 5"]["ours"] == pytest.approx(2 / 3)
    assert table["trigram SLOR", "BLiMP"]["ours"] == pytest.approx(1 / 3)
    assert (
        rows_of(built.numbers, "table-6")["pairs that meet BLiMP and fail ADC 5", "BERT-large-cased CoLA"][
            "ours"
        ]
        == 1
    )
    assert b"We proved Amelia" in built.files["table-6-bert-large-cased-cola.csv"]
    restarts = rows_of(built.numbers, "table-5")
    assert restarts["BERT-base-uncased", "max"]["ours"] == pytest.approx(0.7071, abs=1e-4)
    assert restarts["BERT-base-uncased", "ensemble"]["ours"] == 1
    assert "Question" in built.files["figure-2-mcc.csv"].decode()
    assert "Question" in built.files[HTML].decode()


def test_nothing_at_hand_says_what_to_bring(tmp_path):
    numbers = reproduce("adc", open_holdings(tmp_path)).numbers
    lacking = [row for row in numbers["exhibits"] if row["exhibit"] != "equations"]
    assert all(row["state"] == "missing" and row["bring"] for row in lacking)
    assert any("li-adger_min_pairs.csv" in text for row in lacking for text in row["bring"])
