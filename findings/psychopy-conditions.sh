#!/usr/bin/env bash
# A file of conditions, as PsychoPy 2025.2.4 reads it (data.importConditions): the sentence "NA" and the condition "None"
# become None, the sentence "[1, 2]" a list, and the number "1,000" is 1.0, because a comma is taken for a decimal one.
# Guess beforehand: text stays text, and "1,000" stays text or is 1000.
# What follows: conditions and sentences are joined from the file of conditions, not from what PsychoPy recorded; empty
# cells of them are named by row.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/v"
"$folder/v/bin/pip" install --quiet --no-deps psychopy==2025.2.4
"$folder/v/bin/pip" install --quiet numpy==2.3.5 pandas==2.3.3 scipy==1.17.1 openpyxl==3.1.5 json-tricks==3.17.3 packaging==26.4 pyyaml==6.0.4 configobj==5.0.9 six==1.17.0 \
  msgpack==1.2.4 msgpack-numpy==0.4.8 requests==2.34.2 questplus==2023.1 xmlschema==4.3.2 future==1.0.0 pillow==13.0.0 esprima==4.0.1 \
  javascripthon==0.13 pyzmq==27.3.0 freetype-py==2.5.1 python-bidi==0.6.12 arabic-reshaper==3.1.0 setuptools==70.3.0
cd "$folder"
printf 'condition,sentence,modulus\nNone,It rains.,100\nfull,NA,"1,000"\nfull,"[1, 2]",2\n' >conditions.csv
HOME="$folder" "$folder/v/bin/python" -W ignore - <<'PYTHON'
from psychopy import data
seen = [tuple(row.values()) for row in data.importConditions("conditions.csv")]
print("psychopy 2025.2.4:", seen)
assert seen == [(None, "It rains.", 100.0), ("full", None, 1.0), ("full", [1, 2], 2.0)], seen
PYTHON
