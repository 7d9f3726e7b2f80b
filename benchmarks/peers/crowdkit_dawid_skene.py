"""A model of annotators by crowd-kit, by an interpreter that has it: MODEL ANSWERS STEPS POSTERIORS."""

import sys
import time

import pandas as pd
from crowdkit import aggregation

model, answers, steps, posterior_file = sys.argv[1:]
rows = pd.read_csv(answers).rename(columns={"item": "task", "participant": "worker", "value": "label"})
fitted, best = None, float("inf")
for _ in range(2):
    fitted = getattr(aggregation, model)(n_iter=int(steps), tol=0)
    start = time.process_time()
    fitted.fit(rows)
    best = min(best, time.process_time() - start)
print(best)
fitted.probas_.to_csv(posterior_file)
