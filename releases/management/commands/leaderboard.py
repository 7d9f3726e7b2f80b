"""``manage.py leaderboard``: every model that was compared on a release, in one order."""

from argparse import ArgumentParser
from typing import Any

from analysis.errors import BadInput
from analysis.scoring.conventions import recorded_text
from analysis.text import cell, plain_table, plain_text
from config.commands import ContractCommand
from experiments.studies.creation import find_experiment
from releases.comparison.leaderboard import DEFAULT_SORT, leaderboard
from releases.models import Release

WIDTH = 130


class Command(ContractCommand):
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
        parser.add_argument(
            "--sort", default=DEFAULT_SORT, metavar="COLUMN", help="such as blimp, adc_0.5, pearson_r, area"
        )
        parser.add_argument("--ascending", action="store_true", help="smallest first")
        parser.add_argument(
            "--conventions", default="", metavar="KEY", help="where there are several; default: the newest"
        )

    def run(self, **options: Any) -> None:
        """Print the table of the release."""
        board = leaderboard(
            _release(options["experiment"], options["release"]),
            sort=options["sort"],
            ascending=True if options["ascending"] else None,
            conventions=options["conventions"],
        )
        if options["json"]:
            self.print_json(board)
        else:
            self.stdout.write(_text(board))


def _release(slug: str, number: int | None) -> Release:
    study = find_experiment(slug)
    ready = Release.objects.filter(experiment=study, state=Release.State.READY).order_by("-number")
    release = ready.filter(number=number).first() if number is not None else ready.first()
    if release is None:
        which = f"release {number}" if number is not None else "release"
        raise BadInput(f"{slug} has no {which} that is ready.", remedy="Build one: manage.py export_gold.")
    return release


def _text(board: dict[str, Any]) -> str:
    if not board["rows"]:
        return f"No model has been compared on release {board['release']} yet."
    table = plain_table(f"Release {board['release']}, by {board['sort']}")
    columns = [key for key in board["sort_keys"] if not key.endswith(("_chance", "_recalibrated", "_skill"))]
    table.add_column("", no_wrap=True)
    table.add_column("model", min_width=24, overflow="fold")
    for name in ("method", "pairs", *columns[1:]):
        table.add_column(name, overflow="fold")
    for row in board["rows"]:
        numbers = [row[key] for key in columns[1:]]
        table.add_row(
            *(cell(value) for value in (row["rank"], row["model"], row["method"], row["pairs"], *numbers))
        )
    conventions = [f"{name}: {text}" for name, text in board["conventions"].items()]
    return plain_text(table, *conventions, recorded_text(board["scoring"]), width=WIDTH)
