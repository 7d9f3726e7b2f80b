"""``manage.py publish``: send a frozen release to Hugging Face, Zenodo, OSF or a folder."""

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from analysis.errors import BadInput, UnknownName
from analysis.text import plural
from config.commands import ContractCommand
from experiments.models import Experiment, Job, Mode, PlatformAccount
from experiments.operation import job_runner
from experiments.studies.creation import find_experiment
from judgments.recruitment.credentials import add_account, replace_secrets, usable_accounts
from releases.gold.storage import MANIFEST, checksum, read, write_folder
from releases.models import Publication, Release
from releases.publishing.publish import (
    REPOSITORIES,
    Preview,
    check_target,
    describe,
    find_draft,
    irreversible,
    preview,
    request_publication,
)

FOLDER = "folder"
COMMAND_LINE = "command line"


class Command(ContractCommand):
    """Publish a release, or say what would be sent."""

    help = (
        "Send a frozen release to a repository as a draft, verify every checksum there, and note its address"
        " and DOI. Run again, it continues, verifies, or (--public) makes the draft public."
    )
    example = "manage.py publish demo/1 --to huggingface:my-lab/demo --dry-run"

    def add_options(self, parser: ArgumentParser) -> None:
        """The release, the place, and how visible it becomes."""
        parser.add_argument("release", metavar="RELEASE", help="STUDY/NUMBER; STUDY alone is its newest")
        parser.add_argument(
            "--to",
            required=True,
            metavar="PLACE",
            help="huggingface:ORG/NAME, zenodo, osf or folder:PATH",
        )
        parser.add_argument("--dry-run", action="store_true", help="say what would be sent, and send nothing")
        visibility = parser.add_mutually_exclusive_group()
        visibility.add_argument(
            "--public", action="store_true", help="make it public at once, for good; default: a draft"
        )
        visibility.add_argument(
            "--publish-draft",
            action="store_true",
            help="make the draft public that is there already; this cannot be taken back",
        )
        parser.add_argument(
            "--live", action="store_true", help="zenodo.org or osf.io themselves; default: their sandboxes"
        )
        parser.add_argument(
            "--account", default="", metavar="LABEL", help="of the study's accounts, where there are several"
        )
        parser.add_argument(
            "--token-file",
            default="",
            metavar="FILE",
            help="store this token for the study, encrypted, and use it; - is the standard input",
        )

    def run(self, **options: Any) -> None:
        """Publish, with the job in this process."""
        release = _release(options["release"])
        place, _, target = options["to"].partition(":")
        if place == FOLDER:
            self._write(release, target, options)
            return
        if place not in REPOSITORIES:
            raise UnknownName("place", place, [*map(str, REPOSITORIES), f"{FOLDER}:PATH"])
        check_target(place, target)
        options["public"] = options["public"] or options["publish_draft"]
        if options["dry_run"]:
            mode = _mode(place, options)
            self._show(preview(release, place, is_public=options["public"], mode=mode), options)
            return
        account = self._account(release.experiment, place, options)
        if options["publish_draft"]:
            self._announce(find_draft(release, account, target.strip()), release, place, options)
        publication = request_publication(release, account, target=target, is_public=options["public"])
        self._report(self._run_here(publication, options), options)

    def _announce(
        self, draft: Publication | None, release: Release, place: str, options: dict[str, Any]
    ) -> None:
        """Say what becomes public and stays so; refuse where there is no draft."""
        if draft is None:
            label = Publication.Place(place).label
            raise BadInput(
                f"release {release.number} has no draft on {label}.",
                remedy="Send one first: the same command without --publish-draft.",
            )
        if not options["json"]:
            self.stdout.write(f"publishing the draft {draft.address}. {irreversible(place)}")

    def _run_here(self, publication: Publication, options: dict[str, Any]) -> Publication:
        """Run the job here, unless a worker was first."""
        assert publication.job_id is not None
        waiting = Job.objects.filter(pk=publication.job_id, state=Job.State.QUEUED)
        waiting.update(retry_at=None)  # a person asks now
        with self.working(options, f"Sending {publication}"):
            job_runner.run(publication.job_id)
        publication.refresh_from_db()
        job = Job.objects.get(pk=publication.job_id)
        if job.state == Job.State.FAILED:
            raise BadInput(job.error)
        if job.state != Job.State.DONE:
            raise BadInput(
                job.message or "a worker is sending it.", remedy="Run the same command again to see the end."
            )
        return publication

    def _account(self, study: Experiment, place: str, options: dict[str, Any]) -> PlatformAccount:
        mode = _mode(place, options)
        label = options["account"] or COMMAND_LINE
        accounts = usable_accounts(study, place).filter(mode=mode).order_by("pk")
        if options["token_file"]:
            return _stored_account(study, accounts.filter(label=label).first(), place, mode, label, options)
        if options["account"]:
            accounts = accounts.filter(label=options["account"])
        rows = list(accounts)
        if len(rows) == 1:
            return rows[0]
        where = Publication.Place(place).label + ("" if mode == Mode.LIVE else ", sandbox")
        if rows:
            labels = ", ".join(account.label for account in rows)
            raise BadInput(f"the study has several accounts ({where}).", remedy=f"Add --account: {labels}.")
        raise BadInput(
            f"the study {study.slug} has no such account ({where}).",
            remedy="Connect one on the page of the release, or add --token-file FILE.",
        )

    def _show(self, shown: Preview, options: dict[str, Any]) -> None:
        visibility = "public" if options["public"] else "draft"
        if options["json"]:
            self.print_json({"to": options["to"], "visibility": visibility, "sent": False, **shown.as_dict()})
            return
        for name, size in shown.files:
            self.stdout.write(f"{size:>12,}  {name}")
        self.stdout.write(f"{shown.n_bytes:>12,}  bytes in {plural(len(shown.files), 'file', 'files')}")
        self.stdout.write(f"title        {shown.title}")
        self.stdout.write(f"authors      {'; '.join(shown.creators)}")
        self.stdout.write(f"licence      {shown.licence or 'none stated'}")
        self.stdout.write(f"visibility   {visibility}")
        for note in shown.notes:
            self.stdout.write(f"note         {note}")
        self.stdout.write("nothing was sent (--dry-run)")

    def _report(self, publication: Publication, options: dict[str, Any]) -> None:
        if options["json"]:
            self.print_json(
                {
                    "release": str(publication.release),
                    "to": options["to"],
                    "mode": publication.mode,
                    "visibility": "public" if publication.is_open else "draft",
                    "sent": True,
                    "address": publication.address,
                    "doi": publication.doi,
                    "concept_doi": "",
                    **publication.facts,
                }
            )
            return
        n_files = plural(publication.facts["files"], "file", "files")
        doi = f", DOI {publication.doi}" if publication.doi else ""
        if concept := publication.facts.get("concept_doi"):
            doi += f" (all versions: {concept})"
        visibility = "public" if publication.is_open else "a draft"
        self.stdout.write(f"{publication.address}{doi}: {visibility}, {n_files}, checksums verified")

    def _write(self, release: Release, target: str, options: dict[str, Any]) -> None:
        """Write the release to a folder; one that holds the same release stays as it is."""
        if not target:
            raise BadInput("the folder has no path.", remedy="Write --to folder:PATH.")
        sums = {str(file["path"]): str(file["sha256"]) for file in release.manifest["files"]}
        sums[MANIFEST] = release.sha256
        files = {name: read(release.storage_key, name) for name in sorted(sums)}
        if options["dry_run"]:
            licence, description = describe(release).licence, describe(release)
            sizes = [(name, len(content)) for name, content in files.items()]
            title = licence.title if licence else ""
            self._show(Preview(sizes, title, description.creators, description.title, []), options)
            return
        changed = [name for name, content in files.items() if checksum(content) != sums[name]]
        if changed:
            raise BadInput("was changed in the storage of releases since it was frozen.", file=changed[0])
        is_new = write_folder(Path(target), files)
        if options["json"]:
            self.print_json(
                {"release": str(release), "to": options["to"], "sent": is_new, "files": len(files)}
            )
            return
        outcome = "wrote" if is_new else "the same release is already there:"
        self.stdout.write(f"{outcome} {target} ({plural(len(files), 'file', 'files')})")


def _mode(place: str, options: dict[str, Any]) -> Mode:
    """The site itself or its sandbox; drafts on Hugging Face are private datasets of the account itself."""
    return Mode.LIVE if options["live"] or place == Publication.Place.HUGGINGFACE else Mode.TEST


def _release(name: str) -> Release:
    slug, _, number = name.partition("/")
    if number and not number.isdecimal():
        raise BadInput(f"{name!r} is not a release.", remedy="Write STUDY/NUMBER, such as demo/1.")
    study = find_experiment(slug)
    ready = Release.objects.filter(experiment=study, state=Release.State.READY).order_by("-number")
    release = (ready.filter(number=int(number)) if number else ready).first()
    if release is None:
        which = f"release {number}" if number else "release"
        raise BadInput(f"{slug} has no {which} that is ready.", remedy="Build one on the page Releases.")
    return release


def _stored_account(
    study: Experiment,
    account: PlatformAccount | None,
    place: str,
    mode: Mode,
    label: str,
    options: dict[str, Any],
) -> PlatformAccount:
    """The account with the token of the file, which belongs to the owner of the study."""
    file = options["token_file"]
    try:
        text = sys.stdin.readline() if file == "-" else Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput("the token cannot be read.", file=file, remedy="Name a text file.") from error
    owner = study.owner
    if owner is None:
        raise BadInput(f"the study {study.slug} has no owner to whom the token would belong.")
    secrets = {"token": text.strip()}
    if account is None:
        return add_account(study, platform=place, label=label, secrets=secrets, by=owner, mode=mode)
    replace_secrets(account, secrets, study=study, by=owner)
    return account
