"""The lexicon of the generator: lexemes with features, selection and frozen forms. Without Django."""

from experiments.generation.lexicon.classes import ClassTree
from experiments.generation.lexicon.reading import Lexeme, Lexicon, Wanted, languages, read_lexicon

__all__ = ["ClassTree", "Lexeme", "Lexicon", "Wanted", "languages", "read_lexicon"]
