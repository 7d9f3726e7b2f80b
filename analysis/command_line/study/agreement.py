"""Options and text of the report ``agreement``: agreement and inclusion of paradigms."""

from argparse import ArgumentParser
from typing import Any

from ...choices import INTERVAL_METHODS, TIES
from ...report.wording import share
from ..output import CommandOutput


class AgreementText(CommandOutput):
    """Options beside the data and the plan, and the report for a terminal."""

    help = "Agreement with the expected labels, and inclusion, by paradigm, phenomenon and overall."

    def add_report_options(self, parser: ArgumentParser) -> None:
        """Rule, ties, round, seed and method of intervals."""
        parser.add_argument("--rule", default="", help="blimp, climp, M/N or a share")
        parser.add_argument("--ties", default="strict", help=f"how a tie counts: {', '.join(TIES)}")
        parser.add_argument(
            "--round", type=int, dest="round_number", metavar="N", help="judgments of this round only"
        )
        parser.add_argument("--seed", type=int, default=0, help="seed of the participant bootstrap")
        parser.add_argument(
            "--interval",
            default="auto",
            metavar="METHOD",
            help=f"of intervals over participants: {', '.join(INTERVAL_METHODS)} "
            f"(default: {INTERVAL_METHODS['auto']})",
        )

        parser.add_argument(
            "--cross-fit",
            action="store_true",
            help="also measure included paradigms by participants who had no part in including them",
        )

    def print_text(self, report: dict[str, Any]) -> None:
        """Print the report for a terminal."""
        from ...report.page_findings import selection_sentence

        for row in report["excluded"]:
            if row["step"] != "all":
                self.stdout.write(
                    f"excluded by {row['step']}: {row['participants_removed']} participants, "
                    f"{row['sessions_removed']} sessions, {row['judgments_removed']} judgments"
                )
        self.stdout.write(f"{'paradigm':<56}{'right':>9}{'individual':>12}{'95 % interval':>19}  status")
        for row in report["paradigms"]:
            right = f"{row['items_right']}/{row['items']}"
            interval = f"[{share(row['ci_low'])}, {share(row['ci_high'])}]"
            individual = share(row["individual_agreement"])
            name = row["paradigm"] or "–"
            self.stdout.write(f"{name:<56}{right:>9}{individual:>12}{interval:>19}  {row['status']}")
        self._print_overall("all paradigms", report["overall"])
        self.stdout.write(f"intervals over participants: {report['conventions']['interval_method']}")
        if report["judgments_merged"]:
            repeats = report["conventions"]["repeats"]
            self.stdout.write(f"repeated answers, merged: {report['judgments_merged']}; {repeats}")
        if report["undecided"]:
            self.stdout.write(f"answers that chose no member: {report['undecided']['statement']}")
        if report["rule"]:
            self._print_overall(f"included by rule {report['rule']}", report["overall_included"])
            self.stdout.write(selection_sentence(report))

    def _print_overall(self, title: str, row: dict[str, Any]) -> None:
        self.stdout.write(
            f"{title}: {row['paradigms']} paradigms, majority {row['items_right']}/{row['items']} "
            f"({share(row['majority_agreement'])}), individual {share(row['individual_agreement'])} "
            f"(mean of item shares), {share(row['individual_agreement_pooled'])} (pooled), "
            f"{row['judgments']} judgments"
        )
