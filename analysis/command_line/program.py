"""The command ``obelus``: the reports of ``manage.py`` on files alone, with the same numbers and keys.

The command ``examples``: the files that the tutorials use.
"""

import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TextIO

from .. import __version__
from ..agreement.item_statistics import item_statistics_table
from ..columns import require_columns
from ..comparison.files import read_pairs
from ..errors import BadInput
from ..exclusions.apply import apply_plan
from ..exclusions.plan import parse_plan
from ..judgment_tables import leave_out_excluded, read_judgment_file
from .documents import (
    FilteredJudgments,
    agreement_document,
    diagnostics_document,
    effects_document,
    exclusions_document,
    groups_document,
    items_document,
    multiverse_document,
    ordinal_document,
    ratings_document,
    reliability_document,
    sequential_document,
    times_document,
)
from .example_data import write_examples
from .figures import FileFigures
from .models.compare import FileComparison
from .models.leaderboard import FileLeaderboard
from .models.perplexity import PerplexityOfText
from .models.score import FileScoring
from .models.train_ngram import NgramTraining
from .output import CommandOutput, magnitudes_line, select_options
from .power import PowerAnalysis
from .study.agreement import AgreementText
from .study.effects import EffectsText
from .study.exclusions import ExclusionsText, MultiverseText
from .study.groups import GroupsText
from .study.ratings import ItemsText, RatingsText, TimesText
from .study.reliability import ReliabilityText
from .study.sequential import SequentialText


class ExampleFiles(CommandOutput):
    """Write simulated judgments, pairs, sentences and a text to try the other commands on."""

    help = "Write the files of the tutorials: simulated judgments of two studies, pairs, sentences, a text."

    def add_options(self, parser: ArgumentParser) -> None:
        """The folder."""
        parser.add_argument("--out", type=Path, default=Path("."), metavar="DIR", help="default: this folder")

    def run(self, **options: Any) -> None:
        """Write, print."""
        names = write_examples(options["out"])
        if options["json"]:
            self.print_json({"folder": str(options["out"]), "files": names})
        else:
            self.stdout.write(f"wrote {', '.join(names)}")


BAD_INPUT = 2  # exit status, as of manage.py
Document = Callable[..., dict[str, Any]]


def items_of_file(
    filtered: FilteredJudgments, *, pairs: str | None = None, experiment: str = ""
) -> dict[str, Any]:
    """The table of items and the diagnostics; strengths of sentences need the pairs."""
    table = read_pairs(pairs) if pairs else None
    diagnostics = diagnostics_document(filtered, table, experiment=experiment)
    return items_document(
        item_statistics_table(filtered.excluded.kept, before=filtered.judgments), diagnostics
    )


#: Text, document and options of each report of a file of judgments.
REPORTS: dict[str, tuple[type[Any], Document, tuple[str, ...]]] = {
    "agreement": (
        AgreementText,
        agreement_document,
        ("rule", "ties", "seed", "round_number", "interval", "cross_fit"),
    ),
    "ratings": (RatingsText, ratings_document, ("transform", "ddof", "zeros")),
    "reliability": (ReliabilityText, reliability_document, ("transform", "zeros", "coding", "seed", "rule")),
    "exclusions": (ExclusionsText, exclusions_document, ("transform", "zeros")),
    "effects": (
        EffectsText,
        effects_document,
        (
            "by",
            "transform",
            "zeros",
            "slopes",
            "population",
            "factorial",
            "conditions",
            "correction",
            "sesoi",
        ),
    ),
    "times": (TimesText, times_document, ("by", "outliers")),
    "groups": (
        GroupsText,
        groups_document,
        ("group", "reference", "cuts", "by", "transform", "zeros", "correction"),
    ),
    "sequential": (
        SequentialText,
        sequential_document,
        ("by", "transform", "zeros", "threshold", "least", "largest"),
    ),
    "items": (ItemsText, items_of_file, ("pairs",)),
    "multiverse": (
        MultiverseText,
        multiverse_document,
        ("by", "contrast", "effect", "transform", "model"),
    ),
}
OF_PLANS = (exclusions_document, multiverse_document)  # compute what several plans leave
FILE_COMMANDS: dict[str, type[Any]] = {
    "power": PowerAnalysis,
    "figures": FileFigures,
    "score": FileScoring,
    "compare": FileComparison,
    "leaderboard": FileLeaderboard,
    "perplexity": PerplexityOfText,
    "train-ngram": NgramTraining,
    "examples": ExampleFiles,
}

#: Under the options of each command; after ``obelus examples`` most of them run as they are.
EXAMPLES = {
    "agreement": "validation.csv --exclude catch_failed --rule blimp --json",
    "ratings": "ratings.csv --transform z",
    "reliability": "validation.csv --exclude catch_failed --rule blimp",
    "exclusions": "validation.csv --exclude catch_failed",
    "effects": "ratings.csv --by phenomenon --transform z --json",
    "times": "ratings.csv --outliers 200-10000,2.5sd",
    "groups": "ratings.csv --group list --transform z",
    "sequential": "ratings.csv --threshold 10 --least 20",
    "items": "validation.csv --pairs pairs.csv --json",
    "multiverse": "ratings.csv --exclude catch_failed --transform z --model mixed-slopes --json",
    "power": "prospective --task likert --effect 0.5 --participants 20 30 40 --items 8 --lists 2",
    "figures": "validation.csv --exclude catch_failed --out figures --format svg,csv",
    "score": "'arpa:trigram.arpa' --sentences sentences.csv --method lp slor --to trigram.csv",
    "compare": "--human human.csv --pairs pairs.csv --scores trigram.csv gpt2.csv --json > comparison.json",
    "perplexity": "'arpa:trigram.arpa' corpus.txt --json",
    "leaderboard": "comparison.json --sort adc_0.5",
    "train-ngram": "corpus.txt --order 3 --casing lower --punctuation split --out trigram.arpa",
    "examples": "--out tutorial",
}


class LineWriter:
    """A stream whose ``write`` ends the line, as that of the platform's commands."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str, ending: str = "\n") -> None:
        """Write the text and its ending."""
        self.stream.write(text if ending and text.endswith(ending) else text + ending)


def compute_report(name: str, options: dict[str, Any]) -> dict[str, Any]:
    """Compute a report of a file of judgments."""
    path = options["judgments"]
    plan, judgments = parse_plan(options["exclude"]), read_judgment_file(path, keep_excluded=True)
    released = ""
    if not plan.steps and REPORTS[name][1] not in OF_PLANS:
        judgments, released = leave_out_excluded(judgments)
        judgments = judgments.reset_index(drop=True)
    if options.get("round_number") is not None:
        require_columns(judgments, "round")
        judgments = judgments[judgments["round"] == options["round_number"]].reset_index(drop=True)
    _, document, names = REPORTS[name]
    if name == "effects" and (options["ordinal"] or options["bayesian"]):
        document, names = ordinal_document, ("by", "slopes", "bayesian")
    choices = select_options(options, *names) | {"experiment": options["name"] or Path(path).stem}
    if document in OF_PLANS:
        return document(judgments, plan, **choices)
    report = document(FilteredJudgments(judgments, apply_plan(judgments, plan)), **choices)
    return report | ({"released_exclusions": released} if released else {})


def print_report(command: CommandOutput, name: str, options: dict[str, Any]) -> None:
    """Print a report as JSON or as text."""
    report = compute_report(name, options)
    if options["json"]:
        command.print_json(report)
        return
    command.print_text(report)  # type: ignore[attr-defined]  # every class of REPORTS has it
    if report.get("released_exclusions"):
        command.stdout.write(report["released_exclusions"])
    if report.get("magnitudes"):
        command.stdout.write(magnitudes_line(report["magnitudes"]))


def parser_of_commands() -> tuple[ArgumentParser, dict[str, Any]]:
    """The parser, and the command behind each name."""
    parser = ArgumentParser(prog="obelus", description="Statistics of acceptability judgments, from files.")
    parser.add_argument("--version", action="version", version=f"obelus {__version__}")
    parsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands: dict[str, Any] = {name: text() for name, (text, _, _) in REPORTS.items()}
    commands |= {name: kind() for name, kind in FILE_COMMANDS.items()}
    for name, command in commands.items():
        command.stdout, command.stderr = LineWriter(sys.stdout), LineWriter(sys.stderr)
        subparser = parsers.add_parser(
            name,
            help=command.help,
            description=command.help,
            epilog=f"Example:\n  obelus {name} {EXAMPLES[name]}",
            formatter_class=RawDescriptionHelpFormatter,
        )
        if name in REPORTS:
            subparser.add_argument("judgments", metavar="FILE", help="judgments: CSV, TSV, JSONL or Parquet")
            subparser.add_argument("--name", default="", help="of the study; default: the file's")
            subparser.add_argument(
                "--exclude", default="", metavar="STEPS", help="steps such as rejected,catch_failed"
            )
            command.add_report_options(subparser)
            if name == "items":
                subparser.add_argument(
                    "--pairs", metavar="FILE", help="pair_id, good_id, bad_id: for strengths of sentences"
                )
        else:
            command.add_options(subparser)
        subparser.add_argument(
            "--json", action="store_true", help="print one JSON document on stdout and nothing else"
        )
    return parser, commands


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; bad input is one line on stderr and exit status 2."""
    parser, commands = parser_of_commands()
    options: Namespace = parser.parse_args(arguments)
    chosen = vars(options)
    name, command = chosen["command"], commands[chosen["command"]]
    try:
        if name in REPORTS:
            print_report(command, name, chosen)
        else:
            command.run(**chosen)
    except BadInput as error:
        command.stderr.write(f"obelus: {' '.join(str(error).split())}")
        return BAD_INPUT
    return 0
