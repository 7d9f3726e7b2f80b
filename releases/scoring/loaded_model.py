"""Model cache of a worker process (one model), and the number of its threads."""

import gc
import os
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode

from celery.signals import worker_init
from django.conf import settings

from analysis.errors import BadInput
from analysis.scoring import Scorer, scorer
from analysis.scoring.model_uri import parse_model_uri
from experiments.intake.previews import limited_memory
from experiments.intake.uploads import named_errors
from experiments.materials.readers.sheets import check_parquet
from experiments.models import Upload
from releases.models import ScoringRun
from releases.scoring.model_registry import is_pinned, resolved_uri, stamp, without_local_files, without_root

SUFFIXES = {"csv": (".csv", ".tsv", ".jsonl", ".parquet"), "arpa": (".arpa", ".arpa.gz", ".gz", ".lm")}
PROCESSES = "OBELUS_WORKER_PROCESSES"


class LoadedModel(NamedTuple):
    """A model and the key of what it was opened from."""

    key: tuple[object, ...]
    model: Scorer


_loaded: LoadedModel | None = None


def load_model(run: ScoringRun, *, afresh: bool = False) -> Scorer:
    """Return the run's model, opened unless it is in memory; ``afresh`` looks up its revision on the hub."""
    uri = pinned_uri(run)
    device = run.spec.get("device", "cpu")
    key = (uri, run.spec.get("upload"), run.spec.get("column"), run.spec.get("sign"), device, stamp(uri))
    global _loaded
    if _loaded is not None and _loaded.key == key and not (afresh and _may_have_changed(run, uri)):
        return _loaded.model
    forget()  # before opening the next one: two models may not fit into memory
    use_threads(uri)
    model = _open(run, uri, device)
    _loaded = LoadedModel(key, model)
    return model


def forget() -> None:
    """Release the model and its memory."""
    global _loaded
    if _loaded is None:
        return
    _loaded = None
    if "torch" in sys.modules:
        gc.collect()  # modules of torch refer to each other in cycles
        sys.modules["torch"].cuda.empty_cache()


def pinned_uri(run: ScoringRun) -> str:
    """Return the model URI with its exact revision, once that is known."""
    return run.spec.get("address") or run.model


def scorer_kind(filename: str) -> str:
    """Return the kind of scorer that reads a file, by its suffix."""
    for kind, suffixes in SUFFIXES.items():
        if filename.lower().endswith(suffixes):
            return kind
    supported = ", ".join(suffix for suffixes in SUFFIXES.values() for suffix in suffixes)
    raise BadInput("this is not a file of scores or of a model.", file=filename, remedy=f"Use {supported}.")


def use_threads(uri: str) -> None:
    """Limit torch to this process's share of the cores."""
    if uri.partition(":")[0].startswith(("hf-", "lstm")):
        try:
            import torch
        except ImportError:
            return  # opening the model raises an error with the package to install
        torch.set_num_threads(threads())


def threads() -> int:
    """Return SCORING_THREADS, by default the available cores divided by the worker's processes."""
    # Containers and taskset restrict the affinity, which cpu_count ignores; macOS has no affinity.
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return settings.SCORING_THREADS or max(1, cores // int(os.environ.get(PROCESSES, "1")))


@worker_init.connect  # type: ignore[untyped-decorator]  # Celery has no stubs
def note_processes(sender: object, **kwargs: object) -> None:
    """Record the number of processes in the environment, which the forked processes inherit."""
    os.environ[PROCESSES] = str(getattr(sender, "concurrency", None) or 1)


def _may_have_changed(run: ScoringRun, uri: str) -> bool:
    """Return whether the URI may name other weights by now."""
    is_upload, is_local = bool(run.spec.get("upload")), parse_model_uri(uri).target.startswith("./")
    return not (is_upload or is_local or is_pinned(uri))


def _open(run: ScoringRun, uri: str, device: str) -> Scorer:
    """Open the model; an uploaded file is copied to a temporary file with the suffix of its kind."""
    upload_id = run.spec.get("upload")
    if not upload_id:
        try:
            with without_local_files(uri):
                return scorer(resolved_uri(uri, device=device))
        except BadInput as error:
            raise BadInput(without_root(str(error))) from error
    upload = Upload.objects.filter(pk=upload_id).first()
    if upload is None:
        raise BadInput(f"the file of {run.name} is no longer stored.", remedy="Upload it again.")
    kind = scorer_kind(upload.name)
    suffix = next(file_suffix for file_suffix in SUFFIXES[kind] if upload.name.lower().endswith(file_suffix))
    with tempfile.TemporaryDirectory(prefix="obelus-score-") as folder:
        path = Path(folder) / f"given{suffix}"
        with upload.file.open("rb") as source, path.open("wb") as target:
            for chunk in source.chunks():
                target.write(chunk)
        options = {name: run.spec[name] for name in ("column", "sign") if run.spec.get(name)}
        if kind == "csv":  # the sign was asked for when the run was requested; older runs have none
            options.setdefault("sign", "higher")
        address = f"{kind}:{path}" + (f"?{urlencode(options)}" if options else "")
        with named_errors(path, upload.name):
            if kind != "csv":
                return scorer(address)
            with limited_memory(upload.name):
                if suffix == ".parquet":
                    check_parquet(path)
                return scorer(address)
