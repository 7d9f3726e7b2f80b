"""Materials from templates and the project's lexicon, for demonstrations and tests. Without Django."""

from experiments.generation.corpus import acceptable_sentences
from experiments.generation.demo_pairs import PARADIGMS, catch_pairs, minimal_pairs
from experiments.generation.islands import whether_island_design
from experiments.generation.vocabulary import Lexicon, load_lexicon

__all__ = [
    "PARADIGMS",
    "Lexicon",
    "acceptable_sentences",
    "catch_pairs",
    "load_lexicon",
    "minimal_pairs",
    "whether_island_design",
]
