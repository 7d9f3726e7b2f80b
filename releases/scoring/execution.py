"""Execution of a scoring run: its sentences, shards, scores and progress."""

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import structlog
from django.db.models import Count, Q, Sum
from django.utils import timezone

from analysis.errors import BadInput
from analysis.scoring import Scorer, Scores
from analysis.scoring.base import flag_counts
from analysis.scoring.measures import MEASURES, measure
from analysis.scoring.orientation import measure_of_column
from analysis.scoring.words.contexts import in_context
from analysis.scoring.words.sentence_check import check_sentences
from experiments.models import MinimalPair, Sentence
from experiments.operation.job_runner import BROKER_ERRORS
from releases.gold.storage import release_table
from releases.models import Release, ScorerSpec, ScoreShard, ScoringRun, SentenceScore
from releases.scoring.loaded_model import load_model, pinned_uri
from releases.scoring.model_registry import pin_revision
from releases.scoring.score_cache import read_scores
from releases.scoring.shard_messages import run_shard
from releases.scoring.shards import claim, plan, run_shards, score_shard
from releases.scoring.texts import are_in_context, reader, refuse_without_words, scored_texts

State = ScoreShard.State


@dataclass(frozen=True)
class RunProgress:
    """Distinct sentences and shards of a run, and the remaining time at the measured rate, if any."""

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


def run_progress(run: ScoringRun) -> RunProgress:
    """Return the progress of a run; a finished run is complete, whatever the states of its shards."""
    counts = run_shards(run).aggregate(
        n=Count("pk"),
        n_scored=Sum("n_done", default=0),
        timed=Sum("n_sentences", filter=Q(state=State.DONE, seconds__gt=0), default=0),
        seconds=Sum("seconds", filter=Q(state=State.DONE, seconds__gt=0), default=0.0),
        done=Count("pk", filter=Q(state=State.DONE)),
        running=Count("pk", filter=Q(state=State.RUNNING, lease_until__gt=timezone.now())),
        failed=Count("pk", filter=Q(state=State.FAILED)),
    )
    is_done = run.state == ScoringRun.State.DONE
    # The cap matters when another run has stored scores of these sentences since they were counted.
    n_done = run.n_distinct if is_done else min(run.n_cached + counts["n_scored"], run.n_distinct)
    rate = counts["timed"] / counts["seconds"] if counts["seconds"] else None
    if rate is None and run.scorer is not None:
        rate = run.scorer.sentences_per_s
    n_parallel = max(1, counts["running"])
    seconds_left = round((run.n_distinct - n_done) / (rate * n_parallel)) if rate and not is_done else None
    return RunProgress(
        sentences=run.n_distinct,
        cached=run.n_cached,
        done=n_done,
        shards=counts["n"],
        shards_done=counts["done"],
        shards_running=counts["running"],
        shards_failed=counts["failed"],
        sentences_per_s=rate,
        seconds_left=seconds_left,
    )


log = structlog.get_logger(__name__)
BATCH = 2_000  # rows of one INSERT
MAX_HELPERS = 64  # messages for one run at once; each one queues the next
REPORT_EVERY_S, POLL_EVERY_S = 2.0, 1.0  # each report is an UPDATE of the job, each poll a query
Progress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class RunScores:
    """Rows to store for a run, sentences without a score, and the specification of the scorer."""

    rows: list[SentenceScore]
    missing: list[str]
    revision: str
    spec: dict[str, Any]


def run_sentences(run: ScoringRun) -> list[Sentence]:
    """Return the sentences of the run's material set, or those in its release."""
    rows = Sentence.objects.filter(material_set=run.material_set).select_related("item__paradigm")
    sentences = list(
        rows.only("key", "text", "attributes", "critical_region", "item__paradigm__name").order_by("pk")
    )
    if run.spec.get("release"):
        release = Release.objects.get(
            experiment__materials=run.material_set, state=Release.State.READY, number=run.spec["release"],
            experiment__slug=run.spec.get("study", ""),
        )  # fmt: skip
        released = set(release_table(release, "sentences.csv")["sentence_id"])
        sentences = [sentence for sentence in sentences if sentence.key in released]
    if not sentences:
        raise BadInput(f"material set {run.material_set} has no sentences.")
    return sentences


def score(run: ScoringRun, *, progress: Progress) -> RunScores:
    """Score every sentence of the run and list sentences without a score."""
    sentences = run_sentences(run)
    progress(0, len(sentences), "opening the model")
    if run.model.startswith("csv:"):
        model = load_model(run, afresh=True)
        return _build_run_scores(run, model, _score_at_once(model, sentences, progress=progress), sentences)
    opened = load_model(run, afresh=True)
    run.spec["in_context"] = are_in_context(opened, run.material_set)
    questions = scored_texts(
        run.method,
        sentences,
        model=opened,
        is_in_context=run.spec["in_context"],
        materials=run.material_set,
    )
    refuse_without_words(run.method, questions, materials=run.material_set)
    scorable = [sentence for sentence in sentences if sentence.pk in questions]
    run.spec["check"] = check_sentences(
        opened,
        [sentence.key for sentence in scorable],
        [sentence.words for sentence in scorable],
        contexts=[sentence.context for sentence in scorable] if run.spec["in_context"] else (),
        pairs=MinimalPair.objects.filter(material_set=run.material_set, discard=False).values_list(
            "good__key", "bad__key"
        ),
    )
    run.spec["not_asked"] = len(sentences) - len(scorable)
    model, row = create_shards(run, scorable)
    score_shards(run, progress)
    return _build_run_scores(run, model, read_scores(row, list(questions.values()), model), scorable)


def counter(progress: Progress, total: int, message: str) -> Callable[[int], None]:
    """Return a function that adds to a count and reports it, at most every two seconds."""
    n_done, last_report = 0, -REPORT_EVERY_S

    def count(n: int) -> None:
        nonlocal n_done, last_report
        n_done += n
        if time.monotonic() - last_report >= REPORT_EVERY_S:
            last_report = time.monotonic()
            progress(min(n_done, total) if total else n_done, total, message)

    return count


def create_shards(run: ScoringRun, sentences: Sequence[Sentence]) -> tuple[Scorer, ScorerSpec]:
    """Open the model, create the shards and enqueue helpers; return the model and its stored row."""
    opened = load_model(run)
    run.spec["in_context"] = are_in_context(opened, run.material_set)
    model = reader(run.method, opened, is_in_context=run.spec["in_context"])
    if not run.spec.get("upload"):
        # Before plan: the exact revision is part of the cache key.
        run.spec["address"] = pin_revision(pinned_uri(run), model.spec.revision)
    run.revision = model.spec.revision[:100]
    row, run.spec["cache"] = plan(run, model, sentences)
    run.save(update_fields=["spec", "revision"])
    request_helpers(run, run_shards(run).filter(state=ScoreShard.State.QUEUED).count() - 1)
    return model, row


def score_shards(run: ScoringRun, progress: Progress) -> None:
    """Score shards until none is left to claim, then wait for those claimed by other processes."""
    last_report = time.monotonic()

    def report() -> None:
        nonlocal last_report
        if time.monotonic() - last_report >= REPORT_EVERY_S:
            last_report = time.monotonic()
            counts = run_progress(run)
            progress(counts.done, counts.sentences, "scoring")

    while True:
        shard = claim(run)
        if shard is not None:
            score_shard(run, shard, report=report)
        elif run_shards(run).exclude(state__in=[ScoreShard.State.DONE, ScoreShard.State.FAILED]).exists():
            time.sleep(POLL_EVERY_S)  # a shard of a killed process becomes claimable when its lease expires
        else:
            break
        report()
    failed = run_shards(run).filter(state=ScoreShard.State.FAILED)
    if first := failed.first():
        raise BadInput(
            f"{failed.count()} of {run_shards(run).count()} shards failed: {first.error}",
            remedy="What is scored stays; Retry tries the rest.",
        )


def request_helpers(run: ScoringRun, n: int) -> None:
    """Enqueue jobs for other worker processes to score shards."""
    for _ in range(min(n, MAX_HELPERS)):
        try:
            run_shard.apply_async(args=[run.pk], queue=run.spec.get("device", "cpu"))
        except BROKER_ERRORS as error:  # the run's own process scores every shard then
            log.warning("broker unavailable, no helpers", run=run.pk, error=str(error))
            return


def score_next_shard(run_id: int) -> bool:
    """Score one shard of a run; return whether there may be more."""
    run = ScoringRun.objects.filter(pk=run_id, state=ScoringRun.State.RUNNING).first()
    shard = claim(run) if run is not None else None
    if run is None or shard is None:
        return False
    score_shard(run, shard)
    return True


def store_scores(run: ScoringRun, scored: RunScores) -> dict[str, Any]:
    """Store the scores and finish the run, in the transaction of its job; may be repeated."""
    # Race: a job that was delivered twice has stored the same rows, which ignore_conflicts keeps.
    SentenceScore.objects.bulk_create(scored.rows, batch_size=BATCH, ignore_conflicts=True)
    ScoringRun.objects.filter(pk=run.pk).update(
        state=ScoringRun.State.DONE,
        revision=scored.revision[:100],
        spec={**run.spec, **scored.spec, "missing": scored.missing[:100]},
        n_sentences=len(scored.rows),
        n_missing=len(scored.missing),
        error="",
    )
    return {"run": run.pk, "sentences": len(scored.rows), "missing": len(scored.missing)}


def _build_run_scores(
    run: ScoringRun, model: Scorer, scores: Scores, sentences: Sequence[Sentence]
) -> RunScores:
    values = _values(run, scores, sentences)
    rows = [
        SentenceScore(
            run=run,
            sentence=sentence,
            score=float(value),
            logprob=float(scores.logprob[place]) if run.method in MEASURES else None,
            n_tokens=int(scores.n_tokens[place]),
            n_unknown=int(scores.n_unk[place]),
        )
        for place, (sentence, value) in enumerate(zip(sentences, values, strict=True))
        if np.isfinite(value)
    ]
    missing = [
        sentence.key for sentence, value in zip(sentences, values, strict=True) if not np.isfinite(value)
    ]
    if not rows:
        raise BadInput(
            "no sentence has a score.",
            file=run.model,
            remedy=f"Sentences are called {sentences[0].key} and so on.",
        )
    record = {
        "uri": run.model,
        "spec_id": model.spec.spec_id,
        "flags": flag_counts(scores.flags),
        "warnings": list(getattr(model, "warnings", [])),
        "n_tokens": int(scores.n_tokens.sum()),
        "n_unknown": int(scores.n_unk.sum()),
    }
    spec = asdict(model.spec) | record
    return RunScores(rows, missing, model.spec.revision, spec)


def _values(run: ScoringRun, scores: Scores, sentences: Sequence[Sentence]) -> npt.NDArray[np.float64]:
    """Return the measure of each sentence; NaN where the method does not apply.

    A column named as the command `score` names it, such as ``gpt2:slor``, holds that measure already.
    """
    is_computed = measure_of_column(str(run.spec.get("column", ""))) in {"", "lp"}
    if run.method in MEASURES and is_computed:
        return measure(
            run.method,
            scores.logprob,
            n_tokens=scores.n_tokens,
            unigram_logprob=scores.unigram_logprob,
            n_chars=scores.n_chars,
            n_bytes=[len(sentence.words.encode()) for sentence in sentences],
        )
    return scores.logprob  # classifier outputs, critical words, or scores computed elsewhere


def _score_at_once(model: Scorer, sentences: Sequence[Sentence], *, progress: Progress) -> Scores:
    texts, keys = [sentence.words for sentence in sentences], [sentence.key for sentence in sentences]
    contexts = [sentence.context for sentence in sentences]
    model, texts = in_context(model, texts, contexts, ids=keys)
    return model.score(texts, ids=keys, progress=counter(progress, len(sentences), "scoring"))
