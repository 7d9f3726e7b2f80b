"""Other ways to cut a sentence into tokens, and estimates of its probability over all of them."""

import hashlib
import itertools
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...errors import BadInput

Floats = npt.NDArray[np.float64]
Ids = tuple[int, ...]
# Cost of a token in nats, by which samples are drawn: models prefer few tokens.
COST = 3.0


class Drawn(NamedTuple):
    """Segmentations of a sentence: its own, others, and how these were drawn.

    ``log_proposals`` has the log probability with which each of the others is drawn; None where they are all
    segmentations that there are.
    """

    own: Ids
    others: list[Ids]
    log_proposals: Floats | None


@dataclass(frozen=True)
class WordLattice:
    """All ways to compose a word of tokens of the vocabulary.

    ``edges[start]`` has the end and the token of each piece that begins there; ``mass[start]`` is the log of
    the sum of exp(−COST × tokens) over the ways from there to the end, and ``counts`` their number.
    """

    edges: list[list[tuple[int, int]]]
    mass: list[float]
    counts: list[int]

    def paths(self, start: int = 0) -> Iterator[Ids]:
        """Yield every way to the end of the word."""
        if start == len(self.edges):
            yield ()
        for end, token in self.edges[start] if start < len(self.edges) else ():
            for rest in self.paths(end):
                yield (token, *rest)

    def draw(self, rng: np.random.Generator) -> Ids:
        """Draw a way with a probability in proportion to exp(−COST × tokens)."""
        tokens, place = [], 0
        while place < len(self.edges):
            edges = [(end, token) for end, token in self.edges[place] if self.counts[end]]
            weights = np.exp([self.mass[end] - COST - self.mass[place] for end, _ in edges])
            place, token = edges[int(rng.choice(len(edges), p=weights / weights.sum()))]
            tokens.append(token)
        return tuple(tokens)


class Segmenter:
    """Segmentations of sentences by a tokenizer of subwords.

    Notes
    -----
    A segmentation joins tokens of the vocabulary to the text, as the tokenizer normalizes it, within the
    stretches that its pre-tokenizer makes (words with their space). Segmentations across these stretches are
    left out: byte-level tokenizers never make them, and models have not seen them.

    Raises
    ------
    BadInput
        If the pieces of the tokenizer cannot be joined to words: no fast tokenizer, or pieces that mark the
        end of a word.
    """

    def __init__(self, tokenizer: Any) -> None:
        backend = getattr(tokenizer, "backend_tokenizer", None)
        model = {} if backend is None else json.loads(backend.to_str())["model"]
        if backend is None or model.get("end_of_word_suffix"):
            raise BadInput(
                "the tokenizer's pieces cannot be joined to other segmentations.",
                column="tokenizations",
                remedy="Use tokenizations=own, or a model with a byte-level, unigram or WordPiece tokenizer.",
            )
        self.backend = backend
        added = {token.content for token in backend.get_added_tokens_decoder().values()}
        self.vocabulary = {piece: token for piece, token in backend.get_vocab().items() if piece not in added}
        self.inner = model.get("continuing_subword_prefix") or ""
        self.longest = max(map(len, self.vocabulary), default=0)
        self.lattice = lru_cache(maxsize=10_000)(self._lattice)

    def draw(self, text: str, own: Ids, *, n_samples: int, seed: int) -> Drawn | None:
        """Return all other segmentations of a text if there are at most so many, else samples of them.

        None where the tokenizer's own tokens are no segmentation: unknown characters, bytes in place of
        characters, marks in the text.
        """
        lattices = [self.lattice(word) for word in self._words(text)]
        n_all = math.prod(lattice.counts[0] for lattice in lattices)
        if not self._has(lattices, own):
            return None
        if n_all - 1 <= n_samples:
            every = (
                sum(parts, ()) for parts in itertools.product(*(list(each.paths()) for each in lattices))
            )
            return Drawn(own, [ids for ids in every if ids != own], None)
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
        rng = np.random.default_rng([seed, *digest[:8]])  # the same in every batch and on every worker
        drawn: list[Ids] = []
        while len(drawn) < n_samples:
            ids: Ids = sum((each.draw(rng) for each in lattices), ())
            if ids != own:  # which is known, so that drawing it would tell nothing
                drawn.append(ids)
        mass = sum(lattice.mass[0] for lattice in lattices)
        mass += math.log1p(-math.exp(-COST * len(own) - mass))
        return Drawn(own, drawn, np.array([-COST * len(ids) - mass for ids in drawn]))

    def _words(self, text: str) -> list[str]:
        normalizer, pre_tokenizer = self.backend.normalizer, self.backend.pre_tokenizer
        text = text if normalizer is None else normalizer.normalize_str(text)
        return [text] if pre_tokenizer is None else [word for word, _ in pre_tokenizer.pre_tokenize_str(text)]

    def _has(self, lattices: Sequence[WordLattice], ids: Ids) -> bool:
        """Return whether ids are a way through the lattices."""
        place, word = 0, 0
        for token in ids:
            if word == len(lattices):
                return False
            ends = [end for end, piece in lattices[word].edges[place] if piece == token]
            if not ends:
                return False
            place = ends[0]
            if place == len(lattices[word].edges):
                place, word = 0, word + 1
        return word == len(lattices) and place == 0

    def _lattice(self, word: str) -> WordLattice:
        edges = [
            [
                (end, self.vocabulary[piece])
                for end in range(start + 1, min(len(word), start + self.longest) + 1)
                if (piece := (self.inner if start else "") + word[start:end]) in self.vocabulary
            ]
            for start in range(len(word))
        ]
        mass, counts = [-math.inf] * len(word) + [0.0], [0] * len(word) + [1]
        for start in reversed(range(len(word))):
            onward = [end for end, _ in edges[start] if counts[end]]
            counts[start] = sum(counts[end] for end in onward)
            if onward:
                mass[start] = float(np.logaddexp.reduce([mass[end] - COST for end in onward]))
        return WordLattice(edges, mass, counts)


def marginal_logprob(own: float, others: Floats, drawn: Drawn) -> tuple[float, float]:
    """Return the log probability of a text over its segmentations, and its standard error.

    Parameters
    ----------
    own : float
        Log probability of the tokenizer's own segmentation, in nats.
    others : array of float
        Log probabilities of ``drawn.others``.
    drawn : Drawn
        The segmentations.

    Returns
    -------
    tuple of float
        log p and its standard error, 0 where all segmentations were summed.

    Notes
    -----
    p(text) = p(own) + Σ p(other). Where the others are drawn from q, their sum is estimated without bias by
    the mean of p(drawn) / q(drawn); its logarithm is slightly too low. The standard error of the logarithm
    is that of the sum divided by p(text).

    References
    ----------
    Cao & Rimell (2021), "You should evaluate your language model on marginal likelihood over tokenisations",
    EMNLP. Chirkova, Kruszewski, Rozen & Dymetman (2023), "Should you marginalize over possible
    tokenizations?", ACL. Both estimate the sum by importance sampling.
    """
    if drawn.log_proposals is None:
        return float(np.logaddexp.reduce([own, *others])), 0.0
    weights = np.exp(others - drawn.log_proposals - own)  # in units of p(own)
    total = 1.0 + weights.mean()
    return own + float(np.log(total)), float(weights.std(ddof=1) / np.sqrt(len(weights)) / total)
