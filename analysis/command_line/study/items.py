"""Text of the report ``items``: counts of every judged item, with models of annotators and of strength."""

from argparse import ArgumentParser
from typing import Any

from analysis.command_line.output import CommandOutput


class ItemsText(CommandOutput):
    """The report for a terminal."""

    help = "Counts of every item; one-coin Dawid-Skene, Bradley-Terry, d' and c where they may be estimated."

    def add_report_options(self, parser: ArgumentParser) -> None:
        """Options beside the data and the plan: none."""

    def print_text(self, report: dict[str, Any]) -> None:
        """Print the report for a terminal."""
        for row in report["items"]:
            self.stdout.write(f"{row['item']:<48}{row['k']:>5} of {row['n']:<5} {row['majority']}")
        coin, strengths = report["one_coin"], report["bradley_terry"]
        contradicted = f"contradicts {len(coin['contradicted'])} of {coin['n_items']} majorities"
        self.stdout.write(f"one-coin Dawid-Skene: {coin['reason'] or contradicted}")
        groups = f"{len(strengths['groups'])} groups of sentences"
        self.stdout.write(f"Bradley-Terry: {strengths['reason'] or groups}")
        for row in report["detection"]["rows"]:
            mean = f"mean of {row['n_participants']} participants' d' {row['d_prime_mean']}"
            pooled = f"d' {row['d_prime']}, c {row['criterion']} (pooled)"
            self.stdout.write(f"{row['of']} {row['name']}: {pooled}, {mean}")
