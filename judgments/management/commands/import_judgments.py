"""Store judgments made elsewhere."""

from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress

from config.commands import ContractCommand
from experiments.names import find_materials, find_user
from judgments.intake import Prepared, file_sha256, prepare, store
from judgments.sources import FORMATS, SourceOptions, read_judgments
from judgments.sources.read import parse_judgment_mapping


class Command(ContractCommand):
    """``import_judgments PATH --experiment NAME --format …``."""

    help = "Store judgments made elsewhere as sessions, trials and judgments of a study."
    example = (
        "manage.py import_judgments batch_results.csv --experiment 'BLiMP validation' --format mturk-batch"
    )

    def add_options(self, parser) -> None:
        """The file, the study, and how to read it."""
        parser.add_argument("path", type=Path, help="file of judgments")
        parser.add_argument(
            "--experiment", required=True, metavar="NAME", help="study, made if there is none"
        )
        parser.add_argument(
            "--materials", default="", metavar="NAME", help="stored set; without it the file's own sentences"
        )
        parser.add_argument("--format", required=True, choices=FORMATS)
        parser.add_argument(
            "--map",
            action="append",
            default=[],
            metavar="OUR=THEIRS",
            help="our column=their column, as often as needed; join theirs with +",
        )
        parser.add_argument("--task", default="", help="task of the file; without it detected and named")
        parser.add_argument("--scale-low", type=float, help="lowest point of the scale")
        parser.add_argument("--scale-high", type=float, help="highest point of the scale")
        parser.add_argument(
            "--encoding", default="", help="encoding of the file; without it detected and named"
        )
        parser.add_argument("--owner", default="", metavar="USER", help="who owns a study made here")
        parser.add_argument(
            "--dry-run", action="store_true", help="show what would come in and store nothing"
        )

    def run(self, **options: Any) -> None:
        """Read, join to materials, store."""
        source = SourceOptions(
            mapping=parse_judgment_mapping(options["map"]),
            task=options["task"],
            scale_low=options["scale_low"],
            scale_high=options["scale_high"],
            encoding=options["encoding"],
        )
        read = read_judgments(options["path"], options["format"], options=source)
        prepared = prepare(
            read,
            sha256=file_sha256(options["path"]),
            experiment=options["experiment"],
            materials=find_materials(options["materials"]) if options["materials"] else None,
        )
        report = prepared.describe() if options["dry_run"] else self._store(prepared, options)
        report["dry_run"] = options["dry_run"]
        if options["json"]:
            self.print_json(report)
        else:
            self._tell(report)

    def _store(self, prepared: Prepared, options: dict[str, Any]) -> dict[str, Any]:
        if not self.wants_progress(options):
            return store(prepared, user=find_user(options["owner"])).report
        with Progress(console=Console(stderr=True)) as bar:
            line = bar.add_task("judgments", total=None)
            return store(
                prepared,
                user=find_user(options["owner"]),
                progress=lambda done, total: bar.update(line, completed=done, total=total),
            ).report

    def _tell(self, report: dict[str, Any]) -> None:
        kinds = ", ".join(f"{n} {kind}" for kind, n in report["by_kind"].items())
        self.stdout.write(f"{report['file']} ({report['encoding']})")
        self.stdout.write(
            f"{report['participants']} participants, {report['sessions']} sessions, "
            f"{report['judgments']} judgments ({kinds}; {report['missing']} missing)"
        )
        for word in ("notes", "warnings"):
            for line in report[word]:
                self.stdout.write(f"{word[:-1]}: {line}")
        for ours, theirs in report["columns"].items():
            self.stdout.write(f"  {ours} = {theirs}")
        if report["dry_run"]:
            new, here = report["sessions_new"], report["sessions_already_here"]
            self.stdout.write(f"{new} sessions would come in ({here} are already here); nothing was stored.")
        else:
            added = report["added"]
            self.stdout.write(
                f"Added to {report['experiment']}: {added['participants']} participants, "
                f"{added['sessions']} sessions, {added['judgments']} judgments."
            )
