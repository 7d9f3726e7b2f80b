"""``manage.py exclusions``: what a plan removes, from which groups, and how it changes the results."""

from typing import Any

from analysis.command_line.output import select_options
from analysis.command_line.study.exclusions import ExclusionsText
from experiments.models import Experiment
from releases.management.report_command import ReportCommand


class Command(ExclusionsText, ReportCommand):
    """``exclusions EXPERIMENT``."""

    example = "manage.py exclusions blimp-validation --exclude rejected,catch_failed --json"

    def compute(self, study: Experiment, options: dict[str, Any]) -> dict[str, Any]:
        """The report as one JSON document."""
        from releases.reports.compute import compute_exclusions

        return compute_exclusions(study, **select_options(options, "exclude", "transform", "zeros"))
