"""Options and text of the report ``exclusions``: what a plan removes and changes."""

from argparse import ArgumentParser
from typing import Any

from analysis.command_line.output import CommandOutput, add_zeros
from analysis.report.wording import decimal


class ExclusionsText(CommandOutput):
    """Options beside the data and the plan, and the report for a terminal."""

    help = "Flow, margins and overlap of a plan, who is removed by group, and the sensitivity panel."

    def add_report_options(self, parser: ArgumentParser) -> None:
        """Transformation of ratings."""
        parser.add_argument("--transform", default="z", help="of ratings, in the sensitivity panel")
        add_zeros(parser)

    def print_text(self, report: dict[str, Any]) -> None:
        """Print the report for a terminal."""
        when = "before the first response" if report["plan"]["locked_before_first_response"] else "later"
        written = f", written {when}" if report["plan"]["created_at"] else ""
        self.stdout.write(f"plan {report['plan']['name']}{written}, {report['plan']['sha256'][:12]}")
        for row in report["flow"]:
            self.stdout.write(
                f"{row['step']:<24} out: {row['participants_removed']} participants, "
                f"{row['judgments_removed']} judgments; left: {row['participants_left']}, "
                f"{row['judgments_left']}"
            )
        for row in report["groups"]:
            self.stdout.write(
                f"{row['group']} {row['value']}: {row['removed']} of {row['participants']} removed"
            )
        for row in report["sensitivity"]:
            name = f"without {row['step']}" if row["step"] else row["recipe"]
            self.stdout.write(
                f"{name:<32}{row['participants']:>6}{row['judgments']:>9}"
                f"{decimal(row['majority_agreement']):>8}{decimal(row['individual_agreement']):>8}"
                f"{decimal(row['alpha']):>8}{decimal(row['mean_difference']):>8}"
            )
