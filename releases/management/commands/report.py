"""``manage.py report``: write the report of a study and its replication package."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from analysis.command_line.output import OUTLIERS_HELP, add_correction, add_sesoi
from config.commands import ContractCommand
from experiments.studies.creation import find_experiment
from releases.gold.options import ReportOptions
from releases.gold.storage import MANIFEST, write_folder
from releases.management.report_command import EXCLUDE_HELP, named_exclusion
from releases.study_report.build import build_report


class Command(ContractCommand):
    """Write the report; an existing folder must hold the same report."""

    help = (
        "Write a study's report (HTML, PDF, numbers) and a replication package that gives its numbers again."
    )
    example = "manage.py report blimp --out reports/blimp-1 --exclude rejected --rule blimp --pdf"

    def add_options(self, parser: ArgumentParser) -> None:
        """The study, the folder, and the options of the report."""
        parser.add_argument("experiment", help="slug or title of the study")
        parser.add_argument(
            "--out", required=True, type=Path, metavar="DIR", help="a folder that does not exist yet"
        )
        parser.add_argument(
            "--exclude",
            "--plan",
            dest="exclude",
            default="",
            metavar="PLAN",
            help=EXCLUDE_HELP,
        )
        parser.add_argument("--rule", default="", help="blimp, climp, M/N or a share")
        parser.add_argument("--ties", default="strict", help="strict, half or drop")
        parser.add_argument(
            "--round", type=int, dest="round_number", metavar="N", help="judgments of this round only"
        )
        parser.add_argument("--seed", default=0, type=int, help="of every random procedure")
        add_correction(parser)
        add_sesoi(parser)
        parser.add_argument("--outliers", default="", metavar="RULE", help=OUTLIERS_HELP)
        parser.add_argument("--multiverse", action="store_true", help="every specification, in the appendix")
        parser.add_argument("--pdf", action="store_true", help="the report on paper too")

    def run(self, **options: Any) -> None:
        """Build every file in memory, then write the whole folder or nothing."""
        study = find_experiment(options["experiment"])
        options["exclude"] = named_exclusion(self, study, options["exclude"])
        names = (
            "exclude",
            "rule",
            "ties",
            "seed",
            "round_number",
            "correction",
            "sesoi",
            "outliers",
            "multiverse",
        )
        report_options = ReportOptions(**{name: options[name] for name in names})
        progress = self._progress if self.wants_progress(options) else None
        report = build_report(study, report_options, has_pdf=options["pdf"], progress=progress)
        is_new = write_folder(options["out"], report.files)
        if options["json"]:
            files = sorted(set(report.files) - {MANIFEST})
            document = {"experiment": study.slug, "folder": str(options["out"]), "written": is_new}
            self.print_json(
                document | {"manifest_sha256": report.sha256, "files": files, "numbers": report.numbers}
            )
            return
        outcome = "wrote" if is_new else "the same report is already there:"
        self.stdout.write(f"{outcome} {options['out']} ({', '.join(sorted(report.files))})")

    def _progress(self, step: int, total: int, message: str) -> None:
        self.stderr.write(f"\r{step}/{total} {message:<40}", ending="" if step + 1 < total else "\n")
