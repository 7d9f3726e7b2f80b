#!/usr/bin/env bash
# pandas.read_json (pandas 3.1.1) reads strings of digits as numbers, although JSON writes them in quotes: the ids
# "01" and "1" become one, and a table joined by them has rows of another item. dtype=False, or a type for each such
# column, keeps them.
# Guess beforehand: a string of JSON stays a string, as in json.loads.
# What follows: the manual reads releases with dtype=False or from Parquet; ids of imports are texts in every format.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/v"
"$folder/v/bin/pip" install --quiet pandas==3.1.1 numpy==2.4.6
"$folder/v/bin/python" - <<'PYTHON'
import io
import pandas as pd
LINES = '{"item": "01", "rating": 6}\n{"item": "1", "rating": 2}\n'
seen = {}
for name, options in {"default": {}, "dtype=False": {"dtype": False}, "str": {"dtype": {"item": str}}}.items():
    frame = pd.read_json(io.StringIO(LINES), lines=True, **options)
    seen[name] = sorted(map(repr, frame["item"].tolist())), frame.groupby("item")["rating"].mean().size
print("pandas", pd.__version__, "items read and number of items:", seen)
assert seen["default"] == (["1", "1"], 1), seen
assert seen["dtype=False"] == seen["str"] == (["'01'", "'1'"], 2), seen
PYTHON
