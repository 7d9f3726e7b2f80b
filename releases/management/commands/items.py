"""``manage.py items``: counts of every judged item, with models of annotators and of strength."""

from typing import Any

from analysis.command_line.study.ratings import ItemsText
from experiments.models import Experiment
from releases.management.report_command import ReportCommand


class Command(ItemsText, ReportCommand):
    """``items EXPERIMENT``."""

    example = "manage.py items blimp-validation --exclude rejected --json"

    def compute(self, study: Experiment, options: dict[str, Any]) -> dict[str, Any]:
        """The report as one JSON document."""
        from releases.reports.report_cache import items_report

        return items_report(study, exclude=options["exclude"])
