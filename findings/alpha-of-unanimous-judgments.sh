#!/usr/bin/env bash
# Krippendorff's alpha of judgments that are all the same: krippendorff 0.9.0 raises, crowd-kit 1.4.2 returns 1.0, and
# simpledorff 0.0.2 fails in a division; Fleiss' kappa of irrCAC 0.4.4 fails in a division as well.
# Guess beforehand: all four undefined (nan), as 1 - 0/0.
# What follows: perfect agreement on a set without variation has no coefficient; which number a paper prints for it
# depends on the library, so it is reported as undefined, with the share of equal judgments beside it.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/v"
"$folder/v/bin/pip" install --quiet krippendorff==0.9.0 crowd-kit==1.4.2 simpledorff==0.0.2 irrCAC==0.4.4
"$folder/v/bin/python" -W ignore - <<'PYTHON'
import krippendorff, pandas as pd, simpledorff
from crowdkit.metrics.data import alpha_krippendorff
from irrCAC.raw import CAC
rows = pd.DataFrame([(s, w, "yes") for s in ("s1", "s2") for w in ("w1", "w2")], columns=["task", "worker", "label"])
def outcome(function):
    try:
        return repr(float(function()))
    except Exception as error:
        return type(error).__name__
seen = {
    "krippendorff 0.9.0": outcome(lambda: krippendorff.alpha([[1, 1], [1, 1]], level_of_measurement="nominal")),
    "crowd-kit 1.4.2": outcome(lambda: alpha_krippendorff(rows)),
    "simpledorff 0.0.2": outcome(lambda: simpledorff.calculate_krippendorffs_alpha_for_df(
        rows, experiment_col="task", annotator_col="worker", class_col="label")),
    "irrCAC 0.4.4, Fleiss": outcome(lambda: CAC(pd.DataFrame({"w1": [1, 1], "w2": [1, 1]})).fleiss()["est"]["coefficient_value"]),
}
for name, result in seen.items():
    print(name, "→", result)
assert seen == {
    "krippendorff 0.9.0": "ValueError", "crowd-kit 1.4.2": "1.0", "simpledorff 0.0.2": "ZeroDivisionError",
    "irrCAC 0.4.4, Fleiss": "ZeroDivisionError",
}, seen
PYTHON
