"""``manage.py score``: score every sentence of a material set or a file with a model."""

from typing import Any

from analysis.command_line.models.score_options import ScoreOptions
from config.commands import ContractCommand


class Command(ScoreOptions, ContractCommand):
    """Score sentences; only ``--materials`` reads the database, and stores scores for the next run."""

    example = (
        "manage.py score 'arpa:trigram.arpa?casing=lower&punctuation=split' --sentences sentences.csv "
        "--method lp slor --to scores.csv"
    )

    def add_sentence_sources(self, source: Any) -> None:
        """Add the name of a stored material set."""
        source.add_argument("--materials", metavar="NAME", help="a stored material set")

    def run(self, **options: Any) -> None:
        """Score with the model."""
        from releases.management.stored_scoring import StoredScoring

        StoredScoring(self.stdout, self.stderr).run(**options)
