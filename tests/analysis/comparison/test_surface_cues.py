"""Surface cues of minimal pairs."""

import numpy as np
import pandas as pd
import pytest

from analysis.comparison.surface_cues import naive_bayes_accuracy, surface_cues
from analysis.errors import MissingColumns
from analysis.ngrams import train_model

NOUNS = ["monk", "porter", "judge", "clerk", "cook", "baker", "mayor", "tailor", "sailor", "miller"]


def table(rows):
    return pd.DataFrame(rows, columns=["sentence_good", "sentence_bad"])


def agreement(n=200):
    rng = np.random.default_rng(1)
    rows = []
    for place in range(n):
        first, second = rng.choice(NOUNS, 2, replace=False)
        good = [f"The {first} near the {second}s is here.", f"The {first} near the {second}s are here."]
        plural = [f"The {first}s near the {second} are here.", f"The {first}s near the {second} is here."]
        rows.append(good if place % 2 else plural)
    return table(rows)


def test_a_balanced_agreement_is_not_solved_by_words():
    cues = surface_cues(agreement())
    assert 0.35 < cues.words < 0.65 and not cues.solved_by_words
    assert cues.shorter_in_words == 0.5 and cues.final_mark == 0.5


def test_a_licensor_is_solved_by_words():
    cues = surface_cues(table([(f"Only the {a} yawned.", f"Even the {a} yawned.") for a in NOUNS]))
    assert cues.words == cues.bigrams == 1.0 and cues.solved_by_words
    assert cues.overlap == pytest.approx(3 / 4) and cues.near_duplicates == 1.0 and cues.repeated == 0


def test_the_same_words_in_another_order_are_ties_for_words_and_clear_for_bigrams():
    cues = surface_cues(table([(f"Did the {a} leave?", f"The {a} did leave?") for a in NOUNS]))
    assert cues.words == 0.5 and cues.bigrams == 1.0 and cues.overlap == 1.0


def test_lengths_and_marks_are_cues():
    cues = surface_cues(table([(f"Has the {a} left?", f"The {a} has now left.") for a in NOUNS]))
    assert cues.shorter_in_words == cues.shorter_in_characters == cues.final_mark == 1.0
    cues = surface_cues(table([("A b?", "A b."), ("C d.", "C d?"), ("E f?", "E f."), ("G h.", "G h.")]))
    assert cues.final_mark == pytest.approx((2 + 0.5) / 4)


def test_repetitions_are_counted():
    cues = surface_cues(table([("A b.", "A c."), ("A b.", "A d."), ("E f.", "G h.")]))
    assert cues.repeated == 1 and cues.near_duplicates == pytest.approx(2 / 3)


def test_naive_bayes_is_that_of_a_plain_loop():
    rng = np.random.default_rng(3)
    good, bad = ([tuple(rng.choice(list("abcdefg"), 4)) for _ in range(25)] for _ in range(2))
    right = 0.0
    for fold in range(5):
        train = [place for place in range(25) if place % 5 != fold]
        vocabulary = {w for side in (good, bad) for words in side for w in words}
        counts = [dict.fromkeys(vocabulary, 1) for _ in range(2)]
        for side, table_ in zip((good, bad), counts, strict=True):
            for place in train:
                for word in side[place]:
                    table_[word] += 1

        def score(words, counts=counts):
            totals = [sum(counts[0].values()), sum(counts[1].values())]
            return sum(np.log(counts[0][w] / totals[0]) - np.log(counts[1][w] / totals[1]) for w in words)

        for place in range(fold, 25, 5):
            difference = round(score(good[place]) - score(bad[place]), 9)
            right += 1 if difference > 0 else 0.5 if difference == 0 else 0
    assert naive_bayes_accuracy(good, bad) == pytest.approx(right / 25)


def test_a_language_model_judges_the_pairs():
    text = [f"the {noun} is here".split() for noun in NOUNS] + [
        f"the {noun}s are here".split() for noun in NOUNS
    ]
    rows = [(f"The {noun} is here.", f"The {noun} are here.") for noun in NOUNS]
    cues = surface_cues(table(rows), models={"trigram": train_model(text, order=3)})
    assert cues.models == {"trigram": 1.0} and not np.isnan(cues.document()["words"])


def test_a_table_without_pairs_is_refused():
    with pytest.raises(MissingColumns, match="sentence_bad"):
        surface_cues(pd.DataFrame({"sentence_good": ["A."]}))
