"""Base of the commands that print one report of a study."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from analysis.command_line.output import magnitudes_line
from config.commands import ContractCommand
from experiments.models import Experiment
from experiments.studies.creation import find_experiment

EXCLUDE_HELP = (
    "a stored plan, steps such as rejected,flagged, or current: the study's current plan, "
    "which its pages use; by default nothing is excluded"
)


def named_exclusion(command: BaseCommand, study: Experiment, exclude: str) -> str:
    """The value of ``--exclude``, ``current`` as the plan it is; without one, a hint at the current plan.

    The hint is on stderr: stdout may be one JSON document.
    """
    from releases.gold.plans import CURRENT, current_exclusion, find_plan_row

    current = current_exclusion(study)
    if not exclude.strip() and current:
        command.stderr.write(
            f"nothing is excluded; the study's pages exclude by its current plan {current}: "
            "give --exclude current for the same, or --exclude none to say that nothing is"
        )
    row = find_plan_row(study, exclude)
    return current if exclude.strip() == CURRENT and row is not None else exclude


class ReportCommand(ContractCommand):
    """``NAME EXPERIMENT [--exclude PLAN] [--json]``; a subclass computes the report and prints it as text."""

    def add_options(self, parser: ArgumentParser) -> None:
        """The study and the exclusion plan, then the options of the report."""
        parser.add_argument("experiment", help="slug or title of the study")
        parser.add_argument("--exclude", default="", metavar="PLAN", help=EXCLUDE_HELP)
        self.add_report_options(parser)

    def add_report_options(self, parser: ArgumentParser) -> None:
        """Options beside the study and the plan."""

    def run(self, **options: Any) -> None:
        """Compute the report, and print it as JSON or as text."""
        study = find_experiment(options["experiment"])
        exclude = named_exclusion(self, study, options["exclude"])
        report = self.compute(study, {**options, "exclude": exclude})
        if options["json"]:
            self.print_json(report)
        else:
            self.print_text(report)
            if report.get("magnitudes"):
                self.stdout.write(magnitudes_line(report["magnitudes"]))

    def compute(self, study: Experiment, options: dict[str, Any]) -> dict[str, Any]:
        """The report as one JSON document."""
        raise NotImplementedError

    def print_text(self, report: dict[str, Any]) -> None:
        """Print the report for a terminal."""
        raise NotImplementedError
