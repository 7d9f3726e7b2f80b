"""Scoring runs: one model over one material set by one measure, each score stored once."""

import hashlib
import tempfile
import uuid
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np
from django.core.files.base import File
from django.db import transaction

from analysis.errors import BadInput, UnknownName
from analysis.releases.models import ScoringRun, SentenceScore
from analysis.scoring import Scorer, Scores, scorer
from analysis.scoring.measures import MEASURES, measure
from experiments.job_runner import enqueue
from experiments.models import AuditEntry, Experiment, Sentence, Upload

SCORE = "releases.score"
SUFFIXES = {"csv": (".csv", ".tsv", ".jsonl", ".parquet"), "arpa": (".arpa", ".arpa.gz", ".gz", ".lm")}
BATCH = 2_000
Progress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Scored:
    """The rows of a run, and what is to be known of them."""

    rows: list[SentenceScore]
    missing: list[str]
    revision: str
    spec: dict[str, Any]


@transaction.atomic
def request_scoring(
    experiment: Experiment, file: File, *, name: str = "", method: str = "lp", column: str = "", user=None
) -> ScoringRun:
    """Keep an uploaded model or table of scores, and score the study's sentences with it."""
    if experiment.materials is None:
        raise BadInput("the study has no materials to score.", remedy="Choose materials first.")
    if method not in MEASURES:
        raise UnknownName("method", method, list(MEASURES))
    filename = Path(str(file.name)).name
    kind = kind_of(filename)
    upload = Upload(owner=user, batch=uuid.uuid4(), name=filename, purpose="scores", sha256=_sha256(file))
    upload.file.save(filename, file, save=False)
    upload.save()
    run = ScoringRun.objects.create(
        material_set=experiment.materials,
        name=(name or column or filename)[:200],
        model=f"{kind}:{filename}"[:500],
        method=method,
        spec={"upload": upload.pk, "column": column},
        created_by=user,
    )
    details = {"run": run.pk, "name": run.name, "model": run.model, "method": method}
    AuditEntry.objects.create(experiment=experiment, user=user, action="scoring asked for", details=details)
    return start(run, experiment=experiment, user=user)


def start(run: ScoringRun, *, experiment: Experiment | None = None, user=None) -> ScoringRun:
    """Queue the run's job; asked twice, it is one job."""
    run.job = enqueue(SCORE, {"run": run.pk}, user=user, experiment=experiment, key=f"{SCORE}-{run.pk}")
    run.save(update_fields=["job"])
    return run


def kind_of(filename: str) -> str:
    """Which scorer reads a file, by its suffix."""
    for kind, suffixes in SUFFIXES.items():
        if filename.lower().endswith(suffixes):
            return kind
    known = ", ".join(suffix for suffixes in SUFFIXES.values() for suffix in suffixes)
    raise BadInput("files of this kind hold no scores we can read.", file=filename, remedy=f"Use {known}.")


def score(run: ScoringRun, *, progress: Progress) -> Scored:
    """Score every sentence of the run's material set; sentences without a score are named."""
    sentences = list(
        Sentence.objects.filter(material_set=run.material_set).order_by("pk").only("key", "text")
    )
    if not sentences:
        raise BadInput(f"material set {run.material_set} has no sentences.")
    progress(0, len(sentences), "reading the model")
    with tempfile.TemporaryDirectory(prefix="obelus-score-") as folder:
        model = scorer(_address(run, Path(folder)))
        found = _scores(model, sentences, progress=progress)
    values = measure(
        run.method, found.logprob, n_tokens=found.n_tokens, unigram_logprob=found.unigram_logprob
    )
    rows = [
        SentenceScore(
            run=run,
            sentence=sentence,
            score=float(value),
            logprob=float(found.logprob[place]),
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
    spec = asdict(model.spec) | {"uri": run.model, "spec_id": model.spec.spec_id}
    return Scored(rows, missing, model.spec.revision, spec)


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


def _address(run: ScoringRun, folder: Path) -> str:
    """The scorer's address; an uploaded file is laid down under a name that tells its kind."""
    upload = Upload.objects.filter(pk=run.spec.get("upload")).first() if run.spec.get("upload") else None
    if upload is None:
        return run.model
    kind = kind_of(upload.name)
    suffix = next(one for one in SUFFIXES[kind] if upload.name.lower().endswith(one))
    path = folder / f"given{suffix}"
    with upload.file.open("rb") as source, path.open("wb") as target:
        for piece in source.chunks():
            target.write(piece)
    column = run.spec.get("column")
    return f"{kind}:{path}" + (f"?{urlencode({'column': column})}" if column else "")


def _scores(model: Scorer, sentences: Sequence[Sentence], *, progress: Progress) -> Scores:
    done = 0

    def tell(more: int) -> None:
        nonlocal done
        done += more
        progress(min(done, len(sentences)), len(sentences), "scoring")

    texts, keys = [sentence.text for sentence in sentences], [sentence.key for sentence in sentences]
    return model.score(texts, ids=keys, progress=tell)


def _sha256(file: File) -> str:
    digest = hashlib.sha256()
    for piece in file.chunks():
        digest.update(piece)
    file.seek(0)
    return digest.hexdigest()
