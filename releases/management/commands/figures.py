"""``manage.py figures``: a study's figures as files."""

from argparse import ArgumentParser
from typing import Any

from analysis.command_line.figures import FigureFiles
from config.commands import ContractCommand
from experiments.studies.creation import find_experiment
from releases.management.report_command import EXCLUDE_HELP, named_exclusion


class Command(FigureFiles, ContractCommand):
    """Draw every applicable figure of a study."""

    help = "Write a study's figures as SVG, PNG, PDF and CSV (the data drawn)."
    example = "manage.py figures blimp --out figures --exclude rejected --format svg,csv"

    def add_options(self, parser: ArgumentParser) -> None:
        """The study, the plan, and the figures."""
        parser.add_argument("experiment", help="the study's short name")
        self.add_figure_options(parser)
        parser.add_argument("--exclude", default="", metavar="PLAN", help=EXCLUDE_HELP)

    def run(self, **options: Any) -> None:
        """Draw from the stored study, through the cache of its pages."""
        from releases.gold.plans import find_plan
        from releases.reports.study_figures import study_evidence, study_file

        study = find_experiment(options["experiment"])
        names, forms = self.checked_choices(options)
        exclude = named_exclusion(self, study, options["exclude"])
        find_plan(study, exclude)
        appearance = {"mode": options["theme"], "width": options["width"]}

        def content(name: str, form: str) -> bytes:
            choices = {"exclude": exclude}
            return study_file(study, name, form, choices=choices, may_wait=True, **appearance)

        evidence = study_evidence(study, exclude=exclude)
        self.write_figures(study.slug, evidence, options, names=names, forms=forms, content=content)
