"""``manage.py multiverse``: one effect under every combination of exclusion, transformation and model."""

from typing import Any

from analysis.command_line.output import select_options
from analysis.command_line.study.exclusions import MultiverseText
from experiments.models import Experiment
from releases.management.report_command import ReportCommand


class Command(MultiverseText, ReportCommand):
    """``multiverse EXPERIMENT``."""

    example = "manage.py multiverse ssa2013 --exclude current --transform z --model mixed-slopes --json"

    def compute(self, study: Experiment, options: dict[str, Any]) -> dict[str, Any]:
        """The report as one JSON document."""
        from releases.reports.compute import compute_multiverse

        names = ("exclude", "by", "contrast", "effect", "transform", "model")
        return compute_multiverse(study, **select_options(options, *names))
