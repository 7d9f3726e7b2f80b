#!/usr/bin/env bash
# A participant who judges one sentence twice, differently: nltk 3.9.2 lets one of the two count, by the order of the
# rows. The same judgments in another order give another kappa (0 or -1) and agreement (0.67 or 0.33), without a word.
# Guess beforehand: an error, or both judgments count.
# What follows: repeated judgments are found and reported before agreement is computed, never dropped by order.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/v"; "$folder/v/bin/pip" install --quiet nltk==3.9.2
"$folder/v/bin/python" -W ignore - <<'PYTHON'
from nltk.metrics.agreement import AnnotationTask
others = [("p1", "s2", "no"), ("p2", "s1", "yes"), ("p2", "s2", "no"), ("p1", "s3", "yes"), ("p2", "s3", "no")]
twice = [("p1", "s1", "yes"), ("p1", "s1", "no")]
seen = {}
for name, rows in (("yes first", twice), ("no first", twice[::-1])):
    task = AnnotationTask(data=[*rows, *others])
    seen[name] = (round(task.alpha(), 3), round(task.kappa(), 3), round(task.avg_Ao(), 3))
print("nltk 3.9.2, alpha, kappa, agreement:", seen)
assert seen == {"yes first": (0.0, 0.0, 0.667), "no first": (0.0, -1.0, 0.333)}, seen
PYTHON
