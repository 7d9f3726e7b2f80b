"""``manage.py progress``: agreement and inclusion of a running study, with intervals valid at every look."""

from argparse import ArgumentParser
from typing import Any

from analysis.choices import MAX_MORE, MORE, PROGRESS_RULE
from analysis.command_line.output import select_options
from analysis.errors import BadInput
from analysis.report.wording import share
from analysis.text import plural
from experiments.models import Experiment
from releases.management.report_command import ReportCommand


class Command(ReportCommand):
    """``progress EXPERIMENT``."""

    help = "Agreement and inclusion so far, valid however often one looks, and which decisions are open."
    example = "manage.py progress demo-pairs --rule blimp --more 5 --json"

    def add_report_options(self, parser: ArgumentParser) -> None:
        """Rule, number of further judgments and round."""
        parser.add_argument("--rule", default=PROGRESS_RULE, help="blimp, climp, M/N or a share")
        parser.add_argument(
            "--more", type=int, default=MORE, help="further judgments of every item to look ahead"
        )
        parser.add_argument("--round", type=int, metavar="N", help="the judgments of this round only")

    def compute(self, study: Experiment, options: dict[str, Any]) -> dict[str, Any]:
        """The report as one JSON document; the look is recorded."""
        from releases.reports.progress import COMMAND, viewed_progress

        if not 1 <= options["more"] <= MAX_MORE:
            raise BadInput(f"--more {options['more']} is out of range.", remedy=f"Give 1 to {MAX_MORE}.")
        choices = select_options(options, "exclude", "rule", "more") | {"round_number": options["round"]}
        return viewed_progress(study, user=None, where=COMMAND, **choices)

    def print_text(self, report: dict[str, Any]) -> None:
        """Print the report for a terminal."""
        interim, overall = report["looks"], report["overall"]
        self.stdout.write(
            f"{plural(overall['judgments'], 'judgment')} from "
            f"{plural(report['participants'], 'participant')}, {report['participants_at_it']} active now; "
            f"viewed {plural(interim['n'], 'time')}"
        )
        self.stdout.write(f"{'paradigm':<56}{'right':>9}{'mean':>9}{'95 % at all looks':>19}{'change':>9}")
        for row in report["paradigms"]:
            right = f"{row['items_right']}/{row['items']}"
            interval = f"[{share(row['low'])}, {share(row['high'])}]"
            chance = share(row["p_change"])
            name = row["paradigm"] or "–"
            self.stdout.write(
                f"{name:<56}{right:>9}{share(row['mean']):>9}{interval:>19}{chance:>9}  {row['status']}"
            )
        self.stdout.write(
            f"{overall['included']} of {overall['paradigms']} included by {report['rule']}; with "
            f"{report['more']} more judgments of every item {overall['open']} of these decisions may change, "
            f"and the majority of {report['items_open']} items"
        )
