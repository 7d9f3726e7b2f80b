"""Models of several comparisons in one order, from the documents of ``compare --json``."""

import json
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...choices import LEADERBOARD_SORT
from ...errors import BadInput
from ...text import cell, plain_table, plain_text
from ..output import CommandOutput

if TYPE_CHECKING:
    import pandas as pd

    from ...comparison.leaderboard import ComparedModels

WIDTH = 130
SHARED = ("pairs", "labeled_pairs")  # what comparisons on one leaderboard have in common
NEEDED = ("models", "baselines", "conventions", "standardization", *SHARED)


class LeaderboardText(CommandOutput):
    """Options of the order, and the table for a terminal."""

    def add_order_options(self, parser: ArgumentParser) -> None:
        """The column, its direction, and the conventions."""
        parser.add_argument(
            "--sort",
            default=LEADERBOARD_SORT,
            metavar="COLUMN",
            help="such as blimp, adc_0.5, pearson_r, area",
        )
        parser.add_argument("--ascending", action="store_true", help="smallest first")
        parser.add_argument(
            "--conventions", default="", metavar="KEY", help="where there are several; default: the newest"
        )

    def print_board(self, board: dict[str, Any], *, as_json: bool) -> None:
        """Print the document or the table."""
        if as_json:
            self.print_json(board)
        else:
            self.stdout.write(leaderboard_text(board))


class FileLeaderboard(LeaderboardText):
    """The leaderboard of comparisons in files."""

    help = "Every model of one or more comparisons (compare --json) with chance, a constant and the ceiling."

    def add_options(self, parser: ArgumentParser) -> None:
        """The comparisons and the order."""
        parser.add_argument(
            "comparisons",
            nargs="+",
            metavar="FILE",
            help="documents of compare --json on the same pairs; of a model in several the last counts",
        )
        parser.add_argument(
            "--models",
            metavar="FILE",
            help="what is known of the models: model[, name, method, family, training_tokens, seed, corpus]",
        )
        self.add_order_options(parser)

    def run(self, **options: Any) -> None:
        """Read the comparisons, order, print."""
        from ...comparison.in_depth.models import read_roster
        from ...comparison.leaderboard import leaderboard_document

        documents = {path: read_comparison(path) for path in options["comparisons"]}
        check_same_pairs(documents)
        metadata = read_roster(options["models"]) if options["models"] else None
        entries = [
            compared_models(document, path, metadata=metadata)
            for path, document in reversed(documents.items())
        ]
        board = leaderboard_document(
            entries,
            sort=options["sort"],
            ascending=True if options["ascending"] else None,
            conventions=options["conventions"],
        )
        selected = {row["comparison"] for row in board["rows"]}
        offered = board.pop("offered")
        records: list[dict[str, Any]] = []
        for path, document in documents.items():
            if Path(path).name in selected:
                records += [row for row in document.get("scoring", ()) if row not in records]
        self.print_board(
            {
                "release": None,
                "sha256": None,
                **board,
                "scoring": records,
                "offered": offered,
                "not_compared": [],
            },
            as_json=options["json"],
        )


def read_comparison(path: str) -> dict[str, Any]:
    """Read a document of ``compare --json``."""
    remedy = "Write it by: obelus compare … --json > FILE."
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise BadInput("there is no such file.", file=path) from error
    except ValueError as error:
        raise BadInput("this is not a JSON document.", file=path, remedy=remedy) from error
    if not isinstance(document, dict) or any(name not in document for name in NEEDED):
        raise BadInput("this is not a comparison.", file=path, remedy=remedy)
    return document


def check_same_pairs(documents: dict[str, dict[str, Any]]) -> None:
    """Refuse comparisons of other pairs or humans: their numbers have no common order."""
    (first, reference), *others = documents.items()
    for path, document in others:
        same = all(document[name] == reference[name] for name in SHARED)
        constants = [entry["baselines"]["constant"]["value"] for entry in (reference, document)]
        if not same or constants[0] != constants[1]:
            raise BadInput(
                f"this comparison is of other pairs or people than {first}.",
                file=path,
                remedy="Give comparisons made with the same --pairs and --human.",
            )


def compared_models(
    document: dict[str, Any], path: str, *, metadata: "pd.DataFrame | None" = None
) -> "ComparedModels":
    """Return a comparison with what names of columns and the file of models tell of each model."""
    from ...comparison.in_depth.models import roster
    from ...comparison.leaderboard import ComparedModels

    names = [str(model["model"]) for model in document["models"]]
    stated = metadata
    if metadata is not None and "model" in metadata.columns:
        stated = metadata[metadata["model"].isin(names)]
    conventions = document["conventions"]
    options = {
        "deltas": _deltas(document),
        "signs": conventions["signs"],
        "already_standardized": document["standardization"]["models"] == "as given",
        "seed": conventions["seed"],
    }
    specs = {
        column: record["spec"].get("revision")
        for record in document.get("scoring", ())
        if record.get("spec")
        for column in record.get("columns") or ()
    }
    models = [
        {
            "key": name,
            "model": row["name"],
            "method": row["method"],
            "run": None,
            "comparison": Path(path).name,
            "family": row["family"],
            "training_tokens": _whole(row["training_tokens"]),
            "seed": _text(row["seed"]),
            "corpus": _text(row["corpus"]),
            "revision": specs.get(name) or "",
        }
        for name, row in zip(names, roster(names, stated).to_dict("records"), strict=True)
    ]
    return ComparedModels(document, options, models)


def _deltas(document: dict[str, Any]) -> Sequence[float]:
    return sorted(float(key) for key in document["baselines"]["constant"]["adc"])


def _whole(number: Any) -> int | None:
    import pandas as pd

    return None if number is None or pd.isna(number) else int(number)


def _text(value: Any) -> str:
    import pandas as pd

    return "" if value is None or pd.isna(value) else str(value)


def leaderboard_text(board: dict[str, Any]) -> str:
    """Describe a leaderboard for a terminal."""
    if not board["rows"]:
        return f"No model has been compared on release {board['release']} yet."
    from ...scoring.conventions import recorded_text

    title = "Models" if board["release"] is None else f"Release {board['release']}"
    table = plain_table(f"{title}, by {board['sort']}")
    columns = [key for key in board["sort_keys"] if not key.endswith(("_chance", "_recalibrated", "_skill"))]
    table.add_column("", no_wrap=True)
    table.add_column("model", min_width=24, overflow="fold")
    for name in ("method", "pairs", *columns[1:]):
        table.add_column(name, overflow="fold")
    for row in board["rows"]:
        numbers = [row[key] for key in columns[1:]]
        ranks = "" if row["rank_low"] is None else f" ({row['rank_low']}–{row['rank_high']})"
        rank = None if row["rank"] is None else f"{row['rank']}{ranks}"
        table.add_row(*(cell(value) for value in (rank, row["model"], row["method"], row["pairs"], *numbers)))
    conventions = [f"{name}: {text}" for name, text in board["conventions"].items()]
    return plain_text(table, *conventions, recorded_text(board["scoring"]), width=WIDTH)
