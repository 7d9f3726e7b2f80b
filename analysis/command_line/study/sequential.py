"""Options and text of the report ``sequential``: Bayes factors after each participant."""

from argparse import ArgumentParser
from typing import Any

from ...choices import BY, STOPPING_PARTICIPANTS, STOPPING_THRESHOLD, TRANSFORMS
from ...report.sequential_findings import describe_stop, sequential_finding
from ...report.wording import SENTENCES, bayes
from ..output import CommandOutput, add_zeros


class SequentialText(CommandOutput):
    """Options beside the data and the plan, and the report for a terminal."""

    help = "The Bayes factor of every contrast after each participant, and where a stopping rule ends."

    def add_report_options(self, parser: ArgumentParser) -> None:
        """The stopping rule, the contrasts and the scale."""
        parser.add_argument("--by", default="phenomenon", choices=BY, help="what a contrast is")
        parser.add_argument("--transform", default="z", choices=TRANSFORMS, help="of ratings")
        add_zeros(parser)
        parser.add_argument(
            "--threshold",
            type=float,
            default=STOPPING_THRESHOLD,
            metavar="BF",
            help="Bayes factor at which, or at whose reciprocal, the rule stops; default: 10",
        )
        parser.add_argument(
            "--least",
            type=int,
            default=STOPPING_PARTICIPANTS,
            metavar="N",
            help="participants before a decision; default: 20",
        )
        parser.add_argument("--largest", type=int, metavar="N", help="most participants; default: unlimited")

    def print_text(self, report: dict[str, Any]) -> None:
        """Print the report for a terminal."""
        for row in report["contrasts"]:
            name = row[report["by"]] or "–"
            if row["status"] != "ok":
                self.stdout.write(f"{name}: not estimable, {row['reason']}")
                continue
            final = row["final"]
            self.stdout.write(
                f"{name}: Bayes factor {bayes(final['factor'])} after {final['n']} participants; "
                f"{describe_stop(row)}"
            )
        self.stdout.write(sequential_finding(report) or SENTENCES["no_contrast"])
