"""``manage.py import_materials``: files of sentences or minimal pairs become a material set."""

from pathlib import Path
from typing import Any

from django.contrib.auth import get_user_model
from rich.console import Console
from rich.progress import Progress as Bar

from analysis.errors import UnknownName
from config.commands import ContractCommand
from experiments.intake import About, Stored, described, refuse_errors, store_materials
from experiments.materials.checks import check
from experiments.materials.detect import FORMATS, read_materials
from experiments.materials.report import Report
from experiments.materials.schema import parse_mapping

SHOWN = 5


class Command(ContractCommand):
    """Store a material set and report duplicates, holes, identical members and stray Unicode."""

    help = "Store sentences and minimal pairs from files; report duplicates, holes and identical members."
    example = "manage.py import_materials data/*.jsonl --name BLiMP --language en"

    def add_options(self, parser) -> None:
        """Files, a name, and how to read them."""
        parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="a file or a folder")
        parser.add_argument("--name", required=True, help="name of the material set")
        parser.add_argument("--format", default="auto", metavar="FORMAT", help=" | ".join(FORMATS))
        parser.add_argument("--language", default="en", help="BCP 47 tag, for example en or zh-Hans")
        parser.add_argument("--source", default="", help="where the materials were published")
        parser.add_argument("--licence", default="", help="under which licence")
        parser.add_argument(
            "--map", action="append", default=[], metavar="OURS=THEIRS", help="our column = the file's column"
        )
        parser.add_argument("--encoding", default="", help="taken instead of the detected encoding")
        parser.add_argument("--owner", default="", metavar="USER", help="user to whom the set belongs")
        parser.add_argument("--dry-run", action="store_true", help="read and check, store nothing")

    def run(self, **options: Any) -> None:
        """Read, check, store, tell."""
        about = About(options["name"], options["language"], options["source"], options["licence"])
        owner = _user(options["owner"])
        materials = read_materials(
            options["paths"],
            format=options["format"],
            mapping=parse_mapping(options["map"]),
            encoding=options["encoding"],
        )
        report = check(materials)
        refuse_errors(report)
        stored = None
        if not options["dry_run"]:
            with Bar(console=Console(stderr=True), disable=not self.wants_progress(options)) as bar:
                task = bar.add_task("storing", total=None)
                stored = store_materials(
                    materials,
                    about,
                    owner=owner,
                    report=report,
                    progress=lambda done, total: bar.update(task, completed=done, total=total),
                )
        told = described(materials, report)
        if options["json"]:
            self.print_json({**_outcome(about, stored), "checksum": materials.checksum, **told})
        else:
            self._tell(about, stored, told, report)

    def _tell(self, about: About, stored: Stored | None, told: dict[str, Any], report: Report) -> None:
        """Say in words what was read, found and stored."""
        for source in told["sources"]:
            notes = "".join(f"; {note}" for note in source["notes"])
            self.stdout.write(f"{source['file']}: {source['rows']:,} rows, {source['description']}{notes}")
        counts = told["counts"]
        discarded = (
            f" ({counts['pairs_discarded']} marked for discarding)" if counts["pairs_discarded"] else ""
        )
        self.stdout.write(
            f"Form {told['format']}: {counts['sentences']:,} sentences, {counts['items']:,} items, "
            f"{counts['pairs']:,} pairs{discarded}, {counts['paradigms']} paradigms, "
            f"{counts['phenomena']} phenomena."
        )
        self._tell_findings(report)
        if stored is None:
            self.stdout.write("Dry run: nothing stored.")
        elif stored.created:
            self.stdout.write(f"Stored as {about.name!r}.")
        else:
            self.stdout.write(f"{about.name!r} holds exactly this already: nothing stored.")

    def _tell_findings(self, report: Report) -> None:
        for code, number in report.counts.items():
            same = [finding for finding in report.findings if finding.code == code]
            self.stdout.write(f"{same[0].severity} {code}: {number}")
            for finding in same[:SHOWN]:
                place = f"{finding.file}, row {finding.row}: " if finding.row else ""
                self.stdout.write(f"    {place}{finding.message}")
            if number > SHOWN:
                self.stdout.write(f"    … and {number - SHOWN} more")


def _user(name: str):
    if not name:
        return None
    users = get_user_model().objects
    found = users.filter(username=name).first()
    if found is None:
        raise UnknownName("user", name, list(users.values_list("username", flat=True)[:1000]))
    return found


def _outcome(about: About, stored: Stored | None) -> dict[str, Any]:
    return {
        "material_set": about.name,
        "slug": stored.material_set.slug if stored else None,
        "language": about.language,
        "created": bool(stored and stored.created),
        "dry_run": stored is None,
    }
