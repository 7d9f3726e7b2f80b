"""How far people lie apart on an item, compared only with people who rated the same sentence."""

import pandas as pd
import pytest

from analysis.agreement.item_statistics import item_spread
from analysis.scales import zscore_by_participant


def latin_square():
    """Four people, two lists: nobody rates both sentences of an item; people part over item ``b``."""
    sentences = {"p": ("a1", "b2", "c1", "d2"), "q": ("a1", "b2", "c1", "d2")}
    sentences |= {"r": ("a2", "b1", "c2", "d1"), "s": ("a2", "b1", "c2", "d1")}
    ratings = {"p": (7, 1, 5, 3), "q": (7, 7, 5, 3), "r": (1, 2, 4, 6), "s": (1, 6, 4, 6)}
    rows = [
        {"participant": participant, "item": sentence[0], "sentence_id": sentence, "value": float(value)}
        for participant in sentences
        for sentence, value in zip(sentences[participant], ratings[participant], strict=True)
    ]
    return pd.DataFrame(rows).assign(task="likert", kind="target", paradigm="x")


def test_the_item_on_which_people_part_has_the_largest_spread():
    items = item_spread(latin_square()).set_index("item")
    assert items["spread"].idxmax() == "b"
    assert items["n_rated"].tolist() == [4, 4, 4, 4]


def test_the_spread_is_the_pooled_sd_of_z_within_sentences():
    rows = latin_square()
    z = zscore_by_participant(rows)
    of_item = rows[rows["item"] == "b"].assign(z=z)
    apart = of_item["z"] - of_item.groupby("sentence_id")["z"].transform("mean")
    by_hand = ((apart**2).sum() / 2) ** 0.5  # two sentences of two ratings each: one degree of freedom each
    items = item_spread(rows).set_index("item")
    assert items.loc["b", "spread"] == pytest.approx(by_hand)


def test_one_rating_of_each_sentence_has_no_spread():
    single = latin_square().query("participant in ['p', 'r']")
    assert item_spread(single)["spread"].isna().all()


def test_choices_have_no_ratings():
    assert item_spread(latin_square().assign(task="forced_choice")).empty
