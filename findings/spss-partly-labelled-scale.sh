#!/usr/bin/env bash
# A Likert scale in an SPSS file (Qualtrics, LimeSurvey and SoSci write them) labels only its ends. pandas.read_spss
# (pandas 2.3.3, pyreadstat 1.3.7) then gives a column of words and numbers: 'bad', 4.0, 'good'. A value that the file
# declares as missing (99 = skipped) is silently empty, and stays only with user_missing=True, which pandas does not offer.
# Guess beforehand: numbers throughout, with the labels in the metadata.
# What follows: export CSV with values, not labels, or read with pyreadstat and apply_value_formats=False.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/v"; "$folder/v/bin/pip" install --quiet pandas==2.3.3 pyreadstat==1.3.7
"$folder/v/bin/python" -W ignore - "$folder/a.sav" <<'PYTHON'
import sys
import pandas as pd, pyreadstat
pyreadstat.write_sav(
    pd.DataFrame({"rating": [1, 7, 99, 4]}), sys.argv[1], missing_ranges={"rating": [99]},
    variable_value_labels={"rating": {1: "bad", 7: "good", 99: "skipped"}},
)
seen = {
    "pandas.read_spss": pd.read_spss(sys.argv[1])["rating"].tolist(),
    "pyreadstat": pyreadstat.read_sav(sys.argv[1])[0]["rating"].tolist(),
    "pyreadstat, user_missing": pyreadstat.read_sav(sys.argv[1], user_missing=True)[0]["rating"].tolist(),
}
for name, values in seen.items():
    print(name, "→", values)
assert str(seen["pandas.read_spss"]) == "['bad', 'good', nan, 4.0]", seen
assert str(seen["pyreadstat"]) == "[1.0, 7.0, nan, 4.0]", seen
assert seen["pyreadstat, user_missing"] == [1.0, 7.0, 99.0, 4.0], seen
PYTHON
