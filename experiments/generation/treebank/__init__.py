"""Minimal pairs of agreement from treebanks of any language, by a user's table of inflections."""

from experiments.generation.treebank.pairs import Origin, treebank_pairs
from experiments.generation.treebank.relations import SHIPPED

__all__ = ["SHIPPED", "Origin", "treebank_pairs"]
