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
import numpy.typing as npt
import pandas as pd
from django.core.files.base import File
from django.db import transaction

from analysis.comparison.files import read_number_columns
from analysis.comparison.prefixes import sentence_regions
from analysis.comparison.roster import FULL, METHODS, PREFIX_METHODS, read_roster, roster
from analysis.errors import BadInput, UnknownName
from analysis.releases.material_frames import pair_frame
from analysis.releases.models import ScoringRun, SentenceScore
from analysis.releases.training import KEY, Training
from analysis.scoring import Scorer, Scores, scorer
from analysis.scoring.measures import MEASURES, measure
from analysis.scoring.regions import region_scores
from analysis.scoring.tables import COUNTS
from experiments.job_runner import enqueue
from experiments.models import AuditEntry, Experiment, Sentence, Upload

SCORE = "releases.score"
SUFFIXES = {"csv": (".csv", ".tsv", ".jsonl", ".parquet"), "arpa": (".arpa", ".arpa.gz", ".gz", ".lm")}
PAIR_TEXTS = ("good_id", "bad_id", "sentence_good", "sentence_bad")
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
    experiment: Experiment,
    file: File,
    *,
    name: str = "",
    method: str = "lp",
    column: str = "",
    training: Training | None = None,
    user=None,
) -> ScoringRun:
    """Keep an uploaded model or table of scores, and score the study's sentences with it."""
    if experiment.materials is None:
        raise BadInput("the study has no materials to score.", remedy="Choose materials first.")
    if method not in METHODS:
        raise UnknownName("method", method, METHODS)
    upload = _kept(file, user)
    return _requested(
        experiment,
        upload,
        name=name or column or upload.name,
        method=method,
        column=column,
        training=training or Training(),
        user=user,
    )


@transaction.atomic
def request_score_sets(
    experiment: Experiment, file: File, *, models: File | None = None, user=None
) -> list[ScoringRun]:
    """Score with every column of a table; a second table says how each was scored and trained."""
    if experiment.materials is None:
        raise BadInput("the study has no materials to score.", remedy="Choose materials first.")
    if kind_of(str(file.name)) != "csv":
        raise BadInput("several models come as one table.", file=str(file.name), column="file")
    with tempfile.TemporaryDirectory(prefix="obelus-score-") as folder:
        path = _laid_down(file, Path(folder))
        table, _ = read_number_columns(path, keys=("sentence_id", "sentence"))
        columns = [str(name) for name in table.columns if name not in COUNTS]
        if not columns:
            raise BadInput("the table has no column of scores.", file=path.name, column="file")
        given = read_roster(_laid_down(models, Path(folder), "models")) if models is not None else None
    known = roster(columns, given)
    upload = _kept(file, user)
    return [
        _requested(
            experiment,
            upload,
            name=str(row["name"]),
            method=str(row["method"]),
            column=str(row["model"]),
            training=_training(row),
            user=user,
        )
        for row in known.to_dict("records")
    ]


def _training(row: dict[str, Any]) -> Training:
    tokens = row["training_tokens"]
    return Training(
        "" if row["family"] == row["name"] else str(row["family"]),
        None if pd.isna(tokens) else round(tokens),
        "" if pd.isna(row["seed"]) else str(row["seed"]),
        "" if row["corpus"] == FULL else str(row["corpus"]),
    )


def _kept(file: File, user) -> Upload:
    filename = Path(str(file.name)).name
    kind_of(filename)
    upload = Upload(owner=user, batch=uuid.uuid4(), name=filename, purpose="scores", sha256=_sha256(file))
    upload.file.save(filename, file, save=False)
    upload.save()
    return upload


def _requested(
    experiment: Experiment,
    upload: Upload,
    *,
    name: str,
    method: str,
    column: str,
    training: Training,
    user,
) -> ScoringRun:
    run = ScoringRun.objects.create(
        material_set=experiment.materials,
        name=name[:200],
        model=f"{kind_of(upload.name)}:{upload.name}"[:500],
        method=method,
        spec={"upload": upload.pk, "column": column, KEY: training.as_dict()},
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
        Sentence.objects.filter(material_set=run.material_set)
        .order_by("pk")
        .only("key", "text", "attributes")
    )
    if not sentences:
        raise BadInput(f"material set {run.material_set} has no sentences.")
    progress(0, len(sentences), "reading the model")
    with tempfile.TemporaryDirectory(prefix="obelus-score-") as folder:
        model = scorer(_address(run, Path(folder)))
        found = _scores(model, sentences, progress=progress)
        values = _values(run, model, found, sentences)
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
    spec = asdict(model.spec) | {"uri": run.model, "spec_id": model.spec.spec_id}
    return Scored(rows, missing, model.spec.revision, spec)


def _values(
    run: ScoringRun, model: Scorer, found: Scores, sentences: Sequence[Sentence]
) -> npt.NDArray[np.float64]:
    """The measure of each sentence; NaN where the method has nothing to say about it."""
    if run.method in MEASURES:
        return measure(
            run.method,
            found.logprob,
            n_tokens=found.n_tokens,
            unigram_logprob=found.unigram_logprob,
            n_chars=found.n_chars,
        )
    if run.method not in PREFIX_METHODS or run.model.startswith("csv:"):
        return found.logprob  # given as such: a classifier's scores, or words after prefixes scored elsewhere
    regions = prefix_regions(pair_frame(run.material_set), run.method)
    if not regions:
        raise BadInput(
            f"no pair of {run.material_set} is made for the {run.method} method.",
            column="method",
            remedy=f"Pairs need the flag {run.method}_method, or its prefix and words.",
        )
    return region_scores(model, [sentence.key for sentence in sentences], regions)


def prefix_regions(pairs: pd.DataFrame, method: str) -> dict[str, tuple[str, str]]:
    """Prefix and critical word of each sentence, from the fields that stored pairs kept of their source."""
    rows = [
        {**(row["fields"] or {}), **{name: row[name] for name in PAIR_TEXTS}}
        for row in pairs.to_dict("records")
    ]
    return sentence_regions(rows, method)


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

    texts, keys = [sentence.words for sentence in sentences], [sentence.key for sentence in sentences]
    return model.score(texts, ids=keys, progress=tell)


def _laid_down(file: File, folder: Path, sub: str = "") -> Path:
    """The upload as a file of its own name, so that messages about it carry that name."""
    path = folder / sub / Path(str(file.name)).name
    path.parent.mkdir(exist_ok=True)
    with path.open("wb") as target:
        for piece in file.chunks():
            target.write(piece)
    file.seek(0)
    return path


def _sha256(file: File) -> str:
    digest = hashlib.sha256()
    for piece in file.chunks():
        digest.update(piece)
    file.seek(0)
    return digest.hexdigest()
