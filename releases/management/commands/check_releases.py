"""``manage.py check_releases``: name the columns of releases that identify participants."""

from argparse import ArgumentParser
from typing import Any

import pandas as pd

from analysis.errors import BadInput
from analysis.text import plural
from config.commands import ContractCommand
from experiments.studies.creation import find_experiment
from judgments.imports.personal import id_platform, personal_kind, words_like_names
from releases.gold.storage import release_table
from releases.models import Release

TABLES = ("participants.csv", "judgments.csv")


class Command(ContractCommand):
    """Check releases for personal ids, which earlier versions did not keep out."""

    help = (
        "Name the columns of frozen releases that hold addresses, ids of platforms or names of participants."
    )
    example = "manage.py check_releases"

    def add_options(self, parser: ArgumentParser) -> None:
        """Add the study."""
        parser.add_argument("study", nargs="?", default="", help="slug or title (default: all studies)")

    def run(self, **options: Any) -> None:
        """Check, report the columns, and fail if there are any."""
        releases = Release.objects.filter(state=Release.State.READY).select_related("experiment")
        if options["study"]:
            releases = releases.filter(experiment=find_experiment(options["study"]))
        found = []
        for release in releases.order_by("experiment__slug", "number"):
            for name in TABLES:
                if name in str(release.manifest):
                    found += _personal_columns(release, name)
        if options["json"]:
            self.print_json({"releases": len(releases), "columns": found})
        for column in found if not options["json"] else ():
            self.stdout.write(
                f"{column['release']}, {column['file']}, column {column['column']!r}: {column['kind']} "
                f"({plural(column['values'], 'value')})"
            )
        if found:
            raise BadInput(
                f"{plural(len(found), 'column')} of releases identify participants.",
                remedy="Withdraw these releases; import the judgments into a new study and release that one.",
            )
        if not options["json"]:
            self.stdout.write(
                f"{plural(len(releases), 'release')} checked: no column identifies participants."
            )


def _personal_columns(release: Release, name: str) -> list[dict[str, Any]]:
    table = release_table(release, name)
    found = []
    for column in table.columns.drop(["sentence", "response", "good", "bad", "text"], errors="ignore"):
        cells = pd.Series(table[column].astype(str).unique())
        if column == "participant":
            words = words_like_names(cells)
            kinds = [
                kind for cell in cells if (kind := id_platform(cell) or ("name" if cell in words else ""))
            ]
            kind = ", ".join(sorted(set(kinds)))
        else:
            kind, kinds = personal_kind(str(column), cells), cells[cells != ""].tolist()
        if kind:
            place = f"{release.experiment.slug}-{release.number}"
            found.append(
                {"release": place, "file": name, "column": str(column), "kind": kind, "values": len(kinds)}
            )
    return found
