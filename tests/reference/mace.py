"""Writes mace.json. Run in an environment of its own: pip install crowd-kit==1.4.2, then python mace.py

crowd-kit orders counts by name and annotators by appearance, so both orders are one here.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd
from crowdkit.aggregation import MACE

ITEMS, LABELS = 40, "abc"
COMPETENCE = (0.95, 0.8, 0.7, 0.4, 0.1, 0.05)
STRATEGY = (
    (0.3, 0.3, 0.4),
    (0.5, 0.3, 0.2),
    (0.2, 0.2, 0.6),
    (0.4, 0.4, 0.2),
    (0.9, 0.05, 0.05),
    (0.1, 0.1, 0.8),
)

rng = np.random.default_rng(45)
truth = rng.integers(3, size=ITEMS)
rows = [
    (
        f"i{item:02}",
        f"P{person}",
        LABELS[truth[item] if rng.random() < knows else rng.choice(3, p=STRATEGY[person])],
    )
    for item in range(ITEMS)
    for person, knows in enumerate(COMPETENCE)
    if rng.random() < 0.8
]
answers = pd.DataFrame(rows, columns=["task", "worker", "label"]).sort_values(["worker", "label", "task"])
model = MACE(n_restarts=1, n_iter=3000)
model.fit(answers)
people = sorted(answers["worker"].unique())
_, _, _, knowing = model._e_step(
    answers.copy(),
    list(pd.factorize(answers["task"])[1]),
    people,
    list(LABELS),
    *(pd.factorize(answers[name])[0] for name in ("task", "worker", "label")),
)
document = {
    "program": "crowd-kit 1.4.2, MACE(n_restarts=1, n_iter=3000)",
    "answers": answers.values.tolist(),
    "probabilities": {
        str(item): {label: round(float(value), 9) for label, value in row.items()}
        for item, row in model.probas_.sort_index().iterrows()
    },
    "guesses": {
        person: round(float(knowing.loc[person, "knowing_expected_count_0"]), 6) for person in people
    },
}
Path(__file__).with_suffix(".json").write_text(json.dumps(document) + "\n")
