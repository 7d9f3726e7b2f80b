"""Options and text of the report ``times``: response times by condition and their outliers."""

from argparse import ArgumentParser
from typing import Any

from analysis.command_line.output import OUTLIERS_HELP, CommandOutput
from analysis.effects.report import BY
from analysis.report.page_findings import times_finding
from analysis.report.wording import decimal, p_value
from analysis.text import plural


class TimesText(CommandOutput):
    """Options beside the data and the plan, and the report for a terminal."""

    help = "Response times: geometric means by condition, ratios with mixed models, and the outlier rule."

    def add_report_options(self, parser: ArgumentParser) -> None:
        """Contrasts and the outlier rule."""
        parser.add_argument("--by", default="phenomenon", choices=BY, help="what a contrast is")
        parser.add_argument("--outliers", default="", metavar="RULE", help=OUTLIERS_HELP)

    def print_text(self, report: dict[str, Any]) -> None:
        """Print the report for a terminal."""
        dropped = report["dropped"]
        self.stdout.write(times_finding(report) or report["reason"])
        for row in report["conditions"]:
            self.stdout.write(
                f"{row['condition'] or '–':<40}{decimal(row['geometric_mean'], 0):>8} ms "
                f"[{decimal(row['ci_low'], 0)}, {decimal(row['ci_high'], 0)}]  shift "
                f"{decimal(row['shift'], 0)}, lognormal mean {decimal(row['lognormal_mean'], 0)} "
                f"({row['lognormal_status']})"
            )
        for row in report["contrasts"]:
            mixed = row["mixed"]
            self.stdout.write(
                f"{row[report['by']] or '–'}: {row['slow']} / {row['fast']} {decimal(row['ratio'])} "
                f"[{decimal(row['ci_low'])}, {decimal(row['ci_high'])}], p {p_value(row['p'])}; mixed "
                f"{decimal(mixed['ratio'])} [{decimal(mixed['ci_low'])}, {decimal(mixed['ci_high'])}], "
                f"p {p_value(mixed['p'])} ({mixed['status']})"
            )
        self.stdout.write(
            f"outliers: {report['rule']}; left out {dropped['n']} of {plural(report['timed'], 'time')}"
        )
        for entry in dropped["participants"]:
            self.stdout.write(f"    {entry['participant']}: {entry['dropped']} of {entry['timed']}")
