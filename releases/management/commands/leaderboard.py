"""``manage.py leaderboard``: every model that was compared on a release, in one order."""

from argparse import ArgumentParser
from typing import Any

from analysis.command_line.models.leaderboard import LeaderboardText
from analysis.errors import BadInput
from config.commands import ContractCommand
from experiments.studies.creation import find_experiment
from releases.models import Release


class Command(LeaderboardText, ContractCommand):
    """Print a release's leaderboard."""

    help = (
        "Every model compared with participants on a release, with chance, a constant and the ceiling; "
        "the same rows as the page and the API."
    )
    example = "manage.py leaderboard demo 1 --sort adc_0.5 --json"

    def add_options(self, parser: ArgumentParser) -> None:
        """The release and the order."""
        parser.add_argument("experiment", metavar="EXPERIMENT", help="short name of the study")
        parser.add_argument("release", metavar="RELEASE", nargs="?", type=int, help="default: the newest")
        self.add_order_options(parser)

    def run(self, **options: Any) -> None:
        """Print the table of the release."""
        from releases.comparison.leaderboard import leaderboard

        board = leaderboard(
            _release(options["experiment"], options["release"]),
            sort=options["sort"],
            ascending=True if options["ascending"] else None,
            conventions=options["conventions"],
        )
        self.print_board(board, as_json=options["json"])


def _release(slug: str, number: int | None) -> Release:
    study = find_experiment(slug)
    ready = Release.objects.filter(experiment=study, state=Release.State.READY).order_by("-number")
    release = ready.filter(number=number).first() if number is not None else ready.first()
    if release is None:
        which = f"release {number}" if number is not None else "release"
        raise BadInput(f"{slug} has no {which} that is ready.", remedy="Build one: manage.py export_gold.")
    return release
