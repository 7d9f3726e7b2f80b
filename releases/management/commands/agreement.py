"""``manage.py agreement``: agreement with the expected labels, and inclusion of paradigms by a rule."""

from typing import Any

from analysis.command_line.output import select_options
from analysis.command_line.study.agreement import AgreementText
from experiments.models import Experiment
from releases.management.report_command import ReportCommand


class Command(AgreementText, ReportCommand):
    """``agreement EXPERIMENT``."""

    example = "manage.py agreement blimp-validation --exclude rejected --rule blimp --json"

    def compute(self, study: Experiment, options: dict[str, Any]) -> dict[str, Any]:
        """The report as one JSON document."""
        from releases.reports.compute import compute_agreement

        names = ("exclude", "rule", "ties", "seed", "round_number", "interval", "cross_fit")
        return compute_agreement(study, **select_options(options, *names))
