"""``manage.py reliability``: agreement between participants, and the ceilings it sets for models."""

from typing import Any

from analysis.command_line.output import select_options
from analysis.command_line.study.reliability import ReliabilityText
from experiments.models import Experiment
from releases.management.report_command import ReportCommand


class Command(ReliabilityText, ReportCommand):
    """``reliability EXPERIMENT``."""

    example = "manage.py reliability blimp-validation --exclude rejected --json"

    def compute(self, study: Experiment, options: dict[str, Any]) -> dict[str, Any]:
        """The report as one JSON document."""
        from releases.reports.compute import compute_reliability

        return compute_reliability(
            study, **select_options(options, "exclude", "transform", "zeros", "coding", "seed", "rule")
        )
