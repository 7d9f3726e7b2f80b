"""Cut a sentence into the tokens a model was trained on."""

import re
from dataclasses import dataclass

from analysis.errors import UnknownName

UNITS = ("space", "chars")
CASINGS = ("as-is", "lower")
PUNCTUATION = ("keep", "split", "drop")

_WORD_OR_MARK = re.compile(r"\w+(?:[^\w\s]+\w+)*|[^\w\s]")
_HAS_LETTER = re.compile(r"\w")


@dataclass(frozen=True)
class Tokenization:
    """How text becomes tokens.

    ``unit``: ``space`` (what stands between white space) or ``chars`` (every character but white space).
    ``casing``: ``as-is`` or ``lower``. ``punctuation``: ``keep`` leaves "park." one token, ``split`` makes
    it "park" and ".", ``drop`` makes it "park"; marks inside a word ("don't", "well-known") stay.
    """

    unit: str = "space"
    casing: str = "as-is"
    punctuation: str = "keep"

    def __post_init__(self) -> None:
        for what, name, known in (
            ("token unit", self.unit, UNITS),
            ("casing", self.casing, CASINGS),
            ("way with punctuation", self.punctuation, PUNCTUATION),
        ):
            if name not in known:
                raise UnknownName(what, name, known)

    def tokens(self, sentence: str) -> list[str]:
        """Cut one sentence.

        Examples
        --------
        >>> Tokenization(casing="lower", punctuation="split").tokens("She didn't see the park.")
        ['she', "didn't", 'see', 'the', 'park', '.']
        >>> Tokenization(unit="chars").tokens("他 走 了")
        ['他', '走', '了']
        """
        text = sentence.lower() if self.casing == "lower" else sentence
        pieces = text.split() if self.punctuation == "keep" else _WORD_OR_MARK.findall(text)
        if self.punctuation == "drop":
            pieces = [piece for piece in pieces if _HAS_LETTER.search(piece)]
        return pieces if self.unit == "space" else list("".join(pieces))
