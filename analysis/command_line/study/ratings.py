"""Options and text of the report ``ratings``: item means of ratings.

Text of the report ``items``: counts of every judged item, with models of annotators and of strength.

Options and text of the report ``times``: response times by condition and their outliers.
"""

from argparse import ArgumentParser
from typing import Any

from ...choices import BY, TRANSFORMS
from ...report.wording import decimal, p_value
from ...text import plural
from ..output import OUTLIERS_HELP, CommandOutput, add_zeros


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
        from ...report.page_findings import scales_sentence

        self.stdout.write(f"transform {report['transform']}, ddof {report['ddof']}, scope {report['scope']}")
        if sentence := scales_sentence(report["scales"]):
            self.stdout.write(sentence)
        self.stdout.write(f"{'sentence':<60}{'n':>5}{'mean':>9}{'sd':>8}{'se':>8}{'raw':>9}  status")
        for row in report["items"]:
            widths = {"mean": 9, "sd": 8, "se": 8, "mean_raw": 9}
            numbers = "".join(f"{decimal(row[name]):>{width}}" for name, width in widths.items())
            name = ", ".join(filter(None, (row["sentence_id"] or row["item"], row.get("scale", ""))))[:58]
            self.stdout.write(f"{name:<60}{row['n']:>5}{numbers}  {row['status']}")
        odd = [row for row in report["participants"] if row["status"] != "ok"]
        items, people = len(report["items"]), len({row["participant"] for row in report["participants"]})
        self.stdout.write(f"{items} items, {people} participants, {len(odd)} of them not standardized")


class ItemsText(CommandOutput):
    """The report for a terminal."""

    help = "Counts of every item; one-coin Dawid-Skene, MACE, Bradley-Terry, d' and c if estimable."

    def add_report_options(self, parser: ArgumentParser) -> None:
        """Options beside the data and the plan: none."""

    def print_text(self, report: dict[str, Any]) -> None:
        """Print the report for a terminal."""
        for row in report["items"]:
            self.stdout.write(f"{row['item']:<48}{row['k']:>5} of {row['n']:<5} {row['majority']}")
        for name, model in (("one-coin Dawid-Skene", report["one_coin"]), ("MACE", report["mace"])):
            contradicted = f"contradicts {len(model['contradicted'])} of {model['n_items']} majorities"
            self.stdout.write(f"{name}: {model['reason'] or contradicted}")
        strengths = report["bradley_terry"]
        groups = f"{len(strengths['groups'])} groups of sentences"
        self.stdout.write(f"Bradley-Terry: {strengths['reason'] or groups}")
        predictions = report["predictions"]
        if predictions["items"]:
            against = sum(row["contradicts"] for row in predictions["items"])
            self.stdout.write(
                f"surprisingly popular answers contradict {plural(against, 'majority', 'majorities')}"
            )
        for row in report["detection"]["rows"]:
            mean = f"mean of {row['n_participants']} participants' d' {row['d_prime_mean']}"
            pooled = f"d' {row['d_prime']}, c {row['criterion']} (pooled)"
            self.stdout.write(f"{row['of']} {row['name']}: {pooled}, {mean}")


class TimesText(CommandOutput):
    """Options beside the data and the plan, and the report for a terminal."""

    help = "Response times: geometric means by condition, ratios with mixed models, and the outlier rule."

    def add_report_options(self, parser: ArgumentParser) -> None:
        """Contrasts and the outlier rule."""
        parser.add_argument("--by", default="phenomenon", choices=BY, help="what a contrast is")
        parser.add_argument("--outliers", default="", metavar="RULE", help=OUTLIERS_HELP)

    def print_text(self, report: dict[str, Any]) -> None:
        """Print the report for a terminal."""
        from ...report.page_findings import times_finding

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
        for row in report["within_participants"]:
            self.stdout.write(
                f"log time with {row['with']} within participants: r {decimal(row['r'])} "
                f"[{decimal(row['ci_low'])}, {decimal(row['ci_high'])}], p {p_value(row['p'])} "
                f"({row['status']})"
            )
        self.stdout.write(
            f"outliers: {report['rule']}; left out {dropped['n']} of {plural(report['timed'], 'time')}"
        )
        for entry in dropped["participants"]:
            self.stdout.write(f"    {entry['participant']}: {entry['dropped']} of {entry['timed']}")
