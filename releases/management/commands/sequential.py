"""``manage.py sequential``: the Bayes factor of every contrast after each participant."""

from typing import Any

from analysis.command_line.output import select_options
from analysis.command_line.study.sequential import SequentialText
from experiments.models import Experiment
from releases.management.report_command import ReportCommand


class Command(SequentialText, ReportCommand):
    """``sequential EXPERIMENT``."""

    example = "manage.py sequential ssa2013 --threshold 10 --least 20 --json"

    def compute(self, study: Experiment, options: dict[str, Any]) -> dict[str, Any]:
        """The report as one JSON document."""
        from releases.reports.compute import compute_sequential

        names = ("exclude", "by", "transform", "zeros", "threshold", "least", "largest")
        return compute_sequential(study, **select_options(options, *names))
