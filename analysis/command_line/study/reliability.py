"""Options and text of the report ``reliability``: agreement between participants, ceilings."""

from argparse import ArgumentParser
from typing import Any

from ...choices import CODINGS, TRANSFORMS
from ...report.wording import decimal, p_value
from ...text import plural
from ..output import CommandOutput, add_zeros


class ReliabilityText(CommandOutput):
    """Options beside the data and the plan, and the report for a terminal."""

    help = (
        "Percent, Fleiss, Krippendorff, AC1, Cohen, intraclass correlation, split halves, noise ceilings, "
        "response styles and drift."
    )

    def add_report_options(self, parser: ArgumentParser) -> None:
        """Transformation, coding and seed."""
        parser.add_argument("--transform", default="z", help=f"of ratings: {', '.join(TRANSFORMS)}")
        add_zeros(parser)
        parser.add_argument("--coding", default="label_blind", help=f"of choices: {', '.join(CODINGS)}")
        parser.add_argument(
            "--rule", default="", help="coefficients over included paradigms too: blimp, climp, M/N"
        )
        parser.add_argument("--seed", type=int, default=0, help="of halvings and draws")

    def print_text(self, report: dict[str, Any]) -> None:
        """Print the report for a terminal."""
        self.stdout.write(
            f"{report['task']}: {report['judgments']} judgments, {report['participants']} participants, "
            f"{report['units']} {report['unit']}s, coded {report['coding']}"
        )
        if (included := report["included"]) is not None:
            self.stdout.write(
                f"second column: {included['paradigms']} paradigms included by rule {report['rule']}"
            )
        for row in report["coefficients"]:
            part = f"{decimal(row['value_included']):>8}" if included is not None else ""
            self.stdout.write(
                f"{row['measure']:<24}{decimal(row['value']):>8}{part}  {row['of']:<18}{row['reason']}"
            )
        for row in report["icc"]["forms"]:
            reason = report["icc"]["reason"]
            self.stdout.write(f"{row['form']:<24}{decimal(row['value']):>8}  {reason}")
        for half in report["split_half"]:
            ends = f"[{decimal(half['ci_low'])}, {decimal(half['ci_high'])}]"
            self.stdout.write(
                f"split half by {half['unit']:<10}{decimal(half['spearman_brown']):>8}  {ends}, "
                f"ceiling {decimal(half['ceiling_model'])}  {half['reason']}"
            )
        self._print_repetitions(report["repetitions"])
        self._print_styles(report["styles"], report["drift"])

    def _print_styles(self, styles: dict[str, Any], drift: dict[str, Any]) -> None:
        from ...reliability.response_styles import REASONS, STYLES

        for row in styles["sample"]:
            for style in STYLES:
                if row[style] is not None:
                    n_apart = sum(
                        style in person["apart"]
                        for person in styles["participants"]
                        if person["scale"] == row["scale"]
                    )
                    self.stdout.write(
                        f"{style:<24}{decimal(row[style]):>8}  {row['n']} answers {row['scale']}, "
                        f"{plural(n_apart, 'participant')} apart".rstrip()
                    )
        if styles["status"] != "ok":
            self.stdout.write(f"{'response styles':<24}{'–':>8}  {REASONS[styles['status']]}")
        ends = f"[{decimal(drift['ci_low'])}, {decimal(drift['ci_high'])}], p {p_value(drift['p'])}"
        note = ends if drift["estimate"] is not None else REASONS[drift["status"]]
        self.stdout.write(f"{'drift, first to last':<24}{decimal(drift['estimate']):>8}  {note}")

    def _print_repetitions(self, repetitions: dict[str, Any]) -> None:
        ends = (
            f"  [{decimal(repetitions['ci_low'])}, {decimal(repetitions['ci_high'])}]"
            if repetitions["n_cells"]
            else ""
        )
        counts = (
            f"{repetitions['n_cells']} {repetitions['unit']}s"
            if repetitions["n_cells"]
            else repetitions["reason"]
        )
        self.stdout.write(f"{'repeated, equal':<24}{decimal(repetitions['agreement']):>8}{ends}  {counts}")
        if repetitions["n_cells"]:
            self.stdout.write(
                f"{'repeated, kappa':<24}{decimal(repetitions['kappa']):>8}  {repetitions['weights']}"
            )
        for row in repetitions["icc"]:
            if row["value"] is not None:
                self.stdout.write(f"{'repeated, ' + row['form']:<24}{decimal(row['value']):>8}")
