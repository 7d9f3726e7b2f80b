#!/usr/bin/env bash
# A log of OpenSesame (opensesame-core 4.1.22) in which some trials have no question, as fillers do: their rows repeat the
# answer to the last question, because variables keep their values and the logger writes all of them.
# Guess beforehand: NA in rows of trials without the question.
# What follows: rows in which count_NAME, the number of times that the item NAME ran, did not change are no judgments.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/v"; "$folder/v/bin/pip" install --quiet opensesame-core==4.1.22 pygame==2.6.1
cd "$folder"; HOME="$folder" SDL_VIDEODRIVER=dummy "$folder/v/bin/python" -W ignore - 2>/dev/null <<'PYTHON'
import csv
from libopensesame.experiment import Experiment
script = 'set title "a"\nset start "s"\nset clock_backend "legacy"\ndefine logger log\ndefine sequence s\n\trun log\n'
experiment = Experiment(string=script, name="a", logfile="log.csv", experiment_path=".", subject_nr=1)
experiment.init_clock()
experiment.init_log()
log = experiment.items["log"]
for variables in ({"sentence": "She left.", "response_rating": 7}, {"sentence": "a filler without a question"}):
    for name, value in variables.items():
        experiment.var.set(name, value)
    log.prepare()
    log.run()
with open("log.csv", encoding="utf-8-sig") as file:
    seen = [(row["sentence"], row["response_rating"]) for row in csv.DictReader(file)]
print("opensesame-core 4.1.22:", seen)
assert seen == [("She left.", "7"), ("a filler without a question", "7")], seen
PYTHON
