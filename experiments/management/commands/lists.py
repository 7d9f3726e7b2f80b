"""``manage.py lists``: the lists that a study's design makes, with the proof that they are balanced."""

from typing import Any

from config.commands import ContractCommand
from experiments.design_proof import design_document, proofs
from experiments.names import find_experiment


class Command(ContractCommand):
    """Show the lists of a study's design before it opens."""

    help = "Make the lists of a study's design and prove their balance, round by round; stores nothing."
    example = "manage.py lists demo --json"

    def add_options(self, parser) -> None:
        """The study."""
        parser.add_argument("experiment", metavar="EXPERIMENT", help="the study's short name")

    def run(self, **options: Any) -> None:
        """Make the lists, tell what they keep."""
        study = find_experiment(options["experiment"])
        if options["json"]:
            self.print_json(design_document(study))
            return
        for one in proofs(study):
            sizes = sorted({len(trials) for trials in one.lists.values()})
            length = " or ".join(str(size) for size in sizes)
            self.stdout.write(f"Round {one.round.number}: {len(one.lists)} lists of {length} trials")
            for claim in one.claims:
                verdict = "holds" if claim.holds else "DOES NOT HOLD"
                self.stdout.write(f"  {verdict}: {claim.text} ({claim.numbers})")
