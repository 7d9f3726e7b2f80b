"""Surprisal of tokens, words and regions: the table of ``manage.py score --tokens`` and of a run's page.

A table is stored once for a run and a file of regions: as CSV and Parquet, beside ``manifest.json`` with the
revision and the specification of the model.
"""

import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.db.models import QuerySet

from analysis.errors import BadInput, StillComputing
from analysis.files import write_table
from analysis.gold.writers import json_bytes
from analysis.scoring import Scorer
from analysis.scoring.registry import may_have_tokens
from analysis.scoring.words.surprisals import (
    Regions,
    named_regions,
    score_tokens,
    unit_counts,
    without_tokens,
)
from config.version import code_version
from experiments.intake.previews import is_large, limited_memory
from experiments.intake.uploads import (
    deleted_on_error,
    discard_uploads,
    file_checksum,
    local_copies,
    named_errors,
    save_uploads,
)
from experiments.materials.readers.sheets import check_parquet
from experiments.models import AuditEntry, Experiment, Job, Sentence, Upload
from experiments.operation.job_runner import Run, enqueue
from releases.gold.describe import file_manifest
from releases.gold.storage import MANIFEST, checksum, store
from releases.models import ScoringRun
from releases.scoring.execution import counter, run_sentences
from releases.scoring.loaded_model import load_model
from releases.scoring.runs import may_retry
from releases.scoring.score_cache import software
from releases.scoring.shards import check_model
from releases.scoring.texts import reader

SURPRISALS = "releases.surprisals"
FORMAT = "obelus-surprisals/1"  # another one for the same request makes another table
PURPOSE = "scores"  # of the upload
CSV, PARQUET = "surprisals.csv", "surprisals.parquet"
FILES = (CSV, PARQUET, MANIFEST)
KEY_LENGTH = 16  # hexadecimal digits of a SHA-256 in a folder's name
PREVIEW_SENTENCES, PREVIEW_ROWS = 4, 60  # rows of each sentence
LISTED_IDS = 100  # sentences without rows that the manifest lists


def sentence_table(sentences: Iterable[Sentence]) -> pd.DataFrame:
    """Return stored sentences with what precedes them and their critical regions."""
    rows = [
        (sentence.key, sentence.words, sentence.context, sentence.critical_region) for sentence in sentences
    ]
    return pd.DataFrame(rows, columns=["sentence_id", "sentence", "context", "critical_region"])


@dataclass(frozen=True)
class StoredSurprisals:
    """A table of surprisals as stored in its job."""

    job: Job

    @property
    def number(self) -> int:
        """Number in URLs, which is the key of the job."""
        return self.job.pk

    @property
    def is_ready(self) -> bool:
        """Whether its files are stored."""
        return self.job.state == Job.State.DONE

    @property
    def regions_file(self) -> str:
        """Name of the uploaded file of regions; empty without one."""
        return str(self.job.arguments["regions_file"])

    @property
    def counts(self) -> dict[str, int]:
        """Numbers of tokens, words, regions and rows without a value."""
        return dict(self.job.result.get("counts", {}))

    @property
    def n_without_rows(self) -> int:
        """Sentences without rows, because they were not scored."""
        return int(self.job.result.get("sentences_without_rows", 0))

    @property
    def n_without_value(self) -> int:
        """Rows whose surprisal is empty; each has a note."""
        return self.counts.get("without a value", 0)

    @property
    def files(self) -> list[dict[str, Any]]:
        """Name and size of each file; the tables first."""
        sizes = {file["path"]: file["bytes"] for file in self.job.result.get("files", [])}
        return [{"path": name, "bytes": sizes[name]} for name in FILES if name in sizes]

    @property
    def preview(self) -> list[dict[str, Any]]:
        """The first sentences with their rows."""
        return list(self.job.result.get("preview", []))

    @property
    def storage_key(self) -> str:
        """Folder in the release storage."""
        return str(self.job.result["storage_key"])


def list_tables(run: ScoringRun) -> list[StoredSurprisals]:
    """Return the tables of a run, newest first; of a request that failed only the last attempt."""
    rows = _run_jobs(run).filter(key__isnull=False).select_related("created_by")
    return [StoredSurprisals(job) for job in rows.order_by("-pk")]


def find_surprisals(run: ScoringRun, number: int) -> StoredSurprisals | None:
    """Return the run's table of that number."""
    job = _run_jobs(run).filter(pk=number).first()
    return StoredSurprisals(job) if job else None


def refusal(run: ScoringRun) -> BadInput | None:
    """Return why a finished run gives no surprisals, without opening its model; None where it may."""
    kind = run.model.partition(":")[0]
    if not may_have_tokens(kind):
        return without_tokens(kind)
    if run.scorer_id is None:
        return BadInput("this run does not record its model.", remedy="Score the sentences again.")
    return None


@transaction.atomic
def request_surprisals(
    run: ScoringRun,
    study: Experiment,
    *,
    file: "UploadedFile[Any] | None" = None,
    user: User | None = None,
) -> StoredSurprisals:
    """Create the job, or return the existing one for the same regions; a failed one is replaced.

    The tables belong to the run, whichever of its studies asks, so they need the right over the run.
    """
    if user is not None and not may_retry(user, run):
        raise PermissionDenied(
            "Only the run's own team, or the owner of the materials, may compute its surprisals."
        )
    # Race: the lock on the run serializes requests, so that a double click makes one job.
    run = ScoringRun.objects.select_for_update().get(pk=run.pk)
    if run.state == ScoringRun.State.FAILED:
        raise BadInput("the run failed.", remedy="Surprisals are computed of a run that is done.")
    if run.state != ScoringRun.State.DONE:
        raise StillComputing("the run is not finished.", remedy="Surprisals are computed after it.")
    if error := refusal(run):
        raise error
    digest = file_checksum(file) if file is not None else ""
    key = f"{SURPRISALS}:{run.pk}:{FORMAT.rpartition('/')[2]}:{digest[:32]}"
    existing = Job.objects.filter(key=key)
    existing.filter(state=Job.State.FAILED).update(key=None)
    if job := existing.first():
        return StoredSurprisals(job)
    uploads = []
    if file is not None:
        uploads = save_uploads(user, [file], purpose=PURPOSE, options={}, lab=study.lab)
        with deleted_on_error(uploads):
            _check_regions(run, uploads)
    arguments = {
        "run": run.pk,
        "queue": run.spec.get("device", "cpu"),
        "upload": uploads[0].pk if uploads else None,
        "regions_file": uploads[0].name if uploads else "",
        "regions_sha256": digest,
    }
    job = enqueue(SURPRISALS, arguments, user=user, experiment=study, key=key)
    details = {"run": run.pk, "name": run.name, "regions": arguments["regions_file"]}
    AuditEntry.objects.create(experiment=study, user=user, action="surprisals started", details=details)
    return StoredSurprisals(job)


def run_surprisals(run: Run) -> None:
    """Compute and store the files; idempotent, because the key is a hash of the content."""
    scoring = ScoringRun.objects.select_related("material_set", "scorer").get(pk=run.arguments["run"])
    files, result = _compute_files(scoring, run.arguments, progress=run.progress)
    digest = checksum(files[MANIFEST])
    slug = run.job.experiment.slug if run.job.experiment else scoring.material_set.slug
    key = f"{slug}/surprisals/{digest[:KEY_LENGTH]}"
    store(key, files)
    with run.finishing() as stored:
        stored |= {"storage_key": key, "sha256": digest, **result, "files": file_manifest(files)}
    # The stored tables have its regions.
    discard_uploads(list(Upload.objects.filter(pk=run.arguments["upload"] or 0)))


def _compute_files(
    scoring: ScoringRun, arguments: Mapping[str, Any], *, progress: Callable[[int, int, str], None]
) -> tuple[dict[str, bytes], dict[str, Any]]:
    """Return the files of a table, and what the page shows of it."""
    sentences = sentence_table(run_sentences(scoring))
    progress(0, len(sentences), "opening the model")
    model = _recorded_model(scoring)
    with limited_memory(arguments["regions_file"]):
        regions = _regions(sentences, _uploads(arguments))
    scored, table = score_tokens(
        model,
        sentences,
        regions=regions,
        name=scoring.name,
        progress=counter(progress, len(sentences), "scoring tokens"),
        word_progress=counter(progress, 0, "scoring words after their prefixes"),
    )
    if table.empty:
        raise BadInput("no sentence has a score.", file=scoring.model)
    progress(len(sentences), len(sentences), "storing")
    tabulated = set(table["sentence_id"])
    missing = [name for name in sentences["sentence_id"] if name not in tabulated]
    result = {
        "counts": unit_counts(table),
        "sentences": len(sentences),
        "sentences_without_rows": len(missing),
    }
    files = _table_files(table)
    record = {
        "format": FORMAT,
        "code_version": code_version(),
        "run": scoring.pk,
        "model": scoring.model,
        "name": scoring.name,
        "revision": scored.summary["spec"]["revision"],
        # The address of a local model names a folder of the server; the run's does not.
        "spec": {**scored.summary["spec"], "uri": scoring.model},
        "software": software(model.spec),
        "flags": scored.summary["flags"],
        "materials": {"name": scoring.material_set.name, "checksum": scoring.material_set.checksum},
        "release": scoring.spec.get("release"),
        "regions_file": {"name": arguments["regions_file"], "sha256": arguments["regions_sha256"]},
        "units": {"surprisal_nats": "-ln p", "surprisal_bits": "-log2 p"},
        **result,
        "missing_sentence_ids": missing[:LISTED_IDS],
        "files": file_manifest(files),
    }
    return {**files, MANIFEST: json_bytes(record)}, {**result, "preview": _preview(table, sentences)}


def _recorded_model(scoring: ScoringRun) -> Scorer:
    """Open the model of a run; raise BadInput if it is no longer the one that the run recorded."""
    if scoring.scorer is None:
        raise BadInput("this run does not record its model.", remedy="Score the sentences again.")
    model = load_model(scoring)
    is_in_context = bool(scoring.spec.get("in_context"))
    check_model(scoring, reader(scoring.method, model, is_in_context=is_in_context), scoring.scorer)
    return model


def _uploads(arguments: Mapping[str, Any]) -> list[Upload]:
    if arguments["upload"] is None:
        return []
    uploads = list(Upload.objects.filter(pk=arguments["upload"]))
    if not uploads:
        raise BadInput(f"{arguments['regions_file']} is no longer stored.", remedy="Upload it again.")
    return uploads


def _regions(sentences: pd.DataFrame, uploads: Sequence[Upload]) -> Regions:
    """Return the regions of sentences; errors name the uploaded file, not its copy on the server."""
    if not uploads:
        return named_regions(sentences, None)
    with local_copies(uploads) as (path,), named_errors(path, uploads[0].name):
        if path.suffix.lower() == ".parquet":
            check_parquet(path)
        return named_regions(sentences, path)


def _check_regions(run: ScoringRun, uploads: Sequence[Upload]) -> None:
    """Raise BadInput if the file of a request has no such regions; a large one is read by the job only."""
    if is_large(uploads):
        return
    _regions(sentence_table(run_sentences(run)), uploads)


def _table_files(table: pd.DataFrame) -> dict[str, bytes]:
    with tempfile.TemporaryDirectory(prefix="obelus-surprisals-") as folder:
        for name in (CSV, PARQUET):
            write_table(table, Path(folder, name))
        return {name: Path(folder, name).read_bytes() for name in (CSV, PARQUET)}


def _preview(table: pd.DataFrame, sentences: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the first sentences that have rows, with their contexts and first rows; None is no number."""
    names = table["sentence_id"].drop_duplicates().head(PREVIEW_SENTENCES)
    by_id = sentences.set_index("sentence_id")
    preview = []
    for name in names:
        rows = table[table["sentence_id"] == name]
        shown = rows.head(PREVIEW_ROWS).drop(columns="sentence_id").replace([np.inf, -np.inf], np.nan)
        preview.append({
            "sentence_id": name,
            "sentence": by_id.at[name, "sentence"],
            "context": by_id.at[name, "context"],
            "rows": shown.astype(object).where(shown.notna(), None).to_dict("records"),
            "n_more": len(rows) - len(shown),
        })  # fmt: skip
    return preview


def _run_jobs(run: ScoringRun) -> QuerySet[Job]:
    return Job.objects.filter(kind=SURPRISALS, arguments__run=run.pk)
