#!/usr/bin/env bash
# OpenSesame's own reader of its logs (datamatrix 1.0.20) turns words into numbers: a stimulus "nan" or "inf" becomes
# a float, participant 001 becomes 1, and an answer "1_000" becomes 1000 while "0x10" stays text.
# Guess beforehand: words and ids stay text, as csv.reader gives them.
# What follows: ids and stimuli of OpenSesame logs are to be taken from the CSV as text, never from a DataMatrix.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/v"; "$folder/v/bin/pip" install --quiet datamatrix==1.0.20
cat >"$folder/log.csv" <<'CSV'
subject_nr,word,response
001,inf,1e3
002,nan,0x10
010,True,1_000
CSV
"$folder/v/bin/python" -W ignore - "$folder/log.csv" <<'PYTHON'
import csv, sys
from datamatrix import io
matrix = io.readtxt(sys.argv[1])
seen = {name: [repr(value) for value in matrix[name]] for name in ("subject_nr", "word", "response")}
with open(sys.argv[1], newline="") as file:
    print("in the file:", list(csv.reader(file))[1:])
print("datamatrix 1.0.20:", seen)
assert seen == {
    "subject_nr": ["1", "2", "10"], "word": ["inf", "nan", "'True'"], "response": ["1000", "'0x10'", "1000"],
}, seen
PYTHON
