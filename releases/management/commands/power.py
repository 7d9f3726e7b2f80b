"""``manage.py power``: how many participants a study needs, before it opens or from a pilot."""

from argparse import ArgumentParser
from typing import TYPE_CHECKING, Any

from analysis.command_line.output import select_options
from analysis.command_line.power import RESAMPLING, PowerAnalysis
from config.commands import ContractCommand
from experiments.studies.creation import find_experiment
from releases.management.report_command import EXCLUDE_HELP, named_exclusion

if TYPE_CHECKING:
    from analysis.power.report import Price


class Command(PowerAnalysis, ContractCommand):
    """Power of a planned study, or of other sizes of a stored study or a file."""

    example = (
        "manage.py power prospective --task likert --effect 0.5 --participants 20 30 40 --items 8 --lists 2\n"
        "  manage.py power resample --judgments pilot.csv --participants 10 20 30 --json"
    )

    def add_study_options(self, ahead: ArgumentParser, resample: ArgumentParser, pilot: Any) -> None:
        """Add the stored study: as the pilot, and for its campaign's reward and fee."""
        pilot.add_argument("--study", default="", help="slug or title of a stored study as the pilot")
        resample.add_argument("--exclude", default="", metavar="PLAN", help=f"with --study: {EXCLUDE_HELP}")
        ahead.add_argument("--study", default="", help="take reward and fee from its campaign")

    def price(self, options: dict[str, Any]) -> tuple["Price", str]:
        """The reward and fee asked for, else those of the study's campaign."""
        from releases.reports.power_forms import participant_price

        if options["reward"] is None and options["study"]:
            return participant_price(find_experiment(options["study"]))
        return super().price(options)

    def resample_power(self, options: dict[str, Any], price: "Price") -> dict[str, Any]:
        """Power of other numbers of participants, from the stored study or the file."""
        from releases.reports.compute import compute_pilot_power

        if not options["study"]:
            return super().resample_power(options, price)
        study = find_experiment(options["study"])
        exclude = named_exclusion(self, study, options["exclude"])
        choices = select_options(options, *RESAMPLING, "zeros")
        return compute_pilot_power(
            study, exclude=exclude, reward_minor=price.reward_minor, fee=price.fee, **choices
        )
