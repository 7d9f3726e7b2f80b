"""Options and text of the report ``ratings``: item means of ratings."""

from argparse import ArgumentParser
from typing import Any

from analysis.aggregation.transforms import TRANSFORMS
from analysis.command_line.output import CommandOutput, add_zeros
from analysis.report.wording import decimal


class RatingsText(CommandOutput):
    """Options beside the data and the plan, and the report for a terminal."""

    help = "Standardized item means with n, SD and SE; participants' own means and SDs."

    def add_report_options(self, parser: ArgumentParser) -> None:
        """Transformation and divisor."""
        parser.add_argument("--transform", default="z", help=f"one of {', '.join(TRANSFORMS)}")
        parser.add_argument("--ddof", type=int, choices=(0, 1), default=1, help="1: sample SD, 0: population")
        add_zeros(parser)

    def print_text(self, report: dict[str, Any]) -> None:
        """Print the report for a terminal."""
        self.stdout.write(f"transform {report['transform']}, ddof {report['ddof']}, scope {report['scope']}")
        self.stdout.write(f"{'sentence':<60}{'n':>5}{'mean':>9}{'sd':>8}{'se':>8}{'raw':>9}  status")
        for row in report["items"]:
            widths = {"mean": 9, "sd": 8, "se": 8, "mean_raw": 9}
            numbers = "".join(f"{decimal(row[name]):>{width}}" for name, width in widths.items())
            name = (row["sentence_id"] or row["item"])[:58]
            self.stdout.write(f"{name:<60}{row['n']:>5}{numbers}  {row['status']}")
        odd = [row for row in report["participants"] if row["status"] != "ok"]
        items, people = len(report["items"]), len(report["participants"])
        self.stdout.write(f"{items} items, {people} participants, {len(odd)} of them not standardized")
