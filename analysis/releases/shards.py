"""Shards of a scoring run: cut, claimed, scored, stored, counted.

1. :func:`plan` cuts what neither the cache knows nor another run has under way.
2. Any number of processes :func:`claim` a shard each, by a row lock that the others skip, and hold it by a
   lease that they renew while they score.
3. :func:`score_shard` stores the scores and the shard's end in one transaction. Who lost the lease stores
   nothing but scores that were lacking.
4. A killed process leaves a lease that runs out: its shard, and no other, is claimed again. A shard that
   failed three times is failed, with its reason, until :func:`retry`.
"""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta

import structlog
from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.db.models import F, Max, Q, QuerySet
from django.utils import timezone

from analysis.errors import BadInput
from analysis.releases.held_model import model_of
from analysis.releases.models import ScorerSpec, ScoreShard, ScoringRun
from analysis.releases.run_texts import reader, texts_of
from analysis.releases.score_cache import (
    check_software,
    has_fixed_revision,
    key_spec,
    known,
    scorer_row,
    sentence_sha,
    store,
)
from analysis.scoring import Scorer
from analysis.scoring.shards import shard_places
from experiments.models import Sentence

log = structlog.get_logger(__name__)
ATTEMPTS = 3
BEATS_PER_LEASE = 12
TELLING, TELLING_S = 200, 10.0  # sentences and seconds that tell a rate; less tells what beginning costs
State = ScoreShard.State
WORKER_DIED = "The worker died at every attempt; see its log."


def plan(run: ScoringRun, model: Scorer, sentences: Sequence[Sentence]) -> str:
    """Cut what is to be scored; give what is to be said of the cache. Called again, it adds what lacks."""
    row = scorer_row(model.spec, served_for=served_for(run, model))
    asked = texts_of(run.method, sentences, materials=run.material_set)
    texts = [asked[sentence.pk] for sentence in sentences]
    said = check_software(row, model, texts)
    with transaction.atomic():
        ScorerSpec.objects.select_for_update().get(pk=row.pk)  # one run at a time cuts for a scorer
        shas = dict(zip((sentence_sha(text) for text in texts), sentences, strict=True))
        cached = known(row, list(shas))
        left = {sha: sentence for sha, sentence in shas.items() if sha not in cached}
        adopted = _adopted(row, run.method, left)
        made = _cut(row, asked, list(left.values()))
        if run.scorer_id != row.pk:
            run.shards.clear()
            run.scorer, run.n_distinct, run.n_cached = row, len(shas), len(cached)
            run.save(update_fields=["scorer", "n_distinct", "n_cached"])
        run.shards.add(*adopted, *made)
    return said


def served_for(run: ScoringRun, model: Scorer) -> str:
    """Whom the scores of a model without a fixed revision serve: this run alone."""
    return "" if has_fixed_revision(model.spec) else f"run {run.pk}"


def mine(run: ScoringRun) -> QuerySet[ScoreShard]:
    """The run's shards; no join, so that a lock takes shards alone."""
    links = ScoringRun.shards.through.objects.filter(scoringrun_id=run.pk)
    return ScoreShard.objects.filter(pk__in=links.values("scoreshard_id"))


def claim(run: ScoringRun) -> ScoreShard | None:
    """Take a shard that nobody has, or whose lease has run out; None where there is none."""
    now = timezone.now()
    out = Q(state=State.RUNNING, lease_until__lt=now)
    mine(run).filter(out, attempts__gte=ATTEMPTS).update(
        state=State.FAILED, error=WORKER_DIED, finished_at=now
    )
    with transaction.atomic():
        free = mine(run).filter(Q(state=State.QUEUED) | out).order_by("attempts", "number")
        shard = free.select_for_update(skip_locked=True).first()
        if shard is None:
            return None
        shard.state, shard.attempts, shard.lease_until = State.RUNNING, shard.attempts + 1, now + _lease()
        shard.n_done = 0
        shard.save(update_fields=["state", "attempts", "lease_until", "n_done"])
    return shard


def score_shard(run: ScoringRun, shard: ScoreShard, *, tell: Callable[[], None] | None = None) -> None:
    """Score a claimed shard and store it whole; a failure is noted on the shard, not raised."""
    try:
        with _holding(shard) as count:
            _score(run, shard, count, tell)
    except Exception as error:
        log.warning("shard failed", shard=shard.pk, attempt=shard.attempts, error=str(error))
        reason = str(error) if isinstance(error, BadInput) else f"{type(error).__name__}: {error}"
        is_last = shard.attempts >= ATTEMPTS
        _claimed(shard).update(
            state=State.FAILED if is_last else State.QUEUED,
            error=reason[:2000],
            n_done=0,
            finished_at=timezone.now() if is_last else None,
        )


def retry(run: ScoringRun) -> int:
    """Let failed shards be claimed again; their number."""
    return (
        mine(run)
        .filter(state=State.FAILED)
        .update(state=State.QUEUED, attempts=0, n_done=0, error="", lease_until=None, finished_at=None)
    )


def _score(
    run: ScoringRun, shard: ScoreShard, count: Callable[[int], None], tell: Callable[[], None] | None
) -> None:
    model, row = reader(run.method, model_of(run)), shard.scorer
    if key_spec(model.spec, served_for=served_for(run, model)).spec_id != row.spec_id:
        raise BadInput("the model's files are no longer those that the run began with.", remedy="Start anew.")
    texts = _texts(run.method, shard)
    cached = known(row, [sentence_sha(text) for text in texts])
    left = [text for text in texts if sentence_sha(text) not in cached]
    count(len(texts) - len(left))

    def progress(more: int) -> None:
        count(more)
        if tell is not None:
            tell()

    began = time.monotonic()
    found = model.score(left, progress=progress) if left else None
    with transaction.atomic():
        if found is not None:
            store(row, left, found)
        seconds = time.monotonic() - began
        _claimed(shard).update(
            state=State.DONE,
            n_done=F("n_sentences"),
            seconds=seconds,
            error="",
            finished_at=timezone.now(),
        )
    if len(left) >= min(TELLING, settings.SHARD_SENTENCES) and seconds >= TELLING_S:
        ScorerSpec.objects.filter(pk=row.pk).update(sentences_per_s=len(left) / seconds)


def _texts(method: str, shard: ScoreShard) -> list[str]:
    """What the shard asks, in its order; sentences that are gone by now are left out."""
    held = Sentence.objects.only("key", "text", "attributes").in_bulk(shard.sentences)
    asked = texts_of(method, list(held.values()))
    return [asked[pk] for pk in shard.sentences if pk in asked]


def _adopted(row: ScorerSpec, method: str, left: dict[bytes, Sentence]) -> list[ScoreShard]:
    """Shards that another run has under way for these sentences, failed ones to be tried again.

    What they hold is taken out of ``left``.
    """
    if not left:
        return []
    found = []
    for shard in ScoreShard.objects.filter(scorer=row).exclude(state=State.DONE).select_for_update():
        shared = {sentence_sha(text) for text in _texts(method, shard)} & left.keys()
        if not shared:
            continue
        found.append(shard)
        for sha in shared:
            del left[sha]
        if shard.state == State.FAILED:
            shard.state, shard.attempts, shard.error = State.QUEUED, 0, ""
            shard.save(update_fields=["state", "attempts", "error"])
    return found


def _cut(row: ScorerSpec, asked: dict[int, str], sentences: Sequence[Sentence]) -> list[ScoreShard]:
    items = (sentence.item for sentence in sentences)
    groups = [item.paradigm.name if item.paradigm_id else "" for item in items]
    texts = [asked[sentence.pk] for sentence in sentences]
    pieces = shard_places(texts, groups, size=settings.SHARD_SENTENCES)
    last = ScoreShard.objects.filter(scorer=row).aggregate(last=Max("number"))["last"] or 0
    rows = [
        ScoreShard(
            scorer=row,
            number=number,
            sentences=[sentences[place].pk for place in places],
            n_sentences=len(places),
        )
        for number, places in enumerate(pieces, start=last + 1)
    ]
    return ScoreShard.objects.bulk_create(rows)


def _claimed(shard: ScoreShard) -> QuerySet[ScoreShard]:
    """The shard while this claim holds it."""
    return ScoreShard.objects.filter(pk=shard.pk, attempts=shard.attempts, state=State.RUNNING)


def _lease() -> timedelta:
    return timedelta(seconds=settings.JOB_STALE_SECONDS)


@contextmanager
def _holding(shard: ScoreShard) -> Iterator[Callable[[int], None]]:
    """Renew the lease from a thread of its own, with the number of sentences done so far."""
    done = 0
    stop = threading.Event()

    def count(more: int) -> None:
        nonlocal done
        done += more

    def renew() -> None:
        while not stop.wait(_lease().total_seconds() / BEATS_PER_LEASE):
            try:
                n_done = min(done, shard.n_sentences)
                _claimed(shard).update(lease_until=timezone.now() + _lease(), n_done=n_done)
            except DatabaseError:  # a busy database: the next beat will do
                log.info("lease not renewed", shard=shard.pk)
        connection.close()

    thread = threading.Thread(target=renew, daemon=True)
    if not connection.in_atomic_block:  # inside a test's transaction there is nobody to look
        thread.start()
    try:
        yield count
    finally:
        stop.set()
        if thread.ident:
            thread.join()
