"""``manage.py lists``: show the lists of a study's design and their balance."""

from argparse import ArgumentParser
from typing import Any

from config.commands import ContractCommand
from experiments.lists.balance_report import design_document, proofs
from experiments.studies.creation import find_experiment


class Command(ContractCommand):
    """Show the lists of a study's design before it opens."""

    help = "Make the lists of a study's design and prove their balance, round by round; stores nothing."
    example = "manage.py lists demo --json"

    def add_options(self, parser: ArgumentParser) -> None:
        """Add the options."""
        parser.add_argument("experiment", metavar="EXPERIMENT", help="the study's short name")

    def run(self, **options: Any) -> None:
        """Make the lists and print their balance."""
        study = find_experiment(options["experiment"])
        if options["json"]:
            self.print_json(design_document(study))
            return
        for proof in proofs(study):
            sizes = sorted({len(trials) for trials in proof.lists.values()})
            length = " or ".join(str(size) for size in sizes)
            self.stdout.write(f"Round {proof.round.number}: {len(proof.lists)} lists of {length} trials")
            for claim in proof.claims:
                verdict = "holds" if claim.holds else "DOES NOT HOLD"
                self.stdout.write(f"  {verdict}: {claim.text} ({claim.numbers})")
