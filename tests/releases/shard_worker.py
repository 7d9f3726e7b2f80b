"""A worker process that a test can kill: it scores a run's shards, and halts in the middle of one.

Called with the run's id, the settings of the database, and the shard's number at which to halt.
"""

import os
import sys
import time

os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"

import django  # noqa: E402

django.setup()

from analysis.scoring.scorers.arpa import ArpaScorer  # noqa: E402
from releases.scoring.execution import score_next_shard  # noqa: E402

scored = ArpaScorer.score
n_asked = 0


def slow(self, sentences, **options):
    """Tell that a shard has begun; at the last, never come back."""
    global n_asked
    n_asked += 1
    print(f"shard {n_asked}", flush=True)
    while n_asked == int(sys.argv[2]):
        time.sleep(0.05)
    return scored(self, sentences, **options)


ArpaScorer.score = slow
while score_next_shard(int(sys.argv[1])):
    pass
