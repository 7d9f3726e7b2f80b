"""Agreement and inclusion of a running study, with intervals that hold at every look."""

from typing import Any

from analysis.agreement.outlook import MORE
from analysis.errors import BadInput
from analysis.releases.forms import MOST_MORE
from analysis.releases.looks import COMMAND
from analysis.releases.progress import RULE, seen_progress
from config.commands import ContractCommand
from experiments.names import find_experiment


class Command(ContractCommand):
    """``progress EXPERIMENT``."""

    help = "Agreement and inclusion so far, valid however often one looks, and which decisions are open."
    example = "manage.py progress demo-pairs --rule blimp --more 5 --json"

    def add_options(self, parser) -> None:
        """The study and the conventions."""
        parser.add_argument("experiment", help="slug or title of the study")
        parser.add_argument(
            "--exclude", default="", metavar="PLAN", help="a stored plan, or steps such as rejected,flagged"
        )
        parser.add_argument("--rule", default=RULE, help="blimp, climp, M/N or a share")
        parser.add_argument(
            "--more", type=int, default=MORE, help="further judgments of every item to look ahead"
        )
        parser.add_argument("--round", type=int, metavar="N", help="the judgments of this round only")

    def run(self, **options: Any) -> None:
        """Report on the study; the look is kept."""
        if not 1 <= options["more"] <= MOST_MORE:
            raise BadInput(f"--more {options['more']} is out of range.", remedy=f"Give 1 to {MOST_MORE}.")
        study = find_experiment(options["experiment"])
        names = ("exclude", "rule", "more")
        choices = {name: options[name] for name in names} | {"round_number": options["round"]}
        report = seen_progress(study, user=None, where=COMMAND, **choices)
        if options["json"]:
            self.print_json(report)
        else:
            self._tell(report)

    def _tell(self, report: dict[str, Any]) -> None:
        looks, overall = report["looks"], report["overall"]
        self.stdout.write(
            f"{overall['judgments']} judgments of {report['participants']} people, "
            f"{report['participants_at_it']} at it now; looked at {looks['n']} times"
        )
        self.stdout.write(f"{'paradigm':<56}{'right':>9}{'mean':>9}{'95 % at all looks':>19}{'change':>9}")
        for row in report["paradigms"]:
            right = f"{row['items_right']}/{row['items']}"
            interval = f"[{_share(row['low'])}, {_share(row['high'])}]"
            chance = _share(row["p_change"])
            name = row["paradigm"] or "–"
            self.stdout.write(
                f"{name:<56}{right:>9}{_share(row['mean']):>9}{interval:>19}{chance:>9}  {row['status']}"
            )
        self.stdout.write(
            f"{overall['included']} of {overall['paradigms']} included by {report['rule']}; with "
            f"{report['more']} more judgments of every item {overall['open']} of these decisions may change, "
            f"and the majority of {report['items_open']} items"
        )


def _share(number: float | None) -> str:
    """A share in percent, a dash where it is undefined."""
    return "–" if number is None else f"{100 * number:.1f} %"
