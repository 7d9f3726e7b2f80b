"""Publish a frozen release: the preview, the request, and the job that sends and verifies a deposit."""

import json
import re
import tempfile
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from analysis.errors import BadInput
from analysis.gold.citation import Licence, recognize_licence
from experiments.models import AuditEntry, Experiment, Job, Mode, PlatformAccount
from experiments.operation.job_runner import IOFailure, Run, enqueue
from experiments.teams.roles import may_edit, owns
from experiments.webhooks.events import emit
from judgments.recruitment.credentials import decrypt_secrets
from releases.gold.describe import list_authors
from releases.gold.storage import MANIFEST, chunks, read, zip_entry
from releases.models import Publication, Release
from releases.publishing.huggingface import HuggingFace
from releases.publishing.osf import OSF
from releases.publishing.repository import (
    Deposit,
    Description,
    LocalFile,
    Order,
    Refused,
    Repository,
    local_file,
)
from releases.publishing.zenodo import Zenodo

PUBLISH = "releases.publish"
Place = Publication.Place
REPOSITORIES: dict[str, type[Repository]] = {
    Place.HUGGINGFACE: HuggingFace,
    Place.ZENODO: Zenodo,
    Place.OSF: OSF,
}
#: ORG/NAME as the hub accepts it: at most 96 characters each, no dash or dot at an end, none doubled.
DATASET = re.compile(r"(?!.*(--|\.\.))[A-Za-z0-9]([\w.-]{0,94}[A-Za-z0-9])?/\w([\w.-]{0,94}\w)?", re.ASCII)
Progress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Preview:
    """Content of a publication: files with sizes, licence, and what to know before."""

    files: list[tuple[str, int]]
    licence: str
    creators: tuple[str, ...]
    title: str
    notes: list[str]

    @property
    def n_bytes(self) -> int:
        """The size of all files."""
        return sum(size for _, size in self.files)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "title": self.title,
            "licence": self.licence,
            "creators": list(self.creators),
            "files": [{"path": name, "bytes": size} for name, size in self.files],
            "bytes": self.n_bytes,
            "notes": self.notes,
        }


def check_target(place: str, target: str) -> str:
    """The name of the dataset on the hub; other repositories name deposits themselves."""
    if place != Place.HUGGINGFACE:
        return ""
    if not DATASET.fullmatch(target.strip()):
        raise BadInput(
            f"{target!r} is not a name of a dataset." if target.strip() else "the dataset has no name.",
            column="target",
            remedy="Write ORG/NAME, such as my-lab/agreement; letters, digits, “-”, “_” and “.”.",
        )
    return target.strip()


def preview(release: Release, place: str, *, is_public: bool, mode: str = Mode.LIVE) -> Preview:
    """Preview a publication; nothing leaves this server."""
    _check_ready(release)
    description = describe(release)
    sizes = [(str(file["path"]), int(file["bytes"])) for file in release.manifest["files"]]
    sizes.append((MANIFEST, len(read(release.storage_key, MANIFEST))))
    notes = []
    if REPOSITORIES[place].is_flat:
        folders = sorted({name.partition("/")[0] for name, _ in sizes if "/" in name})
        sizes = _sizes_with_archives(sizes)
        notes += [
            f"The folder {folder} is sent as {folder}.zip: {Place(place).label} has no folders."
            for folder in folders
        ]
    licence = description.licence
    if licence is None:
        notes.append("The materials state no licence, so others may not use the files.")
    elif place != Place.HUGGINGFACE and not licence.spdx:
        notes.append(
            f"{Place(place).label} does not know the licence “{licence.title}”: state it there yourself."
        )
    if place == Place.ZENODO and not (licence and licence.spdx):
        notes.append("Without a licence that Zenodo knows, the files of the draft are closed to others.")
    has_deposit = release.publications.filter(place=place, mode=mode).exclude(deposit_id="").exists()
    is_new = place == Place.ZENODO and not has_deposit  # a deposit stays in the record where it began
    for publication in earlier_on_zenodo(release, mode).filter(is_open=True)[:1] if is_new else ():
        notes.append(
            f"It becomes a new version of the record of release {publication.release.number}"
            f" ({publication.doi}), with the same DOI of all versions."
        )
    if is_public and place != Place.HUGGINGFACE:
        notes.append(irreversible(place))
    return Preview(
        sorted(sizes), licence.title if licence else "", description.creators, description.title, notes
    )


def find_draft(release: Release, account: PlatformAccount, target: str) -> Publication | None:
    """The draft of a release at one place, which may be published."""
    drafts = Publication.objects.filter(
        release=release, place=account.platform, target=target, mode=account.mode, is_open=False
    )
    return drafts.exclude(deposit_id="").first()


def irreversible(place: str) -> str:
    """Irreversible effects of a public deposit."""
    if place == Place.HUGGINGFACE:
        return "Copies that others make of it stay."
    return f"A DOI is registered. A public deposit of {Place(place).label} stays for good."


def _sizes_with_archives(sizes: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
    """Sizes with each folder as one archive, of at most the size of its files."""
    total: dict[str, int] = defaultdict(int)
    for name, size in sizes:
        total[_flat_name(name)] += size
    return list(total.items())


def describe(release: Release, *, mode: str = Mode.LIVE) -> Description:
    """Title, authors and licence as the frozen release has them; an older one has no DataCite record.

    ``mode`` is that of the account: a sandbox has DOIs of its own.
    """
    names = {str(file["path"]) for file in release.manifest["files"]}
    record = json.loads(read(release.storage_key, "datacite.json")) if "datacite.json" in names else {}
    study = release.experiment
    creators = tuple(str(creator["name"]) for creator in record.get("creators", []))
    owner = tuple(f"{family}, {given}" for family, given in list_authors(study))
    counts = release.manifest["counts"]
    title = release.manifest.get("title") or study.title
    earlier = earlier_on_zenodo(release, mode).filter(is_open=True).exclude(doi="").first()
    return Description(
        title=f"{title}: acceptability judgments, release {release.number}",
        summary=(
            f"{study.description.strip()} " if study.description.strip() else ""
        ) + f"Acceptability judgments: {counts['judgments']} judgments of {counts['sentences']} sentences by "
        f"{counts['participants']} participants, with exclusions, a codebook and checksums "
        f"(manifest {release.sha256}).",
        creators=creators or owner or (f"The authors of {title}",),
        licence=_licence(record, study),
        year=str(record.get("publicationYear") or f"{release.created_at:%Y}"),
        number=release.number,
        replaces_doi=earlier.doi if earlier else "",
    )  # fmt: skip


def earlier_on_zenodo(release: Release, mode: str) -> QuerySet[Publication]:
    """Deposits of earlier releases of the same study, the newest first; none before a later published one."""
    rows = Publication.objects.filter(
        release__experiment=release.experiment_id, place=Place.ZENODO, mode=mode
    ).exclude(deposit_id="")
    if rows.filter(release__number__gt=release.number, is_open=True).exists():
        return rows.none()  # versions are in the order in which they are published
    return rows.filter(release__number__lt=release.number).order_by("-release__number")


def _licence(record: Mapping[str, Any], study: Experiment) -> Licence | None:
    """The licence that the frozen files state."""
    if record:
        rights = (record.get("rightsList") or [{}])[0]
        return recognize_licence(str(rights.get("rightsIdentifier") or rights.get("rights", "")))
    return recognize_licence(study.materials.licence if study.materials else "")


@transaction.atomic
def request_publication(
    release: Release,
    account: PlatformAccount,
    *,
    target: str = "",
    is_public: bool = False,
    by: User | None = None,
) -> Publication:
    """Queue the publication; the same place again verifies it, continues it, or makes a draft public.

    Editors send drafts. Only owners publish, because most of it cannot be taken back; ``by`` is None on the
    command line.
    """
    study = release.experiment
    if by is not None and not (owns(by, study) if is_public else may_edit(by, study)):
        raise PermissionDenied("Only owners of a study make a release public.")
    _check_ready(release)
    place = Place(account.platform)
    target = check_target(place, target)
    licence = describe(release).licence
    if is_public and (licence is None or (place == Place.ZENODO and not licence.spdx)):
        raise BadInput(
            "a public release needs a licence" + (" that Zenodo knows." if licence else "."),
            remedy="State it with the materials and build the release again, or send a draft.",
        )
    # Race: the lock on the study makes two clicks one publication with one job.
    Experiment.objects.select_for_update().get(pk=study.pk)
    publication, is_new = Publication.objects.get_or_create(
        release=release, place=place, target=target, mode=account.mode, defaults={"created_by": by}
    )
    job = publication.job
    if not is_new and job is not None and not job.is_final:
        return publication
    publication.account, publication.state, publication.error = account, Publication.State.SENDING, ""
    publication.is_public = is_public or publication.is_open
    publication.job = enqueue(PUBLISH, {"publication": publication.pk}, user=by, experiment=study)
    publication.save()
    _note(publication, "publication started", by=by, account=str(account))
    return publication


def _check_ready(release: Release) -> None:
    if release.state != Release.State.READY:
        raise BadInput(f"release {release.number} is not ready.", remedy="Wait until its files are built.")


def _note(publication: Publication, action: str, *, by: User | None, **details: object) -> None:
    visibility = "public" if publication.is_public else "draft"
    details = {"release": publication.release.number, "place": publication.place_name, **details}
    AuditEntry.objects.create(
        experiment=publication.release.experiment,
        user=by,
        action=action,
        details={**details, "visibility": visibility},
    )


def open_repository(account: PlatformAccount) -> Repository:
    """The repository of an account, in its sandbox unless the account is live."""
    is_live = account.mode == Mode.LIVE
    urls = {
        Place.HUGGINGFACE: settings.HUGGINGFACE_URL,
        Place.ZENODO: settings.ZENODO_URL if is_live else settings.ZENODO_SANDBOX_URL,
        Place.OSF: settings.OSF_URL if is_live else settings.OSF_SANDBOX_URL,
    }
    place = Place(account.platform)
    return REPOSITORIES[place](decrypt_secrets(account)["token"], urls[place])


def send(publication: Publication, *, progress: Progress) -> Deposit:
    """Find or create the deposit, send what it lacks, verify every checksum, make it public if asked.

    Called again after any interruption, it sends nothing twice.
    """
    if publication.account is None:
        raise BadInput("the account was removed.", remedy="Connect one and publish again.")
    repository = open_repository(publication.account)
    release = publication.release
    progress(0, 0, "checking the files of the release")
    with stage_files(release, is_flat=repository.is_flat) as files:
        progress(0, len(files) + 2, f"asking {repository.label}")
        earlier = _earlier_files(publication)
        deposit = repository.find_or_create(
            Order(
                marker=f"obelus-{publication.marker.hex}",
                deposit_id=publication.deposit_id,
                target=publication.target,
                is_public=publication.is_public,
                may_replace=bool(earlier),
                description=describe(release, mode=publication.mode),
                earlier_ids=_earlier_ids(publication),
            )
        )
        # Stored at once: if this process ends here, the next start continues with this deposit.
        Publication.objects.filter(pk=publication.pk).update(
            deposit_id=deposit.id, address=deposit.address, doi=deposit.doi
        )
        deposit = _fill(publication, repository, deposit, files, earlier, progress=progress)
    if publication.is_public:
        progress(len(files) + 1, len(files) + 2, "making it public")
        deposit = repository.open(deposit)
    return deposit


def _fill(
    publication: Publication,
    repository: Repository,
    deposit: Deposit,
    files: Sequence[LocalFile],
    earlier: set[str],
    *,
    progress: Progress,
) -> Deposit:
    """Send what is missing or differs, and compare everything afterwards."""
    remote = repository.contents(deposit)
    missing = [file for file in files if not _is_equal(file, remote)]
    stale = sorted((earlier & set(remote)) - {file.name for file in files})
    if missing or stale:
        if deposit.is_public and not publication.is_public:
            raise Refused(
                f"the deposit {deposit.address} is public, and this release was asked for as a draft.",
                remedy="Publish it as public, or choose another name.",
            )
        n_sent = len(files) - len(missing)

        def advance(name: str) -> None:
            nonlocal n_sent
            progress(n_sent, len(files) + 2, f"sending {name}")
            n_sent += 1

        repository.upload(deposit, missing, stale, advance=advance)
        progress(len(files), len(files) + 2, "verifying checksums")
        remote = repository.contents(deposit)
    differing = [file.name for file in files if not _is_equal(file, remote)]
    if differing:
        raise IOFailure(f"{repository.label} stores {differing[0]} with another checksum than was sent.")
    return repository.current(deposit)


def _is_equal(file: LocalFile, remote: Mapping[str, str]) -> bool:
    algorithm, _, digest = remote.get(file.name, ":").partition(":")
    return bool(digest) and file.digests.get(algorithm) == digest


def _earlier_files(publication: Publication) -> set[str]:
    """Files of releases of the same study that were published at the same place before; empty without one."""
    others = Publication.objects.filter(
        place=publication.place,
        target=publication.target,
        mode=publication.mode,
        release__experiment=publication.release.experiment_id,
    ).exclude(pk=publication.pk).exclude(deposit_id="")  # fmt: skip
    if publication.place == Place.OSF:  # each release has a project of its own there
        return set()
    names = {
        name
        for other in others.select_related("release")
        for name in [*(str(file["path"]) for file in other.release.manifest["files"]), MANIFEST]
    }
    if REPOSITORIES[publication.place].is_flat:
        return {_flat_name(name) for name in names}
    return names


def _earlier_ids(publication: Publication) -> tuple[str, ...]:
    """Deposits on Zenodo of which this publication may be the next version."""
    if publication.place != Place.ZENODO:
        return ()
    rows = earlier_on_zenodo(publication.release, publication.mode)
    return tuple(rows.values_list("deposit_id", flat=True))


def _flat_name(name: str) -> str:
    """The file of a flat deposit that holds this one."""
    folder, slash, _ = name.partition("/")
    return f"{folder}.zip" if slash else name


def finish(publication: Publication, deposit: Deposit, *, cited: str) -> dict[str, Any]:
    """Store address and DOI; runs in the job's transaction."""
    manifest = publication.release.manifest
    publication.state, publication.error = Publication.State.DONE, ""
    publication.address, publication.doi, publication.is_open = (
        deposit.address,
        deposit.doi,
        deposit.is_public,
    )
    publication.facts = {
        "files": len(manifest["files"]) + 1,
        "bytes": sum(int(file["bytes"]) for file in manifest["files"]),
        "citation": cited,
        **({"revision": deposit.revision} if deposit.revision else {}),
        **({"concept_doi": deposit.concept_doi} if deposit.concept_doi else {}),
    }
    publication.verified_at = timezone.now()
    publication.save(update_fields=["state", "error", "address", "doi", "is_open", "facts", "verified_at"])
    written = {"address": deposit.address, "doi": deposit.doi}
    _note(publication, "publication verified", by=publication.created_by, **written)
    result = {"release": publication.release.number, "place": publication.place_name, **written}
    emit(publication.release.experiment, "release.published", {"is_public": deposit.is_public, **result})
    return result


def citation(publication: Publication, deposit: Deposit) -> str:
    """Citation of a release, as DataCite recommends: creators, year, title, publisher, identifier."""
    described = describe(publication.release)
    identifier = f"https://doi.org/{deposit.doi}" if deposit.doi else deposit.address
    start = f"{'; '.join(described.creators)} ({described.year}). {described.title}."
    return f"{start} {publication.get_place_display()}. {identifier}"


def run_publication(run: Run) -> None:
    """The work of the job."""
    rows = Publication.objects.select_related("release__experiment__materials", "account", "created_by")
    publication = rows.get(pk=run.arguments["publication"])
    deposit = send(publication, progress=run.progress)
    cited = citation(publication, deposit)
    with run.finishing() as result:
        result |= finish(publication, deposit, cited=cited)


def publication_failed(job: Job, reason: str) -> None:
    """Store the reason with the publication, too."""
    rows = Publication.objects.filter(pk=job.arguments["publication"], job=job)
    rows.update(state=Publication.State.FAILED, error=reason)


@contextmanager
def stage_files(release: Release, *, is_flat: bool) -> Iterator[list[LocalFile]]:
    """The files of a release in a temporary folder, compared with its manifest; flat: a ZIP per folder."""
    sums = {str(file["path"]): str(file["sha256"]) for file in release.manifest["files"]}
    sums[MANIFEST] = release.sha256
    with tempfile.TemporaryDirectory() as folder:
        files = [_staged_file(release, name, Path(folder)) for name in sorted(sums)]
        changed = [file.name for file in files if file.digests["sha256"] != sums[file.name]]
        if changed:
            raise BadInput(
                "was changed in the storage of releases since it was frozen: nothing was sent.",
                file=changed[0],
                remedy="Restore the storage from a backup.",
            )
        yield _flat(files, Path(folder)) if is_flat else files


def _staged_file(release: Release, name: str, folder: Path) -> LocalFile:
    path = folder / "files" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as copy:
        for block in chunks(release.storage_key, name):
            copy.write(block)
    return local_file(name, path)


def _flat(files: Sequence[LocalFile], folder: Path) -> list[LocalFile]:
    """Files without folders: each folder is one ZIP, the same bytes each time."""
    flat = [file for file in files if "/" not in file.name]
    folders = sorted({PurePosixPath(file.name).parts[0] for file in files if "/" in file.name})
    for name in folders:
        path = folder / f"{name}.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in files:
                if file.name.startswith(f"{name}/"):
                    archive.writestr(zip_entry(file.name), file.path.read_bytes())
        flat.append(local_file(path.name, path))
    return flat
