"""Shards of a scoring run.

1. :func:`plan` creates shards of the sentences that are neither cached nor in a shard of another run.
2. Any number of processes :func:`claim` a shard each, by a row lock that the others skip, and renew its
   lease while they score.
3. :func:`score_shard` stores the scores and the state of the shard in one transaction. A process that lost
   the lease stores only scores that were missing.
4. The lease of a killed process expires: its shard is claimed again. A shard that failed three times, or once
   for a reason that will repeat, stays failed, with its reason, until :func:`retry`. Where no shard is done
   and the reason will repeat, the others are not tried.
"""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta

import structlog
from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection, transaction
from django.db.models import F, Max, Q, QuerySet
from django.utils import timezone

from analysis.errors import BadInput
from analysis.scoring import Scorer
from analysis.scoring.shards import shard_places
from experiments.models import Sentence
from releases.models import ScorerSpec, ScoreShard, ScoringRun
from releases.scoring.loaded_model import load_model
from releases.scoring.score_cache import (
    cached_rows,
    check_software,
    has_fixed_revision,
    key_spec,
    scorer_row,
    sentence_sha,
    store,
)
from releases.scoring.texts import reader, scored_texts

log = structlog.get_logger(__name__)
ATTEMPTS = 3
BEATS_PER_LEASE = 12
MIN_SENTENCES, MIN_SECONDS = 200, 10.0  # for a rate; shorter runs mostly measure the start of the model
State = ScoreShard.State
# Failures of the input, the files or the code; and by name those of devices and connections, which pass.
REPEATING: tuple[type[Exception], ...] = (
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    NotImplementedError,
    ImportError,
    FileNotFoundError,
    PermissionError,
)
PASSING = {"OutOfMemoryError", "AcceleratorError", "TransportError", "HTTPError", "URLError", "HTTPException"}
WORKER_DIED = "The worker died at every attempt; see its log."


def plan(run: ScoringRun, model: Scorer, sentences: Sequence[Sentence]) -> tuple[ScorerSpec, str]:
    """Create shards of the sentences without a score, once; return the scorer and a note on the cache."""
    row = scorer_row(model.spec, served_for=served_for(run, model))
    is_in_context = bool(run.spec.get("in_context"))
    questions = scored_texts(
        run.method, sentences, model=model, is_in_context=is_in_context, materials=run.material_set
    )
    texts = [questions[sentence.pk] for sentence in sentences]
    note = check_software(row, model, texts)
    with transaction.atomic():
        # Race: runs of one scorer would create shards of the same sentences, so they take turns.
        ScorerSpec.objects.select_for_update().get(pk=row.pk)
        shas = dict(zip((sentence_sha(text) for text in texts), sentences, strict=True))
        cached = cached_rows(row, list(shas))
        left = {sha: sentence for sha, sentence in shas.items() if sha not in cached}
        adopted = _adopt_shards(row, model, run, left)
        created = _create_shards(row, questions, list(left.values()))
        if run.scorer_id != row.pk:
            run.shards.clear()
            run.scorer, run.n_distinct, run.n_cached = row, len(shas), len(cached)
            run.save(update_fields=["scorer", "n_distinct", "n_cached"])
        run.shards.add(*adopted, *created)
    return row, note


def served_for(run: ScoringRun, model: Scorer) -> str:
    """Return the run that may use the scores: this one only, for a model without a fixed revision."""
    return "" if has_fixed_revision(model.spec) else f"run {run.pk}"


def check_model(run: ScoringRun, model: Scorer, row: ScorerSpec) -> None:
    """Raise BadInput if a model is not the one that a run recorded."""
    spec = key_spec(model.spec, served_for=served_for(run, model))
    if spec.revision != row.spec.get("revision"):
        raise BadInput("the model's files are no longer those that the run began with.", remedy="Start anew.")
    if spec.spec_id != row.spec_id:
        raise BadInput("this version scores the model by other conventions.", remedy="Start anew.")


def run_shards(run: ScoringRun) -> QuerySet[ScoreShard]:
    """Return the run's shards."""
    # A subquery in place of a join: select_for_update would lock the joined rows as well.
    links = ScoringRun.shards.through.objects.filter(scoringrun_id=run.pk)
    return ScoreShard.objects.filter(pk__in=links.values("scoreshard_id"))


def claim(run: ScoringRun) -> ScoreShard | None:
    """Claim a queued shard, or one with an expired lease; None if there is none."""
    now = timezone.now()
    out = Q(state=State.RUNNING, lease_until__lt=now)
    run_shards(run).filter(out, attempts__gte=ATTEMPTS).update(
        state=State.FAILED, error=WORKER_DIED, finished_at=now
    )
    with transaction.atomic():
        free = run_shards(run).filter(Q(state=State.QUEUED) | out).order_by("attempts", "number")
        shard = free.select_for_update(skip_locked=True).first()
        if shard is None:
            return None
        shard.state, shard.attempts, shard.lease_until = State.RUNNING, shard.attempts + 1, now + _lease()
        shard.n_done = 0
        shard.save(update_fields=["state", "attempts", "lease_until", "n_done"])
    return shard


def score_shard(run: ScoringRun, shard: ScoreShard, *, report: Callable[[], None] | None = None) -> None:
    """Score a claimed shard and store its scores; a failure is stored with the shard, not raised."""
    try:
        with _holding(shard) as count:
            _score(run, shard, count, report)
    except Exception as error:  # a model may raise any type; it is logged and stored with the shard
        log.exception("shard failed", shard=shard.pk, attempt=shard.attempts)
        reason = str(error) if isinstance(error, BadInput) else f"{type(error).__name__}: {error}"
        repeats = will_repeat(error)
        is_last = repeats or shard.attempts >= ATTEMPTS
        now = timezone.now()
        _claimed_shard(shard).update(
            state=State.FAILED if is_last else State.QUEUED,
            error=reason[:2000],
            n_done=0,
            finished_at=now if is_last else None,
        )
        if repeats and not run_shards(run).filter(state=State.DONE).exists():
            run_shards(run).filter(state=State.QUEUED).update(
                state=State.FAILED, error=reason[:2000], finished_at=now
            )


def will_repeat(error: BaseException) -> bool:
    """Return whether a failure comes again: wrong input or code, and no lost connection or memory."""
    cause: BaseException | None = error
    while cause is not None:
        names = {kind.__name__ for kind in type(cause).__mro__}
        if isinstance(cause, ConnectionError | TimeoutError | MemoryError | DatabaseError) or names & PASSING:
            return False
        cause = cause.__cause__ or cause.__context__
    return isinstance(error, REPEATING)


def retry(run: ScoringRun) -> int:
    """Queue failed shards again; return their number."""
    return (
        run_shards(run)
        .filter(state=State.FAILED)
        .update(state=State.QUEUED, attempts=0, n_done=0, error="", lease_until=None, finished_at=None)
    )


def _score(
    run: ScoringRun, shard: ScoreShard, count: Callable[[int], None], report: Callable[[], None] | None
) -> None:
    is_in_context = bool(run.spec.get("in_context"))
    model, row = reader(run.method, load_model(run), is_in_context=is_in_context), shard.scorer
    check_model(run, model, row)
    texts = _texts(run, model, shard)
    cached = cached_rows(row, [sentence_sha(text) for text in texts])
    left = [text for text in texts if sentence_sha(text) not in cached]
    count(len(texts) - len(left))

    def progress(more: int) -> None:
        count(more)
        if report is not None:
            report()

    began = time.monotonic()
    scores = model.score(left, progress=progress) if left else None
    with transaction.atomic():
        if scores is not None:
            store(row, left, scores)
        seconds = time.monotonic() - began
        _claimed_shard(shard).update(
            state=State.DONE,
            n_done=F("n_sentences"),
            seconds=seconds,
            error="",
            finished_at=timezone.now(),
        )
    if len(left) >= min(MIN_SENTENCES, settings.SHARD_SENTENCES) and seconds >= MIN_SECONDS:
        ScorerSpec.objects.filter(pk=row.pk).update(sentences_per_s=len(left) / seconds)


def _texts(run: ScoringRun, model: Scorer, shard: ScoreShard) -> list[str]:
    """Return the texts of a shard, in its order, without sentences deleted meanwhile."""
    by_pk = Sentence.objects.only("key", "text", "attributes").in_bulk(shard.sentences)
    is_in_context = bool(run.spec.get("in_context"))
    questions = scored_texts(run.method, list(by_pk.values()), model=model, is_in_context=is_in_context)
    return [questions[pk] for pk in shard.sentences if pk in questions]


def _adopt_shards(
    row: ScorerSpec, model: Scorer, run: ScoringRun, left: dict[bytes, Sentence]
) -> list[ScoreShard]:
    """Return unfinished shards of other runs with these sentences, which are removed from ``left``."""
    if not left:
        return []
    adopted = []
    for shard in ScoreShard.objects.filter(scorer=row).exclude(state=State.DONE).select_for_update():
        shared = {sentence_sha(text) for text in _texts(run, model, shard)} & left.keys()
        if not shared:
            continue
        adopted.append(shard)
        for sha in shared:
            del left[sha]
        if shard.state == State.FAILED:
            shard.state, shard.attempts, shard.error = State.QUEUED, 0, ""
            shard.save(update_fields=["state", "attempts", "error"])
    return adopted


def _create_shards(
    row: ScorerSpec, questions: dict[int, str], sentences: Sequence[Sentence]
) -> list[ScoreShard]:
    items = (sentence.item for sentence in sentences)
    groups = [item.paradigm.name if item.paradigm else "" for item in items]
    texts = [questions[sentence.pk] for sentence in sentences]
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


def _claimed_shard(shard: ScoreShard) -> QuerySet[ScoreShard]:
    """Return the shard only if this claim still holds it."""
    # Race: after the lease expired another process may have claimed it, with one more attempt.
    return ScoreShard.objects.filter(pk=shard.pk, attempts=shard.attempts, state=State.RUNNING)


def _lease() -> timedelta:
    return timedelta(seconds=settings.JOB_STALE_SECONDS)


@contextmanager
def _holding(shard: ScoreShard) -> Iterator[Callable[[int], None]]:
    """Renew the lease in a separate thread, with the number of sentences scored so far."""
    n_done = 0
    stop = threading.Event()

    def count(more: int) -> None:
        nonlocal n_done
        n_done += more

    def renew() -> None:
        while not stop.wait(_lease().total_seconds() / BEATS_PER_LEASE):
            try:
                reported = min(n_done, shard.n_sentences)
                _claimed_shard(shard).update(lease_until=timezone.now() + _lease(), n_done=reported)
            except (DatabaseError, InterfaceError):  # busy or restarted; the next renewal comes in time
                log.info("lease not renewed", shard=shard.pk)
                connection.close()  # one that broke is not opened again by itself
        connection.close()

    thread = threading.Thread(target=renew, daemon=True)
    if not connection.in_atomic_block:  # another connection does not see the rows of a test's transaction
        thread.start()
    try:
        yield count
    finally:
        stop.set()
        if thread.ident:
            thread.join()
