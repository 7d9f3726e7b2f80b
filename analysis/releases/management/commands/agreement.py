"""How far people agree with the expected labels, and which paradigms a rule includes."""

from typing import Any

from analysis.agreement.majority import TIES
from analysis.releases.reports import agreement_of
from config.commands import ContractCommand
from experiments.names import find_experiment


class Command(ContractCommand):
    """``agreement EXPERIMENT``."""

    help = "Agreement with the expected labels, and inclusion, by paradigm, phenomenon and overall."
    example = "manage.py agreement blimp-validation --exclude rejected --rule blimp --json"

    def add_options(self, parser) -> None:
        """The study and the conventions."""
        parser.add_argument("experiment", help="slug or title of the study")
        parser.add_argument(
            "--exclude", default="", metavar="PLAN", help="a stored plan, or steps such as rejected,flagged"
        )
        parser.add_argument("--rule", default="", help="blimp, climp, M/N or a share")
        parser.add_argument("--ties", default="strict", help=f"how a tie counts: {', '.join(TIES)}")
        parser.add_argument(
            "--round", type=int, dest="round_number", metavar="N", help="judgments of this round only"
        )
        parser.add_argument("--seed", type=int, default=0, help="seed of the participant bootstrap")

    def run(self, **options: Any) -> None:
        """Report on the study."""
        names = ("exclude", "rule", "ties", "seed", "round_number")
        study = find_experiment(options["experiment"])
        report = agreement_of(study, **{name: options[name] for name in names})
        if options["json"]:
            self.print_json(report)
        else:
            self._tell(report)

    def _tell(self, report: dict[str, Any]) -> None:
        for row in report["excluded"]:
            if row["step"] != "all":
                self.stdout.write(
                    f"excluded by {row['step']}: {row['participants_removed']} participants, "
                    f"{row['sessions_removed']} sessions, {row['judgments_removed']} judgments"
                )
        self.stdout.write(f"{'paradigm':<56}{'right':>9}{'individual':>12}{'95 % interval':>17}  status")
        for row in report["paradigms"]:
            right = f"{row['items_right']}/{row['items']}"
            interval = f"[{_share(row['ci_low'])}, {_share(row['ci_high'])}]"
            share = _share(row["individual_agreement"])
            name = row["paradigm"] or "–"
            self.stdout.write(f"{name:<56}{right:>9}{share:>12}{interval:>17}  {row['status']}")
        self._tell_overall("all paradigms", report["overall"])
        if report["undecided"]:
            self.stdout.write(f"answers that chose no member: {report['undecided']['statement']}")
        if report["rule"]:
            self._tell_overall(f"included by rule {report['rule']}", report["overall_included"])

    def _tell_overall(self, title: str, row: dict[str, Any]) -> None:
        self.stdout.write(
            f"{title}: {row['paradigms']} paradigms, majority {row['items_right']}/{row['items']} "
            f"({_share(row['majority_agreement'])}), individual {_share(row['individual_agreement'])} "
            f"(mean of item shares), {_share(row['individual_agreement_pooled'])} (pooled), "
            f"{row['judgments']} judgments"
        )


def _share(number: float | None) -> str:
    """A share in percent, a dash where it is undefined."""
    return "–" if number is None else f"{100 * number:.1f} %"
