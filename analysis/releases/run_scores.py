"""A scoring run's work: its sentences, their scores through the cache and its shards, one row for each."""

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import structlog

from analysis.errors import BadInput
from analysis.releases.comparing import release_table
from analysis.releases.held_model import address_of, model_of
from analysis.releases.model_places import pinned
from analysis.releases.models import Release, ScoreShard, ScoringRun, SentenceScore
from analysis.releases.run_progress import progress_of
from analysis.releases.run_texts import reader, refuse_without_words, texts_of
from analysis.releases.score_cache import scores_of
from analysis.releases.shards import claim, mine, plan, score_shard
from analysis.scoring import Scorer, Scores
from analysis.scoring.base import flag_counts
from analysis.scoring.measures import MEASURES, measure
from config.celery import app
from experiments.models import Sentence

log = structlog.get_logger(__name__)
BATCH = 2_000
HELP, MOST_HELPERS = "releases.score_shard", 64
TOLD_EVERY_S, LOOK_EVERY_S = 2.0, 1.0
Progress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Scored:
    """The rows of a run, and what is to be known of them."""

    rows: list[SentenceScore]
    missing: list[str]
    revision: str
    spec: dict[str, Any]


def sentences_of(run: ScoringRun) -> list[Sentence]:
    """The sentences of the run's material set, or those that its release holds."""
    rows = Sentence.objects.filter(material_set=run.material_set).select_related("item__paradigm")
    sentences = list(rows.only("key", "text", "attributes", "item__paradigm__name").order_by("pk"))
    if run.spec.get("release"):
        release = Release.objects.get(
            experiment__materials=run.material_set, state=Release.State.READY, number=run.spec["release"],
            experiment__slug=run.spec.get("study", ""),
        )  # fmt: skip
        held = set(release_table(release, "sentences.csv")["sentence_id"])
        sentences = [sentence for sentence in sentences if sentence.key in held]
    if not sentences:
        raise BadInput(f"material set {run.material_set} has no sentences.")
    return sentences


def score(run: ScoringRun, *, progress: Progress) -> Scored:
    """Score every sentence of the run; sentences without a score are named."""
    sentences = sentences_of(run)
    progress(0, len(sentences), "opening the model")
    if run.model.startswith("csv:"):
        model = model_of(run, afresh=True)
        return _scored(run, model, _in_one_piece(model, sentences, progress=progress), sentences)
    asked = texts_of(run.method, sentences, materials=run.material_set)
    refuse_without_words(run.method, asked, materials=run.material_set)
    inside = [sentence for sentence in sentences if sentence.pk in asked]
    run.spec["not_asked"] = len(sentences) - len(inside)
    model = begin(run, inside)
    work_through(run, progress)
    return _scored(run, model, scores_of(run.scorer, list(asked.values())), inside)


def begin(run: ScoringRun, sentences: Sequence[Sentence]) -> Scorer:
    """Open the model, fix its revision before any key is made, cut the shards, and ask for help."""
    model = reader(run.method, model_of(run, afresh=True))
    if not run.spec.get("upload"):
        run.spec["address"] = pinned(address_of(run), model.spec.revision)
    run.revision = model.spec.revision[:100]
    run.spec["cache"] = plan(run, model, sentences)
    run.save(update_fields=["spec", "revision"])
    ask_for_help(run, mine(run).filter(state=ScoreShard.State.QUEUED).count() - 1)
    return model


def work_through(run: ScoringRun, progress: Progress) -> None:
    """Score shards until none is left to claim, and wait for those that others hold."""
    told = time.monotonic()

    def tell() -> None:
        nonlocal told
        if time.monotonic() - told >= TOLD_EVERY_S:
            told = time.monotonic()
            now = progress_of(run)
            progress(now.done, now.sentences, "scoring")

    while True:
        shard = claim(run)
        if shard is not None:
            score_shard(run, shard, tell=tell)
        elif mine(run).exclude(state__in=[ScoreShard.State.DONE, ScoreShard.State.FAILED]).exists():
            time.sleep(LOOK_EVERY_S)
        else:
            break
        tell()
    failed = mine(run).filter(state=ScoreShard.State.FAILED)
    if first := failed.first():
        raise BadInput(
            f"{failed.count()} of {mine(run).count()} shards failed: {first.error}",
            remedy="What is scored stays; Retry tries the rest.",
        )


def ask_for_help(run: ScoringRun, n: int) -> None:
    """Tell other worker processes that there are shards; nothing waits for them."""
    for _ in range(min(n, MOST_HELPERS)):
        try:
            app.send_task(HELP, args=[run.pk], queue=run.spec.get("device", "cpu"))
        except Exception as error:  # any broker failure: the run's own process scores every shard
            log.warning("broker away, no help", run=run.pk, error=str(error))
            return


def help_out(run_id: int) -> bool:
    """Score one shard of a run; whether there may be more."""
    run = ScoringRun.objects.filter(pk=run_id, state=ScoringRun.State.RUNNING).first()
    shard = claim(run) if run is not None else None
    if run is None or shard is None:
        return False
    score_shard(run, shard)
    return True


def store_scores(run: ScoringRun, scored: Scored) -> dict[str, Any]:
    """Store each score once, however often the work ran; inside the job's transaction."""
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


def _scored(run: ScoringRun, model: Scorer, found: Scores, sentences: Sequence[Sentence]) -> Scored:
    values = _values(run, found, sentences)
    rows = [
        SentenceScore(
            run=run,
            sentence=sentence,
            score=float(value),
            logprob=float(found.logprob[place]) if run.method in MEASURES else None,
            n_tokens=int(found.n_tokens[place]),
            n_unknown=int(found.n_unk[place]),
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
    told = {
        "uri": run.model,
        "spec_id": model.spec.spec_id,
        "flags": flag_counts(found.flags),
        "n_tokens": int(found.n_tokens.sum()),
        "n_unknown": int(found.n_unk.sum()),
    }
    spec = asdict(model.spec) | told
    return Scored(rows, missing, model.spec.revision, spec)


def _values(run: ScoringRun, found: Scores, sentences: Sequence[Sentence]) -> npt.NDArray[np.float64]:
    """The measure of each sentence; NaN where the method has nothing to say about it."""
    if run.method in MEASURES:
        return measure(
            run.method,
            found.logprob,
            n_tokens=found.n_tokens,
            unigram_logprob=found.unigram_logprob,
            n_chars=found.n_chars,
            n_bytes=[len(sentence.words.encode()) for sentence in sentences],
        )
    return found.logprob  # a classifier's answers, critical words, or these scored elsewhere


def _in_one_piece(model: Scorer, sentences: Sequence[Sentence], *, progress: Progress) -> Scores:
    done = 0

    def tell(more: int) -> None:
        nonlocal done
        done += more
        progress(min(done, len(sentences)), len(sentences), "scoring")

    texts, keys = [sentence.words for sentence in sentences], [sentence.key for sentence in sentences]
    return model.score(texts, ids=keys, progress=tell)
