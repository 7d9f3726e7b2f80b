"""``manage.py perplexity``: how well a model predicts a text."""

from analysis.command_line.models.perplexity import PerplexityOfText
from config.commands import ContractCommand


class Command(PerplexityOfText, ContractCommand):
    """Compute the perplexity of a model on a text."""

    example = "manage.py perplexity hf-causal:gpt2 corpus.txt --stride 512 --json"
