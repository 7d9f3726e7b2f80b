"""``manage.py export_template``: write a study as a template."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from analysis.errors import BadInput
from config.commands import ContractCommand
from experiments.studies.creation import find_experiment
from releases.study_templates.document import SUFFIX
from releases.study_templates.export import build_template


class Command(ContractCommand):
    """``export_template STUDY``."""

    help = "Write a study as a template that anybody can import: its plan, without people, pay and codes."
    example = "manage.py export_template blimp --to blimp.obelus.yaml"

    def add_options(self, parser: ArgumentParser) -> None:
        """The study and the file."""
        parser.add_argument("experiment", help="the study's short name")
        parser.add_argument("--to", metavar="FILE", help=f"default: STUDY{SUFFIX} in this folder")
        parser.add_argument("--without-materials", action="store_true", help="name the materials only")

    def run(self, **options: Any) -> None:
        """Write the file; another file of that name is kept."""
        study = find_experiment(options["experiment"])
        path = Path(options["to"] or f"{study.slug}{SUFFIX}")
        text = build_template(study, with_materials=not options["without_materials"])
        if path.exists() and path.read_bytes() != text.encode():
            raise BadInput(
                "exists with other content.", file=str(path), remedy="Name another file with --to."
            )
        try:
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise BadInput(
                f"cannot be written: {error.strerror}.", file=str(path), remedy="Name another file with --to."
            ) from error
        document = {"study": study.slug, "file": str(path), "bytes": len(text.encode())}
        if options["json"]:
            self.print_json(document)
        else:
            self.stdout.write(f"{path}: {document['bytes']:,} bytes.")
