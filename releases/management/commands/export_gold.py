"""``manage.py export_gold``: write a gold release to a folder."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from analysis.gold.formats.registry import FORMATS
from config.commands import ContractCommand
from experiments.studies.creation import find_experiment
from releases.gold.build import build_release
from releases.gold.options import Options
from releases.gold.storage import checksum, write_folder
from releases.management.report_command import EXCLUDE_HELP, named_exclusion


class Command(ContractCommand):
    """Write the release; an existing folder must hold the same release."""

    help = "Write a gold release of a study: pairs, sentences, judgments, codebook, card, checksums."
    example = "manage.py export_gold blimp --to releases/blimp-1 --exclude rejected --rule blimp"

    def add_options(self, parser: ArgumentParser) -> None:
        """The study, the folder, and the options of the release."""
        parser.add_argument("experiment", help="the study's short name")
        parser.add_argument(
            "--to", required=True, type=Path, metavar="DIR", help="a folder that does not exist yet"
        )
        parser.add_argument("--exclude", default="", metavar="PLAN", help=EXCLUDE_HELP)
        parser.add_argument("--rule", default="", help="blimp, climp, M/N or a share")
        parser.add_argument("--ties", default="strict", help="strict, half or drop")
        parser.add_argument(
            "--formats",
            action="extend",
            nargs="+",
            default=[],
            choices=list(FORMATS),
            help="formats of other tools in which the release is written, too",
        )
        parser.add_argument("--seed", default=0, type=int, help="of the bootstrap")

    def run(self, **options: Any) -> None:
        """Build everything in memory, then write the whole folder or nothing."""
        experiment = find_experiment(options["experiment"])
        options["exclude"] = named_exclusion(self, experiment, options["exclude"])
        release_options = {name: options[name] for name in ("exclude", "rule", "ties", "seed")}
        release_options["formats"] = ",".join(options["formats"])
        built = build_release(experiment, Options(**release_options))
        is_new = write_folder(options["to"], built.files)
        if options["json"]:
            self.print_json(
                {
                    "experiment": experiment.slug,
                    "folder": str(options["to"]),
                    "written": is_new,
                    "manifest_sha256": built.sha256,
                    "files": {name: checksum(content) for name, content in sorted(built.files.items())},
                }
            )
            return
        outcome = "wrote" if is_new else "the same release is already there:"
        self.stdout.write(f"{outcome} {options['to']} ({len(built.files)} files, manifest {built.sha256})")
