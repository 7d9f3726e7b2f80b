"""``manage.py forget``: delete one person's answers and platform id."""

from argparse import ArgumentParser
from typing import Any

from analysis.text import plural
from config.commands import ContractCommand
from judgments.privacy.person import forget, participants_named


class Command(ContractCommand):
    """Delete a person's answers and platform id on request."""

    help = (
        "Delete the answers, questionnaire and platform id of one person. A platform id is looked up in all "
        "studies, a pseudonym in one. Consent with its time, states and pay remain, without content."
    )
    example = "manage.py forget 5f0c1d2e3a4b5c6d7e8f9012"

    def add_options(self, parser: ArgumentParser) -> None:
        """Add the person, the study and a way to look first."""
        parser.add_argument("participant", metavar="PARTICIPANT", help="platform id or pseudonym")
        parser.add_argument("--study", default="", metavar="STUDY", help="only in this study (short name)")
        parser.add_argument("--dry-run", action="store_true", help="print who it is and delete nothing")

    def run(self, **options: Any) -> None:
        """Delete, and report what was deleted in each study."""
        people = participants_named(options["participant"], study=options["study"])
        rows: list[dict[str, Any]] = [
            {
                "study": person.experiment.slug,
                "participant": person.pseudonym,
                "judgments": 0 if options["dry_run"] else forget(person),
            }
            for person in people
        ]
        if options["json"]:
            self.print_json({"dry_run": options["dry_run"], "participants": rows})
            return
        for row in rows:
            name = f"{row['participant']} of {row['study']}"
            deleted = f"deleted {plural(row['judgments'], 'judgment')} and the platform id"
            self.stdout.write(f"{name}: {'nothing deleted (dry run)' if options['dry_run'] else deleted}.")
