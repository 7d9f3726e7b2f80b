"""The command ``examples``: the files that the tutorials use."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from analysis.command_line.output import CommandOutput
from analysis.example_data import write_examples


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
