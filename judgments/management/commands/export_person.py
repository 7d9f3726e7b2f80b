"""``manage.py export_person``: everything stored of one person."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder

from analysis.errors import BadInput
from config.commands import ContractCommand
from judgments.privacy.person import FORMAT, export_person, participants_named


class Command(ContractCommand):
    """Export one person's data, to be handed to that person."""

    help = (
        "Write everything stored of one person as JSON: answers, what was shown, consent, questionnaire, "
        "pay, platform id. The history of each study records the export."
    )
    example = "manage.py export_person 5f0c1d2e3a4b5c6d7e8f9012 --to person.json"

    def add_options(self, parser: ArgumentParser) -> None:
        """Add the person, the study and the file."""
        parser.add_argument("participant", metavar="PARTICIPANT", help="platform id or pseudonym")
        parser.add_argument("--study", default="", metavar="STUDY", help="only in this study (short name)")
        parser.add_argument("--to", default="", metavar="FILE", help="file to write; without it, stdout")

    def run(self, **options: Any) -> None:
        """Write the document."""
        if options["to"] and Path(options["to"]).exists():
            raise BadInput(f"{options['to']} exists already.", remedy="Name another file.")
        people = participants_named(options["participant"], study=options["study"])
        document = {"format": FORMAT, "studies": [export_person(person) for person in people]}
        text = json.dumps(document, cls=DjangoJSONEncoder, ensure_ascii=False, indent=2)
        if options["to"]:
            Path(options["to"]).write_text(text + "\n", encoding="utf-8")
        else:
            self.stdout.write(text)
