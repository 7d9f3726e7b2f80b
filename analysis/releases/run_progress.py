"""How far a scoring run is, by counting; and how long the rest will take."""

from dataclasses import dataclass

from django.db.models import Count, Q, Sum
from django.utils import timezone

from analysis.releases.models import ScoreShard, ScoringRun
from analysis.releases.shards import mine

State = ScoreShard.State


@dataclass(frozen=True)
class RunProgress:
    """Distinct sentences and shards of a run; the time left at the rate seen so far, where one was seen."""

    sentences: int
    cached: int
    done: int
    shards: int
    shards_done: int
    shards_running: int
    shards_failed: int
    sentences_per_s: float | None
    seconds_left: int | None

    @property
    def percent(self) -> int:
        """Whole percent, rounded down: 100 means all."""
        return 100 * self.done // self.sentences if self.sentences else 0


def progress_of(run: ScoringRun) -> RunProgress:
    """Count the run's shards; a finished run is done whatever became of them."""
    counts = mine(run).aggregate(
        n=Count("pk"),
        n_done=Sum("n_done", default=0),
        scored=Sum("n_sentences", filter=Q(state=State.DONE, seconds__gt=0), default=0),
        seconds=Sum("seconds", filter=Q(state=State.DONE, seconds__gt=0), default=0.0),
        done=Count("pk", filter=Q(state=State.DONE)),
        running=Count("pk", filter=Q(state=State.RUNNING, lease_until__gt=timezone.now())),
        failed=Count("pk", filter=Q(state=State.FAILED)),
    )
    is_done = run.state == ScoringRun.State.DONE
    done = run.n_distinct if is_done else min(run.n_cached + counts["n_done"], run.n_distinct)
    rate = counts["scored"] / counts["seconds"] if counts["seconds"] else None
    if rate is None and run.scorer_id:
        rate = run.scorer.sentences_per_s
    at_once = max(1, counts["running"])
    left = round((run.n_distinct - done) / (rate * at_once)) if rate and not is_done else None
    return RunProgress(
        sentences=run.n_distinct,
        cached=run.n_cached,
        done=done,
        shards=counts["n"],
        shards_done=counts["done"],
        shards_running=counts["running"],
        shards_failed=counts["failed"],
        sentences_per_s=rate,
        seconds_left=left,
    )
