"""``manage.py train_ngram``: train an n-gram model on a text and write it as an ARPA file."""

from analysis.command_line.models.train_ngram import NgramTraining
from config.commands import ContractCommand


class Command(NgramTraining, ContractCommand):
    """Train an n-gram model; the file appears complete or not at all."""

    example = (
        "manage.py train_ngram corpus.txt --order 5 --casing lower --punctuation split --out model.arpa.gz"
    )
