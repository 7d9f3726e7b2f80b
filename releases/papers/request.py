"""Build the document of a paper in a job, and find the stored ones."""

from collections.abc import Iterator
from typing import Any

from django.db import transaction

from analysis.errors import UnknownName
from experiments.models import Job
from experiments.operation.job_runner import Run, enqueue
from releases.gold.describe import file_manifest
from releases.gold.storage import read, store, zip_chunks
from releases.papers.holdings import open_holdings
from releases.papers.reproduce import PAPERS, missing, reproduce

REPRODUCE = "releases.reproduce"
ARCHIVE = "all-files.zip"


def latest(paper: str) -> Job | None:
    """The last reproduction of a paper that was requested."""
    return Job.objects.filter(kind=REPRODUCE, arguments__paper=paper).order_by("-pk").first()


@transaction.atomic
def request_reproduction(paper: str, *, user: Any) -> Job:
    """Queue a reproduction, or return the one that has not ended."""
    if paper not in PAPERS:
        raise UnknownName("paper", paper, list(PAPERS))
    row = latest(paper)
    return row if row is not None and not row.is_final else enqueue(REPRODUCE, {"paper": paper}, user=user)


def run_reproduction(run: Run) -> None:
    """Build and store the files; a repetition stores the same files under the same key."""
    paper = run.arguments["paper"]
    built = reproduce(paper, open_holdings(None), progress=run.progress)
    key = f"papers/{paper}/{run.job.pk}-{run.attempt}"
    store(key, built.files)
    with run.finishing() as result:
        rows = built.numbers["exhibits"]
        result |= {
            "storage_key": key,
            "files": file_manifest(dict(built.files)),
            "exhibits": len(rows),
            "whole": sum(row["state"] == "whole" for row in rows),
            "in_part": sum(row["state"] == "in part" for row in rows),
            "missing": sum(row["state"] == "missing" for row in rows),
            "compared": sum(row["compared"] for row in rows),
            "agree": sum(row["agree"] for row in rows),
            "bring": missing(built.numbers),
        }


def stored_file(job: Job, name: str) -> bytes:
    """One file of a finished reproduction."""
    return read(job.result["storage_key"], name)


def archive(job: Job) -> Iterator[bytes]:
    """All files of a finished reproduction as a ZIP, in chunks."""
    names = [file["path"] for file in job.result["files"]]
    return zip_chunks(job.result["storage_key"], names, folder=f"reproduction-{job.arguments['paper']}")
