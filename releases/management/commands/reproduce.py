"""``manage.py reproduce``: every table and figure of a paper from the data at hand."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from config.commands import ContractCommand

PAPERS = ("blimp", "adc", "climp", "fict")


class Command(ContractCommand):
    """Build the document in memory, then write the whole folder or nothing."""

    help = (
        "Build a document with every table and figure of a paper from the data at hand, the published "
        "numbers beside ours, and what to bring for those that are missing."
    )
    example = "manage.py reproduce adc --data papers --to reproductions/adc"

    def add_options(self, parser: ArgumentParser) -> None:
        """The paper, the data and the folder to write."""
        parser.add_argument("paper", choices=PAPERS, help=", ".join(PAPERS))
        parser.add_argument(
            "--data", type=Path, metavar="FOLDER", help="data sets, scores and weights; default: PAPERS_DATA"
        )
        parser.add_argument(
            "--to",
            type=Path,
            metavar="FOLDER",
            help="a folder that does not exist yet; default: reproduction-PAPER",
        )
        parser.add_argument(
            "--sign",
            nargs="+",
            action="extend",
            default=[],
            metavar="COLUMN=lower|higher",
            help="which values of a column of scores mean a better sentence",
        )

    def run(self, **options: Any) -> None:
        """Build every exhibit and write page, tables and figures' data."""
        from analysis.scoring.orientation import parse_signs
        from releases.gold.storage import write_folder
        from releases.papers.holdings import open_holdings
        from releases.papers.reproduce import HTML, missing, reproduce

        paper = options["paper"]
        folder = options["to"] or Path(f"reproduction-{paper}")
        holdings = open_holdings(options["data"], signs=parse_signs(options["sign"]))
        show = None if options["json"] else self._progress
        built = reproduce(paper, holdings, progress=show)
        is_new = write_folder(folder, built.files)
        if options["json"]:
            self.print_json({**built.numbers, "folder": str(folder), "written": is_new})
            return
        for exhibit in built.numbers["exhibits"]:
            counts = (
                f"{exhibit['agree']} of {exhibit['compared']} equal as printed" if exhibit["compared"] else ""
            )
            self.stdout.write(f"{exhibit['state']:<8} {exhibit['title']}  {counts}".rstrip())
        for text in missing(built.numbers):
            self.stdout.write(f"bring    {text}")
        outcome = "wrote" if is_new else "the same document is already there:"
        self.stdout.write(f"{outcome} {folder / HTML} and {len(built.files) - 1} files beside it")

    def _progress(self, step: int, total: int, message: str) -> None:
        self.stderr.write(f"{step}/{total} {message}")
