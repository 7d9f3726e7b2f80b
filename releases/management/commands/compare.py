"""``manage.py compare``: compare models with participants, from files."""

from typing import TYPE_CHECKING, Any

from analysis.command_line.models.compare import FileComparison
from analysis.errors import BadInput
from config.commands import ContractCommand
from experiments.studies.creation import find_materials

if TYPE_CHECKING:
    import pandas as pd


class Command(FileComparison, ContractCommand):
    """Compare models with participants; only ``--materials`` reads the database."""

    example = (
        "manage.py compare --human human.csv --pairs pairs.csv --scores trigram.csv gpt2.csv "
        "--judgments judgments.csv --delta 0.5 1 5 --in-depth --models models.csv --json"
    )

    def add_pair_sources(self, source: Any) -> None:
        """Add the name of a stored material set."""
        source.add_argument("--materials", metavar="NAME", help="the pairs of a stored material set instead")

    def pairs(self, options: dict[str, Any]) -> "pd.DataFrame":
        """The pairs of the file or of the stored set."""
        return stored_pairs(options["materials"]) if options["materials"] else super().pairs(options)

    def media_columns(self, options: dict[str, Any]) -> list[str]:
        """Return the columns of a stored set that name files of sound or picture."""
        from releases.material_frames import media_of_sentences

        return media_of_sentences(find_materials(options["materials"])) if options["materials"] else []


def stored_pairs(name: str) -> "pd.DataFrame":
    """The pairs of a stored material set, with all fields of their source."""
    import pandas as pd

    from releases.material_frames import pair_frame

    pairs = pair_frame(find_materials(name))
    if pairs.empty:
        raise BadInput(f"the materials {name!r} hold no minimal pairs.", remedy="Give a file with --pairs.")
    rows = pairs.drop(columns="fields").to_dict("records")
    return pd.DataFrame([(fields or {}) | row for fields, row in zip(pairs["fields"], rows, strict=True)])
