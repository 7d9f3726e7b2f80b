"""Materials from paradigms and the lexicon, for studies, demonstrations and tests. Without Django."""

from experiments.generation.demonstration import (
    PARADIGMS,
    acceptable_sentences,
    catch_pairs,
    minimal_pairs,
    whether_island_design,
)

__all__ = ["PARADIGMS", "acceptable_sentences", "catch_pairs", "minimal_pairs", "whether_island_design"]
