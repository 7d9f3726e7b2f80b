#!/usr/bin/env bash
# Weighted kappa of ratings that are words: scikit-learn 1.8.0 orders the points by the alphabet. "bad" and "good" then
# are neighbours and "ok" the far end, so that the weights belong to another scale than that of the participants.
# Guess beforehand: an error for words, which have no order.
# What follows: weighted coefficients are computed from numbered points of the scale only, and words need their meaning.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/v"; "$folder/v/bin/pip" install --quiet scikit-learn==1.8.0
"$folder/v/bin/python" -W ignore - <<'PYTHON'
from sklearn.metrics import cohen_kappa_score
first = ["bad", "ok", "good", "good", "bad", "ok"]
second = ["ok", "ok", "good", "ok", "bad", "good"]
points = {"bad": 1, "ok": 2, "good": 3}
def kappa(a, b):
    return round(float(cohen_kappa_score(a, b, weights="quadratic")), 3)
seen = {"words": kappa(first, second), "numbers": kappa([points[w] for w in first], [points[w] for w in second])}
print("scikit-learn 1.8.0:", seen)
assert seen == {"words": 0.25, "numbers": 0.571}, seen
PYTHON
