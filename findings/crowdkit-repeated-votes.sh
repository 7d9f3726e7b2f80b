#!/usr/bin/env bash
# crowd-kit 1.4.2 counts a worker who answers twice as two votes: one "yes" sent twice against two "no" of others is a
# tie. Whom a tie goes to depends on the version of pandas beside it: the label first in the alphabet with pandas 2.3.3,
# the label first in the table with pandas 3.0.1.
# Guess beforehand: one vote a worker, and a tie drawn at random or reported.
# What follows: repeated answers of a participant are to be reduced to one, and ties counted apart, before a majority.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
cat >"$folder/votes.py" <<'PYTHON'
import sys
import pandas as pd
from crowdkit.aggregation import MajorityVote
def votes(*rows):
    return pd.DataFrame(rows, columns=["task", "worker", "label"])
yes, no = [("s1", "w1", "yes")], [("s1", "w2", "no"), ("s1", "w3", "no")]
cases = {"yes once": votes(*yes, *no), "yes twice": votes(*yes, *yes, *no)}
seen = {}
for name, case in cases.items():
    shares = MajorityVote().fit_predict_proba(case).loc["s1"].round(3).to_dict()
    seen[name] = (shares, sorted({MajorityVote().fit_predict(case)["s1"] for _ in range(20)}))
    print(f"crowd-kit 1.4.2, pandas {pd.__version__}, {name}: {shares}, winners in 20 runs {seen[name][1]}")
assert seen["yes once"] == ({"no": 0.667, "yes": 0.333}, ["no"]), seen
assert seen["yes twice"] == ({"no": 0.5, "yes": 0.5}, [sys.argv[1]]), seen
PYTHON
for case in 2.3.3=no 3.0.1=yes; do
  python3 -m venv --clear "$folder/v"; "$folder/v/bin/pip" install --quiet crowd-kit==1.4.2 "pandas==${case%=*}"
  "$folder/v/bin/python" -W ignore "$folder/votes.py" "${case#*=}"
done
