#!/usr/bin/env bash
# The .csv of a PsychoPy loop (TrialHandler.saveAsWideText, psychopy 2025.2.4) separates by commas and quotes nothing:
# a sentence with a comma moves every cell behind it by one, and its answer stands under another column's name. The
# .csv of the experiment (ExperimentHandler.saveAsWideText) quotes.
# Guess beforehand: both quote, as both are called .csv.
# What follows: the file of a loop is refused with the file to give instead; rows with too many cells are never cut.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/v"
"$folder/v/bin/pip" install --quiet --no-deps psychopy==2025.2.4
"$folder/v/bin/pip" install --quiet numpy==2.4.6 pandas==3.1.1 scipy==1.17.1 openpyxl==3.1.5 json-tricks==3.17.3 packaging==26.4 pyyaml==6.0.4 configobj==5.0.9 six==1.17.0 \
  msgpack==1.2.4 msgpack-numpy==0.4.8 requests==2.34.2 questplus==2023.1 xmlschema==4.3.2 future==1.0.0 pillow==13.0.0 esprima==4.0.1 javascripthon==0.13 pyzmq==27.3.0 freetype-py==2.5.1 python-bidi==0.6.12 arabic-reshaper==3.1.0 setuptools==70.3.0
cd "$folder"; HOME="$folder" "$folder/v/bin/python" -W ignore - <<'PYTHON'
import csv
from psychopy import data
experiment = data.ExperimentHandler(name="a", savePickle=False, saveWideText=False)
trials = data.TrialHandler([{"sentence": "She left, I think.", "item": 1}], nReps=1, method="sequential", name="trials")
experiment.addLoop(trials)
for trial in trials:
    trials.addData("rating", 6)
    experiment.nextEntry()
trials.saveAsWideText("loop.csv")
experiment.saveAsWideText("experiment.csv")
seen = {}
for name in ("loop.csv", "experiment.csv"):
    with open(name, encoding="utf-8-sig", newline="") as file:
        header, row = list(csv.reader(file))[:2]
    seen[name] = dict(zip(header, row))["sentence"], len(row) - len(header)
print("psychopy 2025.2.4, sentence and cells beyond the header:", seen)
assert seen == {"loop.csv": ("She left", 1), "experiment.csv": ("She left, I think.", 0)}, seen
PYTHON
