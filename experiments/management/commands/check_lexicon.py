"""``manage.py check_lexicon``: find holes, ambiguous forms and wrong rows in the generator's lexicon."""

from argparse import ArgumentParser
from typing import Any

from analysis.errors import BadInput
from config.commands import ContractCommand
from experiments.generation.lexicon.checking import counts, lexicon_faults, stored_rows
from experiments.generation.lexicon.reading import Lexicon, lexicon_folder


class Command(ContractCommand):
    """Check the rows and frozen forms of a language's lexicon."""

    help = (
        "Check the lexicon: rows, duplicates, missing and ambiguous forms, selections, holes. Writes nothing."
    )
    example = "manage.py check_lexicon en"

    def add_options(self, parser: ArgumentParser) -> None:
        """Add the options."""
        parser.add_argument("language", nargs="?", default="en", help="folder of the lexicon (default: en)")

    def run(self, **options: Any) -> None:
        """Print each fault on a line, or the counts of a lexicon without faults."""
        language = options["language"]
        folder = lexicon_folder(language)
        faults = [str(error) for error in lexicon_faults(language, folder)]
        table = counts(Lexicon(language, stored_rows(folder)[0]))
        if options["json"]:
            self.print_json({"language": language, "faults": faults, "counts": table})
        else:
            for line in faults or [f"{number:5,}  {name}" for name, number in table.items()]:
                self.stdout.write(line)
        if faults:
            raise BadInput(
                f"{len(faults):,} faults.", file=f"lexicon {language}", remedy="Each line names one."
            )
