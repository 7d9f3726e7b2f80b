"""``manage.py data_protection``: the record of processing, or a study's impact assessment."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from analysis.errors import BadInput
from config.commands import ContractCommand
from experiments.models import Experiment
from judgments.privacy.assessment import assessment_document, record_document


class Command(ContractCommand):
    """Write the documents of data protection as Markdown."""

    help = (
        "Write the record of processing with its storage periods, or with a study its data-protection impact "
        "assessment, filled from the settings; what is left is marked [to fill in: …]."
    )
    example = "manage.py data_protection demo --to assessment.md"

    def add_options(self, parser: ArgumentParser) -> None:
        """Add the study and the file."""
        parser.add_argument("study", nargs="?", default="", metavar="STUDY", help="short name of a study")
        parser.add_argument("--to", default="", metavar="FILE", help="file to write; without it, stdout")

    def run(self, **options: Any) -> None:
        """Write the document."""
        study = Experiment.objects.filter(slug=options["study"]).first()
        if options["study"] and study is None:
            raise BadInput(f"there is no study {options['study']!r}.")
        text = assessment_document(study) if study else record_document()
        if options["json"]:
            self.print_json({"document": text})
        elif not options["to"]:
            self.stdout.write(text)
        elif Path(options["to"]).exists():
            raise BadInput(f"{options['to']} exists already.", remedy="Name another file.")
        else:
            Path(options["to"]).write_text(text, encoding="utf-8")
