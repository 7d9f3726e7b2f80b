#!/usr/bin/env bash
# The columns of an OpenSesame log (opensesame-core 4.1.22) are those of the first row: an answer that is first given in a
# later block, after practice for instance, has no column, and all its values are lost. Only the debug window warns.
# Guess beforehand: a new column, empty in the rows before.
# What follows: a log without the column that was asked for is refused with its columns; it is no fault of the import.
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
for variables in ({"sentence": "practice"}, {"sentence": "She left.", "response_rating": 7}):
    for name, value in variables.items():
        experiment.var.set(name, value)
    log.prepare()
    log.run()
with open("log.csv", encoding="utf-8-sig") as file:
    rows = list(csv.DictReader(file))
seen = [row["sentence"] for row in rows], "response_rating" in rows[1], experiment.var.get("response_rating")
print("opensesame-core 4.1.22, sentences, is the answer logged, the answer:", seen)
assert seen == (["practice", "She left."], False, 7), seen
PYTHON
