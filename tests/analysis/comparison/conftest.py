"""Sixty pairs that people and three models judged, for what compares them in depth."""

import numpy as np
import pandas as pd
import pytest

N = 60


@pytest.fixture
def frames():
    """Sixty pairs of six phenomena; one model near to people, one far, one with gaps."""
    rng = np.random.default_rng(11)
    good, bad = [f"g{i}" for i in range(N)], [f"b{i}" for i in range(N)]
    pairs = pd.DataFrame({
        "pair_id": [f"p{i}" for i in range(N)], "good_id": good, "bad_id": bad,
        "paradigm": [f"paradigm {i // 5}" for i in range(N)],
        "phenomenon": [f"phenomenon {i // 10}" for i in range(N)],
        "sentence_good": ["word " * (3 + i % 4) for i in range(N)],
        "dependency_length": [i % 5 if i % 7 else None for i in range(N)],
        "attractor": ["none" if i % 2 else "plural" for i in range(N)],
    })  # fmt: skip
    truth = np.concatenate([rng.normal(0.6, 0.5, N), rng.normal(-0.6, 0.5, N)])
    human = pd.DataFrame({"sentence_id": good + bad, "score": truth})
    gaps = truth + rng.normal(0, 1, 2 * N)
    gaps[:7] = np.nan
    scores = pd.DataFrame({
        "sentence_id": good + bad,
        "near:lp": truth * 2 - 20 + rng.normal(0, 0.5, 2 * N),
        "far:lp": rng.normal(-20, 1, 2 * N),
        "gaps:slor": gaps,
    })  # fmt: skip
    return human, pairs, scores
