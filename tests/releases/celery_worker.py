"""A Celery worker that a test can kill: it writes down what it scores, and halts once, in its second shard.

Called with the queue to serve and a folder. Who is first to begin a second shard takes the file ``halted``
there, writes its process id into it, and never comes back.
"""

import os
import sys
import time
from pathlib import Path

os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"

import django  # noqa: E402

django.setup()

from analysis.scoring.scorers.arpa import ArpaScorer  # noqa: E402
from config.celery import app  # noqa: E402
from experiments.operation import job_runner  # noqa: E402

queue, folder = sys.argv[1], Path(sys.argv[2])
scored = ArpaScorer.score
n_asked = 0


def slow(self, sentences, **options):
    """Score slowly enough that another worker takes part."""
    global n_asked
    n_asked += 1
    if n_asked == 2 and takes_the_halt():
        while True:
            time.sleep(1)
    time.sleep(0.3)
    scores = scored(self, sentences, **options)
    with (folder / f"scored-{os.getpid()}").open("a") as log:
        log.writelines(f"{sentence}\n" for sentence in sentences)
    return scores


def takes_the_halt() -> bool:
    """Whether this process is the one that halts."""
    try:
        with (folder / "halted").open("x") as log:
            log.write(str(os.getpid()))
    except FileExistsError:
        return False
    return True


ArpaScorer.score = slow
job_runner.HEARTBEAT_SECONDS = 0.5
app.worker_main([
    "worker", "-Q", queue, "--pool", "solo", "--without-mingle", "--without-gossip", "--without-heartbeat",
    "--loglevel", "warning", "-n", f"{queue}-{os.getpid()}@%h",
])  # fmt: skip
