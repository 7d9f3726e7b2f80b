"""Agreement of two annotators."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from analysis.errors import BadInput, UnknownName
from analysis.reliability.kappa import cohen_kappa

points = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=2, max_size=40)


def test_vector_cohen(shared_vectors):
    vector = shared_vectors["cohen"]
    a, b = pd.Series(vector["input"]["a"]), pd.Series(vector["input"]["b"])
    names = {"none": "kappa", "linear": "linear", "quadratic": "quadratic"}
    for weights, name in names.items():
        assert cohen_kappa(a, b, weights=weights).value == pytest.approx(vector["expected"][name], abs=1e-9)


@given(points, st.sampled_from(["none", "linear", "quadratic"]))
def test_it_equals_scikit_learn_on_the_whole_scale(pairs, weights):
    a, b = (pd.Series(side) for side in zip(*pairs, strict=True))
    kappa = cohen_kappa(a, b, weights=weights)
    if kappa.value is None:
        assert kappa.status == "no_variation" and len({*a, *b}) == 1
    else:
        weighting = None if weights == "none" else weights
        expected = cohen_kappa_score(a, b, weights=weighting, labels=[1, 2, 3, 4, 5])
        assert kappa.value == pytest.approx(expected, abs=1e-9)


@given(points)
def test_the_order_of_annotators_and_items_does_not_matter(pairs):
    a, b = (pd.Series(side) for side in zip(*pairs, strict=True))
    first, other = cohen_kappa(a, b, weights="linear"), cohen_kappa(b[::-1], a[::-1], weights="linear")
    assert first.value == pytest.approx(other.value) if first.value is not None else other.value is None


def test_items_that_one_left_out_do_not_count():
    a, b = pd.Series([1, 2, None, 3]), pd.Series([1, 3, 2, None])
    assert cohen_kappa(a, b).value == cohen_kappa(a[:2], b[:2]).value
    assert cohen_kappa(pd.Series([None]), pd.Series([1.0])).status == "no_data"


def test_words_have_no_distances():
    a, b = pd.Series(["yes", "no"]), pd.Series(["yes", "yes"])
    assert cohen_kappa(a, b).value == 0
    with pytest.raises(BadInput, match="numbers"):
        cohen_kappa(a, b, weights="linear")
    with pytest.raises(UnknownName, match="quadratic"):
        cohen_kappa(a, b, weights="quadratik")
    with pytest.raises(BadInput, match="2 and 1"):
        cohen_kappa(a, b[:1])
