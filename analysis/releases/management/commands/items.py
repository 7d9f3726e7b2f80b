"""Every judged item, and the models of annotators and of strength beside the majority."""

from typing import Any

from analysis.releases.reading import items_report
from config.commands import ContractCommand
from experiments.names import find_experiment


class Command(ContractCommand):
    """``items EXPERIMENT``."""

    help = "Counts of every item; one-coin Dawid-Skene, Bradley-Terry, d' and c where they may be estimated."
    example = "manage.py items blimp-validation --exclude rejected --json"

    def add_options(self, parser) -> None:
        """The study and the plan."""
        parser.add_argument("experiment", help="slug or title of the study")
        parser.add_argument(
            "--exclude", default="", metavar="PLAN", help="a stored plan, or steps such as rejected,flagged"
        )

    def run(self, **options: Any) -> None:
        """Report on the study."""
        report = items_report(find_experiment(options["experiment"]), exclude=options["exclude"])
        if options["json"]:
            self.print_json(report)
        else:
            self._tell(report)

    def _tell(self, report: dict[str, Any]) -> None:
        for row in report["items"]:
            self.stdout.write(f"{row['item']:<48}{row['k']:>5} of {row['n']:<5} {row['majority']}")
        coin, strengths = report["one_coin"], report["bradley_terry"]
        contradicted = f"contradicts {len(coin['contradicted'])} of {coin['n_items']} majorities"
        self.stdout.write(f"one-coin Dawid-Skene: {coin['reason'] or contradicted}")
        groups = f"{len(strengths['groups'])} groups of sentences"
        self.stdout.write(f"Bradley-Terry: {strengths['reason'] or groups}")
        for row in report["detection"]["rows"]:
            own = f"mean of {row['n_participants']} participants' d' {row['d_prime_mean']}"
            told = f"d' {row['d_prime']}, c {row['criterion']} (pooled), {own}"
            self.stdout.write(f"{row['of']} {row['name']}: {told}")
