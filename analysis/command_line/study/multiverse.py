"""Options and text of the report ``multiverse``: one effect under every specification."""

from argparse import ArgumentParser
from typing import Any

from analysis.aggregation.transforms import TRANSFORMS
from analysis.command_line.output import CommandOutput
from analysis.effects.report import BY
from analysis.exclusions.multiverse import EFFECTS, MODELS
from analysis.report.page_findings import multiverse_finding
from analysis.report.wording import SENTENCES, decimal, p_value


class MultiverseText(CommandOutput):
    """Options beside the data and the plan, and the report for a terminal."""

    help = "One effect under every combination of exclusion, transformation and model."

    def add_report_options(self, parser: ArgumentParser) -> None:
        """The effect, and the study's own specification."""
        parser.add_argument("--by", default="phenomenon", choices=BY, help="what a contrast is")
        parser.add_argument("--contrast", default="", metavar="NAME", help="one contrast; by default all")
        parser.add_argument("--effect", default="contrast", choices=EFFECTS)
        parser.add_argument(
            "--transform", default="z", choices=TRANSFORMS, help="of the study's own specification"
        )
        parser.add_argument(
            "--model", default="mixed-slopes", choices=list(MODELS), help="of the study's own specification"
        )

    def print_text(self, report: dict[str, Any]) -> None:
        """Print the report for a terminal."""
        for row in report["specifications"]:
            mark = "*" if row["is_current"] else " "
            self.stdout.write(
                f"{mark} {row['exclusion']:<32} {row['transform']:<13}{MODELS[row['model']]:<38}"
                f"{decimal(row['estimate']):>8} [{decimal(row['ci_low'])}, {decimal(row['ci_high'])}], "
                f"p {p_value(row['p'])}{'' if row['status'] == 'ok' else ' (' + row['status'] + ')'}"
            )
        for row in report["same"]:
            self.stdout.write(f"{row['exclusion']} leaves the same judgments as {row['as']}")
        for row in report["unusable"]:
            self.stdout.write(f"{row['exclusion']} is not among them: {row['reason']}")
        finding = multiverse_finding(report)
        self.stdout.write(f"{finding} (*: the study's own)" if finding else SENTENCES["no_contrast"])
