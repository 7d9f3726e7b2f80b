"""``manage.py groups``: effects and items by group of participants."""

from typing import Any

from analysis.command_line.output import select_options
from analysis.command_line.study.groups import GroupsText
from experiments.models import Experiment
from releases.management.report_command import ReportCommand


class Command(GroupsText, ReportCommand):
    """``groups EXPERIMENT``."""

    example = "manage.py groups ssa2013 --group dialect --reference north --json"

    def compute(self, study: Experiment, options: dict[str, Any]) -> dict[str, Any]:
        """The report as one JSON document."""
        from releases.reports.compute import compute_groups

        names = ("exclude", "group", "reference", "cuts", "by", "transform", "zeros", "correction")
        return compute_groups(study, **select_options(options, *names))
