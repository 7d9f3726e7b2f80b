"""``manage.py export_batch``: write a study of forced choices in the form of MTurk's batch results."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from analysis.errors import BadInput
from config.commands import ContractCommand
from experiments.studies.creation import find_experiment
from judgments.frames.mturk_batch import batch_csv


class Command(ContractCommand):
    """Write the file, under pseudonyms; ids of workers are in the payment export of the pages only."""

    help = "Write a study of forced choices as batch results of MTurk, which import_judgments reads again."
    example = "manage.py export_batch blimp --to blimp_batch_results.csv"

    def add_options(self, parser: ArgumentParser) -> None:
        """The study and the file."""
        parser.add_argument("experiment", help="the study's short name")
        parser.add_argument(
            "--to", required=True, type=Path, metavar="FILE", help="a CSV file that does not exist yet"
        )

    def run(self, **options: Any) -> None:
        """Write the whole file or nothing."""
        experiment, path = find_experiment(options["experiment"]), options["to"]
        lines = batch_csv(experiment)
        partial = path.with_name(f"{path.name}.partial")
        n_sessions = -1  # without the header
        try:
            if path.exists():
                raise BadInput(f"{path} exists already.", remedy="Choose another name, or delete it.")
            with partial.open("w", encoding="utf-8", newline="") as file:
                for line in lines:
                    file.write(line)
                    n_sessions += 1
            partial.rename(path)
        except OSError as error:
            raise BadInput(f"{path} cannot be written: {error.strerror}.") from None
        finally:
            partial.unlink(missing_ok=True)
        if options["json"]:
            self.print_json({"experiment": experiment.slug, "file": str(path), "sessions": n_sessions})
        else:
            self.stdout.write(f"wrote {path} ({n_sessions} sessions)")
