"""``manage.py report``: the report of a study and its replication package, as files."""

from pathlib import Path
from typing import Any

from analysis.releases.options import Options
from analysis.releases.storage import MANIFEST, write_folder
from analysis.releases.study_report import make_report
from config.commands import ContractCommand
from experiments.names import find_experiment


class Command(ContractCommand):
    """Write the report; the same report again is fine, another one is refused."""

    help = (
        "Write a study's report (HTML, PDF, numbers) and a replication package that gives its numbers again."
    )
    example = "manage.py report blimp --out reports/blimp-1 --exclude rejected --rule blimp --pdf"

    def add_options(self, parser) -> None:
        """The study, the folder, and what shapes the numbers."""
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
            help="a stored plan's name or a comma list of built-in steps",
        )
        parser.add_argument("--rule", default="", help="blimp, climp, M/N or a share")
        parser.add_argument("--ties", default="strict", help="strict, half or drop")
        parser.add_argument(
            "--round", type=int, dest="round_number", metavar="N", help="judgments of this round only"
        )
        parser.add_argument("--seed", default=0, type=int, help="of every random procedure")
        parser.add_argument("--pdf", action="store_true", help="the report on paper too")

    def run(self, **options: Any) -> None:
        """Make everything in memory, then write the whole folder or nothing."""
        study = find_experiment(options["experiment"])
        shaping = Options(
            **{name: options[name] for name in ("exclude", "rule", "ties", "seed", "round_number")}
        )
        progress = self._progress if self.wants_progress(options) else None
        made = make_report(study, shaping, has_pdf=options["pdf"], progress=progress)
        is_new = write_folder(options["out"], made.files)
        if options["json"]:
            files = sorted(set(made.files) - {MANIFEST})
            told = {"experiment": study.slug, "folder": str(options["out"]), "written": is_new}
            self.print_json(told | {"manifest_sha256": made.sha256, "files": files, "numbers": made.numbers})
            return
        said = "wrote" if is_new else "the same report is already there:"
        self.stdout.write(f"{said} {options['out']} ({', '.join(sorted(made.files))})")

    def _progress(self, done: int, total: int, message: str) -> None:
        self.stderr.write(f"\r{done}/{total} {message:<40}", ending="" if done + 1 < total else "\n")
