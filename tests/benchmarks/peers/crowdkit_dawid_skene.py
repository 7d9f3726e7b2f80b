"""Dawid and Skene's model by crowd-kit, by an interpreter that has it: ANSWERS.csv STEPS POSTERIORS.csv."""

import sys
import time

import pandas as pd
from crowdkit.aggregation import DawidSkene

answers, steps, found = sys.argv[1:]
rows = pd.read_csv(answers).rename(columns={"item": "task", "participant": "worker", "value": "label"})
model = DawidSkene(n_iter=int(steps), tol=0)
start = time.perf_counter()
model.fit(rows)
print(time.perf_counter() - start)
model.probas_.to_csv(found)
