"""``manage.py statistic``: a statistic of a plugin."""

from argparse import ArgumentParser
from typing import Any

from experiments.models import Experiment
from releases.management.report_command import ReportCommand


class Command(ReportCommand):
    """``statistic EXPERIMENT NAME``."""

    help = "Print a statistic that a plugin adds; manage.py plugins lists them."
    example = "manage.py statistic ssa2013 mean_by_item --exclude current --json"

    def add_report_options(self, parser: ArgumentParser) -> None:
        """The name of the statistic."""
        parser.add_argument("name", help="statistic of a plugin")

    def compute(self, study: Experiment, options: dict[str, Any]) -> dict[str, Any]:
        """The table as one JSON document."""
        from releases.reports.compute import compute_statistic

        return compute_statistic(study, statistic=options["name"], exclude=options["exclude"])

    def print_text(self, report: dict[str, Any]) -> None:
        """Print the table, tab-separated."""
        for row in (report["columns"], *report["rows"]):
            self.stdout.write("\t".join("" if value is None else str(value) for value in row))
