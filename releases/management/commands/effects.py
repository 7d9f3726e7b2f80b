"""``manage.py effects``: five analyses of every contrast, and the interactions of factorial designs."""

from typing import Any

from analysis.command_line.output import select_options
from analysis.command_line.study.effects import EffectsText
from experiments.models import Experiment
from releases.management.report_command import ReportCommand


class Command(EffectsText, ReportCommand):
    """``effects EXPERIMENT``."""

    example = "manage.py effects ssa2013 --by phenomenon --transform z --json"

    def compute(self, study: Experiment, options: dict[str, Any]) -> dict[str, Any]:
        """The report as one JSON document."""
        from releases.reports.compute import compute_effects, fit_ordinal_models

        if options["ordinal"] or options["bayesian"]:
            return fit_ordinal_models(study, **select_options(options, "exclude", "by", "slopes", "bayesian"))
        names = ("exclude", "by", "transform", "zeros", "slopes", "population", "factorial", "conditions")
        return compute_effects(study, **select_options(options, *names, "correction", "sesoi"))
