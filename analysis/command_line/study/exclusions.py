"""Options and text of the report ``exclusions``: what a plan removes and changes.

Options and text of the report ``multiverse``: one effect under every specification.
"""

from argparse import ArgumentParser
from typing import Any

from ...choices import BY, MULTIVERSE_EFFECTS, MULTIVERSE_MODELS, TRANSFORMS
from ...report.wording import SENTENCES, decimal, p_value
from ..output import CommandOutput, add_zeros


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


class MultiverseText(CommandOutput):
    """Options beside the data and the plan, and the report for a terminal."""

    help = "One effect under every combination of exclusion, transformation and model."

    def add_report_options(self, parser: ArgumentParser) -> None:
        """The effect, and the study's own specification."""
        parser.add_argument("--by", default="phenomenon", choices=BY, help="what a contrast is")
        parser.add_argument("--contrast", default="", metavar="NAME", help="one contrast; by default all")
        parser.add_argument("--effect", default="contrast", choices=MULTIVERSE_EFFECTS)
        parser.add_argument(
            "--transform", default="z", choices=TRANSFORMS, help="of the study's own specification"
        )
        parser.add_argument(
            "--model",
            default="mixed-slopes",
            choices=list(MULTIVERSE_MODELS),
            help="of the study's own specification",
        )

    def print_text(self, report: dict[str, Any]) -> None:
        """Print the report for a terminal."""
        from ...report.page_findings import multiverse_finding

        for row in report["specifications"]:
            mark = "*" if row["is_current"] else " "
            self.stdout.write(
                f"{mark} {row['exclusion']:<32} {row['transform']:<13}{MULTIVERSE_MODELS[row['model']]:<38}"
                f"{decimal(row['estimate']):>8} [{decimal(row['ci_low'])}, {decimal(row['ci_high'])}], "
                f"p {p_value(row['p'])}{'' if row['status'] == 'ok' else ' (' + row['status'] + ')'}"
            )
        for row in report["same"]:
            self.stdout.write(f"{row['exclusion']} leaves the same judgments as {row['as']}")
        for row in report["unusable"]:
            self.stdout.write(f"{row['exclusion']} is not among them: {row['reason']}")
        finding = multiverse_finding(report)
        self.stdout.write(f"{finding} (*: the study's own)" if finding else SENTENCES["no_contrast"])
