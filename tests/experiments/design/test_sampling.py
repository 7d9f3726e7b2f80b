"""k items of n per list."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.errors import BadInput
from experiments.design import Stimulus, sampled_blocks


@given(st.integers(1, 20), st.data(), st.integers(0, 50))
def test_items_are_used_equally_often_and_once_per_block(n, data, seed):
    k = data.draw(st.integers(1, n))
    stimuli = [Stimulus(f"{i}{c}", str(i), c, "p") for i in range(n) for c in "ab"]
    blocks = sampled_blocks(stimuli, np.random.default_rng(seed), per_paradigm=k)
    for block in blocks:
        assert Counter(stimulus.item for stimulus in block) == dict.fromkeys(
            {stimulus.item for stimulus in block}, 2
        )
        assert len(block) == 2 * k
    uses = Counter(item for block in blocks for item in {stimulus.item for stimulus in block})
    assert len(uses) == n and max(uses.values()) - min(uses.values()) <= 1


def test_too_few_items_names_the_paradigm():
    with pytest.raises(BadInput, match="paradigm 'npi' has 3 items, but 5 per list"):
        sampled_blocks(
            [Stimulus(str(i), str(i), paradigm="npi") for i in range(3)],
            np.random.default_rng(1),
            per_paradigm=5,
        )
