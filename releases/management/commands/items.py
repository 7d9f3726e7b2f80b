"""``manage.py items``: counts of every judged item, with models of annotators and of strength."""

from typing import Any

from experiments.models import Experiment
from releases.management.report_command import ReportCommand
from releases.reports.report_cache import items_report


class Command(ReportCommand):
    """``items EXPERIMENT``."""

    help = "Counts of every item; one-coin Dawid-Skene, Bradley-Terry, d' and c where they may be estimated."
    example = "manage.py items blimp-validation --exclude rejected --json"

    def compute(self, study: Experiment, options: dict[str, Any]) -> dict[str, Any]:
        """The report as one JSON document."""
        return items_report(study, exclude=options["exclude"])

    def print_text(self, report: dict[str, Any]) -> None:
        """Print the report for a terminal."""
        for row in report["items"]:
            self.stdout.write(f"{row['item']:<48}{row['k']:>5} of {row['n']:<5} {row['majority']}")
        coin, strengths = report["one_coin"], report["bradley_terry"]
        contradicted = f"contradicts {len(coin['contradicted'])} of {coin['n_items']} majorities"
        self.stdout.write(f"one-coin Dawid-Skene: {coin['reason'] or contradicted}")
        groups = f"{len(strengths['groups'])} groups of sentences"
        self.stdout.write(f"Bradley-Terry: {strengths['reason'] or groups}")
        for row in report["detection"]["rows"]:
            mean = f"mean of {row['n_participants']} participants' d' {row['d_prime_mean']}"
            pooled = f"d' {row['d_prime']}, c {row['criterion']} (pooled)"
            self.stdout.write(f"{row['of']} {row['name']}: {pooled}, {mean}")
