"""``manage.py ratings``: item means of ratings, standardized within participants."""

from typing import Any

from analysis.command_line.output import select_options
from analysis.command_line.study.ratings import RatingsText
from experiments.models import Experiment
from releases.management.report_command import ReportCommand


class Command(RatingsText, ReportCommand):
    """``ratings EXPERIMENT``."""

    example = "manage.py ratings ssa2013 --transform z --ddof 1 --json"

    def compute(self, study: Experiment, options: dict[str, Any]) -> dict[str, Any]:
        """The report as one JSON document."""
        from releases.reports.compute import compute_ratings

        return compute_ratings(study, **select_options(options, "exclude", "transform", "ddof", "zeros"))
