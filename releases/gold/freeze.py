"""Request and freeze gold releases; identical requests make one release, and a frozen one never changes."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from django.db import transaction
from django.db.models import Max

from analysis.exclusions.apply import Excluded
from experiments.models import AuditEntry, Experiment, Job
from experiments.operation.job_runner import IOFailure, enqueue
from experiments.webhooks.events import emit
from releases.gold.build import build_release
from releases.gold.options import Options
from releases.gold.plans import find_plan, find_plan_row, write_mask
from releases.gold.storage import MANIFEST, checksum, read, store
from releases.models import Release

BUILD = "releases.build"
KEY_LENGTH = 16  # hexadecimal digits of the content's SHA-256
Progress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Frozen:
    """A release as stored, before its row is updated."""

    sha256: str
    storage_key: str
    manifest: dict[str, Any]
    excluded: Excluded


@transaction.atomic
def request_release(
    experiment: Experiment, options: Options, *, title: str = "", user: Any = None
) -> Release:
    """Create the next release and its job, or return the one that is being built with the same options."""
    # Race: the lock on the study serializes requests, so that numbers are unique and a double click is one.
    Experiment.objects.select_for_update().get(pk=experiment.pk)
    plan = find_plan_row(experiment, options.exclude)
    if plan is None:
        find_plan(experiment, options.exclude)
    else:
        options = replace(options, exclude=f"{plan.name}@{plan.version}")
    building = Release.objects.filter(
        experiment=experiment, state=Release.State.BUILDING, options=options.as_dict()
    )
    existing = building.exclude(job__state__in=Job.State.final()).first()
    if existing is not None:
        return existing
    number = (Release.objects.filter(experiment=experiment).aggregate(last=Max("number"))["last"] or 0) + 1
    release = Release.objects.create(
        experiment=experiment,
        number=number,
        title=title,
        plan=plan,
        options=options.as_dict(),
        created_by=user,
    )
    release.job = enqueue(
        BUILD, {"release": release.pk}, user=user, experiment=experiment, key=f"{BUILD}-{release.pk}"
    )
    release.save(update_fields=["job"])
    details = {"release": number, "options": options.as_dict()}
    AuditEntry.objects.create(experiment=experiment, user=user, action="release started", details=details)
    return release


def freeze(release: Release, *, progress: Progress) -> Frozen:
    """Build and store the files; idempotent, because the key is a hash of the content."""
    progress(1, 3, "reading judgments and building the files")
    built = build_release(release.experiment, Options(**release.options))
    key = f"{release.experiment.slug}/{built.sha256[:KEY_LENGTH]}"
    progress(2, 3, "storing the files")
    store(key, built.files)
    manifest = read(key, MANIFEST)
    if checksum(manifest) != built.sha256:
        raise IOFailure(f"the storage returned another {MANIFEST} than was stored under {key}.")
    return Frozen(built.sha256, key, json.loads(manifest), built.excluded)


def finish_release(release: Release, frozen: Frozen) -> dict[str, Any]:
    """Mark the release as ready and write the mask of its plan; runs in the job's transaction."""
    Release.objects.filter(pk=release.pk).update(
        state=Release.State.READY,
        sha256=frozen.sha256,
        storage_key=frozen.storage_key,
        manifest=frozen.manifest,
    )
    masked = write_mask(release.plan, frozen.excluded) if release.plan else 0
    result = {
        "release": release.number,
        "sha256": frozen.sha256,
        "files": len(frozen.manifest["files"]),
        "mask": masked,
    }
    emit(release.experiment, "release.frozen", {"title": release.title, **result})
    return result
