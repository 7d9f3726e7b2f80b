"""``manage.py times``: response times by condition, ratios, and what the outlier rule leaves out."""

from typing import Any

from analysis.command_line.output import select_options
from analysis.command_line.study.ratings import TimesText
from experiments.models import Experiment
from releases.management.report_command import ReportCommand


class Command(TimesText, ReportCommand):
    """``times EXPERIMENT``."""

    example = "manage.py times ssa2013 --outliers 200-10000,2.5sd --json"

    def compute(self, study: Experiment, options: dict[str, Any]) -> dict[str, Any]:
        """The report as one JSON document."""
        from releases.reports.compute import compute_times

        return compute_times(study, **select_options(options, "exclude", "by", "outliers"))
