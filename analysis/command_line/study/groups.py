"""Options and text of the report ``groups``: effects and items by group of participants."""

from argparse import ArgumentParser
from typing import Any

from ...choices import BY, TRANSFORMS
from ...report.group_findings import groups_finding, left_out_groups
from ...report.wording import decimal, p_value
from ...text import plural
from ..output import CommandOutput, add_correction, add_zeros


class GroupsText(CommandOutput):
    """Options beside the data and the plan, and the report for a terminal."""

    help = "Effects and items by group of participants, such as dialects or ages."

    def add_report_options(self, parser: ArgumentParser) -> None:
        """The groups, the contrasts and the scale."""
        parser.add_argument(
            "--group",
            default="",
            metavar="NAME",
            help="question of the background, or column with one value for each participant; by default the "
            "first that gives two groups of five participants",
        )
        parser.add_argument("--reference", default="", metavar="GROUP", help="default: the largest group")
        parser.add_argument(
            "--cuts",
            type=float,
            nargs="+",
            default=[],
            metavar="N",
            help="last number of each range, such as 30 50; by default the median",
        )
        parser.add_argument("--by", default="phenomenon", choices=BY, help="what a contrast is")
        parser.add_argument("--transform", default="z", choices=TRANSFORMS, help="of ratings, in effects")
        add_zeros(parser)
        add_correction(parser)

    def print_text(self, report: dict[str, Any]) -> None:
        """Print the report for a terminal."""
        corrected = f"p_{report['correction']}"
        for group in report["groups"]:
            people = plural(group["participants"], "participant")
            mark = ", the reference" if group["is_reference"] else ""
            self.stdout.write(f"{report['group']} {group['value']}: {people}{mark}")
        for row in report["effects"]:
            sides = ", ".join(
                f"{name} {decimal(side['estimate'])}"
                for name, side in ((row["group"], row["effect"]), (row["reference"], row["effect_reference"]))
            )
            self.stdout.write(
                f"{row[report['by']] or '–'}: {sides}; difference {decimal(row['estimate'])} "
                f"[{decimal(row['ci_low'])}, {decimal(row['ci_high'])}], p {p_value(row['p'])}, corrected "
                f"{p_value(row[corrected])}{': ' + row['reason'] if row['reason'] else ''}"
            )
        for row in report["items"]:
            if row["p"] is not None and (row["effect_class"] != "A" or row[corrected] < 0.05):
                is_rated = row["smd"] is not None
                size = f"SMD {decimal(row['smd'])}" if is_rated else f"delta {decimal(row['delta'])}"
                self.stdout.write(
                    f"{row['item']:<48} {row['group']}: {size}, class {row['effect_class'] or '–'}, "
                    f"corrected p {p_value(row[corrected])}"
                )
        for sentence in (left_out_groups(report), groups_finding(report)):
            if sentence:
                self.stdout.write(sentence)
