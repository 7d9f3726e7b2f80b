"""The one model that a worker process keeps in memory, and the threads it may use."""

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
from analysis.releases.model_places import is_pinned, opened_address, stamp, without_root
from analysis.releases.models import ScoringRun
from analysis.scoring import Scorer, scorer
from analysis.scoring.base import parse_address
from experiments.models import Upload

SUFFIXES = {"csv": (".csv", ".tsv", ".jsonl", ".parquet"), "arpa": (".arpa", ".arpa.gz", ".gz", ".lm")}
PROCESSES = "OBELUS_WORKER_PROCESSES"


class Held(NamedTuple):
    """A model and what it was opened from."""

    mark: tuple[object, ...]
    model: Scorer


_held: Held | None = None


def model_of(run: ScoringRun, *, afresh: bool = False) -> Scorer:
    """The run's model, opened unless it is the one in memory; ``afresh`` asks the hub for its revision."""
    uri = address_of(run)
    device = run.spec.get("device", "cpu")
    mark = (uri, run.spec.get("upload"), run.spec.get("column"), device, stamp(uri))
    global _held
    if _held is not None and _held.mark == mark and not (afresh and _floats(run, uri)):
        return _held.model
    forget()
    use_threads(uri)
    model = _opened(run, uri, device)
    _held = Held(mark, model)
    return model


def forget() -> None:
    """Let the model go before the next one needs the memory."""
    global _held
    _held = None
    gc.collect()
    if "torch" in sys.modules:
        sys.modules["torch"].cuda.empty_cache()


def address_of(run: ScoringRun) -> str:
    """The address with its exact revision, once that is known."""
    return run.spec.get("address") or run.model


def kind_of(filename: str) -> str:
    """Which scorer reads a file, by its suffix."""
    for kind, suffixes in SUFFIXES.items():
        if filename.lower().endswith(suffixes):
            return kind
    known = ", ".join(suffix for suffixes in SUFFIXES.values() for suffix in suffixes)
    raise BadInput("files of this kind hold no scores we can read.", file=filename, remedy=f"Use {known}.")


def use_threads(uri: str) -> None:
    """Share the cores among the worker's processes."""
    if uri.partition(":")[0].startswith(("hf-", "lstm")):
        try:
            import torch
        except ImportError:
            return  # opening the model says what to install
        torch.set_num_threads(threads())


def threads() -> int:
    """Cores of this process divided by the worker's processes, unless SCORING_THREADS says how many."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return settings.SCORING_THREADS or max(1, cores // int(os.environ.get(PROCESSES, "1")))


@worker_init.connect
def note_processes(sender: object, **kwargs: object) -> None:
    """Tell the processes that will be forked how many they are."""
    os.environ[PROCESSES] = str(getattr(sender, "concurrency", None) or 1)


def _floats(run: ScoringRun, uri: str) -> bool:
    """Whether the address could name other weights by now."""
    is_upload, is_local = bool(run.spec.get("upload")), parse_address(uri).target.startswith("./")
    return not (is_upload or is_local or is_pinned(uri))


def _opened(run: ScoringRun, uri: str, device: str) -> Scorer:
    """Open the model; an uploaded file is laid down under a name that tells its kind, and read whole."""
    number = run.spec.get("upload")
    if not number:
        try:
            return scorer(opened_address(uri, device=device))
        except BadInput as error:
            raise BadInput(without_root(str(error))) from error
    upload = Upload.objects.filter(pk=number).first()
    if upload is None:
        raise BadInput(f"the file of {run.name} is no longer here.", remedy="Upload it again.")
    kind = kind_of(upload.name)
    suffix = next(one for one in SUFFIXES[kind] if upload.name.lower().endswith(one))
    with tempfile.TemporaryDirectory(prefix="obelus-score-") as folder:
        path = Path(folder) / f"given{suffix}"
        with upload.file.open("rb") as source, path.open("wb") as target:
            for piece in source.chunks():
                target.write(piece)
        column = run.spec.get("column")
        return scorer(f"{kind}:{path}" + (f"?{urlencode({'column': column})}" if column else ""))
