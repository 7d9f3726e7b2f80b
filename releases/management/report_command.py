"""Base of the commands that print one report of a study."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from analysis.magnitudes import ZEROS
from analysis.multiple_tests import CORRECTIONS
from analysis.text import plural
from config.commands import ContractCommand
from experiments.models import Experiment
from experiments.studies.creation import find_experiment
from releases.gold.current_plan import current_exclusion
from releases.gold.plans import CURRENT, find_plan_row

EXCLUDE_HELP = (
    "a stored plan, steps such as rejected,flagged, or current: the study's current plan, "
    "which its pages use; by default nothing is excluded"
)


OUTLIERS_HELP = (
    "response times that are left out: limits in ms, a spread of log times by participant, or both, such as "
    "200-10000, 2.5sd or 200-10000,3mad; by default none"
)


def named_exclusion(command: BaseCommand, study: Experiment, exclude: str) -> str:
    """The value of ``--exclude``, ``current`` as the plan it is; without one, a hint at the current plan.

    The hint is on stderr: stdout may be one JSON document.
    """
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


def selected(options: dict[str, Any], *names: str) -> dict[str, Any]:
    """The named options."""
    return {name: options[name] for name in names}


def add_correction(parser: ArgumentParser) -> None:
    """Add the choice of the correction for several tests."""
    parser.add_argument(
        "--correction",
        choices=CORRECTIONS,
        default="holm",
        help="for several tests: holm, or bh (Benjamini-Hochberg); the JSON has both",
    )


def add_sesoi(parser: ArgumentParser) -> None:
    """Add the smallest effect of interest."""
    parser.add_argument(
        "--sesoi",
        type=float,
        metavar="EFFECT",
        help="smallest effect of interest, for a test of equivalence of every contrast: a difference of "
        "ratings on the transform's scale or of shares of yes, or of the share of choices from one half",
    )


def add_zeros(parser: ArgumentParser) -> None:
    """Add the choice about magnitude estimates of zero."""
    parser.add_argument(
        "--zeros",
        choices=ZEROS,
        default="keep",
        help="magnitude estimates of zero in raw numbers and z; logarithms never have them",
    )


def magnitudes_line(magnitudes: dict[str, Any]) -> str:
    """Say how many magnitude estimates are zero or negative, and what became of them."""
    return (
        f"{plural(magnitudes['zeros'], 'estimate')} of zero by "
        f"{plural(magnitudes['zero_participants'], 'participant')}: {magnitudes['zeros_are']}; "
        f"{magnitudes['negative']} negative: left out"
    )
