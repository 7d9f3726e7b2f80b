"""CLiMP from its published pairs beside BLiMP's batch, and from a small folder."""

import pytest

from releases.papers.holdings import open_holdings
from releases.papers.reproduce import reproduce
from tests.releases.papers import data
from tests.releases.papers.test_adc import rows_of


def test_agreement_with_blimp_is_had_from_its_batch(shared_data, tmp_path):
    (tmp_path / "blimp").mkdir()
    (tmp_path / "blimp/human_responses.csv").symlink_to(shared_data("blimp/human_responses.csv"))
    (tmp_path / "climp").mkdir()
    for name in ("ba_construction_1000.csv", "classifier_clause_1000.csv"):
        (tmp_path / "climp" / name).symlink_to(shared_data(f"climp/{name}"))
    numbers = reproduce("climp", open_holdings(tmp_path)).numbers
    joint = rows_of(numbers, "joint")
    names = ("anaphor agreement", "binding", "filler-gap", "overall")
    assert [joint[name, "BLiMP"]["agrees"] for name in names] == [True] * 4
    table = rows_of(numbers, "table-2")["5-gram-0.4M-char", "classifier"]
    assert 50 < table["ours"] <= 100 and "other 400" in table["stand_in"]
    assert any("judgments.csv" in text for row in numbers["exhibits"] for text in row["bring"])


def test_judgments_vocabulary_and_pairs_at_hand_fill_the_tables(tmp_path):
    built = reproduce("climp", open_holdings(data.climp(tmp_path)))
    validation = rows_of(built.numbers, "validation")
    # One of twenty answers is wrong in each paradigm; every majority is right.
    assert validation["first round", "individual agreement, %"]["ours"] == pytest.approx(95)
    assert validation["second round", "majority agreement, %"]["ours"] == 100
    figure = rows_of(built.numbers, "figure-1")
    assert figure["CLiMP", "words"]["ours"] == 3
    assert figure["CLiMP", "words among the 5,000 most frequent"]["ours"] == 2
    assert rows_of(built.numbers, "joint")["binding", "CLiMP"]["ours"] == pytest.approx(95)
    assert rows_of(built.numbers, "table-2")["people", "anaphor agreement"]["ours"] == pytest.approx(95)
    assert "people" in built.files["table-2.tex"].decode()
