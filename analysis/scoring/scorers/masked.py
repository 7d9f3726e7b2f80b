"""Scorer of masked language models by pseudo-log-likelihood: ``hf-masked:NAME`` or ``hf-masked:FOLDER``.

Masked copies of sentences, the inputs of a pseudo-log-likelihood.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from ...errors import BadInput
from ..base import Progress, Scores
from ..model_uri import SPACE, ModelURI, Option
from ..neural.failures import Failures, refuse_unrunnable
from ..neural.texts import Encoded, encode
from ..neural.vocabulary import n_rows, outer_marks
from ..words.tokens import WORD_RULES, phrase_software
from .transformer import TOKEN_OPTIONS, TransformerScorer

METHODS = ("pll", "pll-l2r")


@dataclass
class MaskedCopies:
    """Distinct copies, and the copies of each sentence.

    ``copies`` maps token ids with masks, the masked position and its token to the number of the copy; ``of``
    lists the copies of each sentence in the order of its tokens.
    """

    copies: dict[tuple[tuple[int, ...], int, int], int] = field(default_factory=dict)
    of: list[list[int]] = field(default_factory=list)


def masked_copies(
    ids: Sequence[Sequence[int]],
    words: Sequence[Sequence[int | None]],
    *,
    mask: int,
    method: str = "pll",
) -> MaskedCopies:
    """Make one masked copy per token of each sentence; equal copies are made once.

    Notes
    -----
    ``pll`` overrates words of several tokens, whose later pieces reveal the earlier ones. ``words`` are the
    numbers of the tokens' words, None for tokens that are not scored.

    References
    ----------
    Salazar et al. (2020), "Masked language model scoring", ACL. Kauf & Ivanova (2023), "A better way to do
    masked language model scoring", ACL.

    Examples
    --------
    >>> masked = masked_copies([[1, 7, 8, 2]], [[None, 0, 0, None]], mask=9, method="pll-l2r")
    >>> list(masked.copies), masked.of
    ([((1, 9, 9, 2), 1, 7), ((1, 7, 9, 2), 2, 8)], [[0, 1]])
    """
    masked = MaskedCopies()
    for tokens, word in zip(ids, words, strict=True):
        numbers = []
        for position, token in enumerate(tokens):
            if word[position] is None:
                continue
            copy = list(tokens)
            for hidden in _hidden(word, position, method):
                copy[hidden] = mask
            key = (tuple(copy), position, token)
            numbers.append(masked.copies.setdefault(key, len(masked.copies)))
        masked.of.append(numbers)
    return masked


def _hidden(word: Sequence[int | None], position: int, method: str) -> Iterable[int]:
    """Positions that a copy masks."""
    yield position
    if method == "pll-l2r":
        later = position + 1
        while later < len(word) and word[later] is not None and word[later] == word[position]:
            yield later
            later += 1


if TYPE_CHECKING:
    from ..neural.masked_paths import Copy
    from ..neural.probe import Chosen

Floats = npt.NDArray[np.float64]
METHOD = Option(
    "method",
    "Masked models",
    "“pll-l2r” masks the later pieces of a word too; “pll” is the original.",
    METHODS,
    default="pll-l2r",
)
WORDS = Option(
    "words",
    "Words of masked models",
    "For pll-l2r: what is between white space, and each character of scripts without spaces; “punctuation” "
    "separates punctuation marks too, as BERT’s tokenizer does; “phrases-…” takes BudouX’s phrases of "
    "Japanese, Chinese (simplified, traditional) or Thai instead of characters.",
    WORD_RULES,
)
SHARD = 2_000  # sentences whose masked copies are in memory at once


class MaskedScorer(TransformerScorer):
    """PLL(sentence) = Σ log p(token | the sentence with that token masked); its marks are not scored."""

    OPTIONS: ClassVar[tuple[Option, ...]] = (METHOD, WORDS, SPACE, *TOKEN_OPTIONS)
    end: int | None = None  # the end of a sentence is not scored
    AUTO_CLASS = "AutoModelForMaskedLM"
    PREFIX = ""  # before the method's name

    def __init__(self, uri: ModelURI) -> None:
        options, loaded = self._open(uri)
        self.space = options["space"] == "yes"
        self.mask, self.method = self._mask(options, uri.target), options["method"]
        self.word_rule = options["words"] if self.method == "pll-l2r" else ""
        if self.word_rule and not self.tokenizer.is_fast:
            raise BadInput(
                f"the tokenizer of {uri.target!r} does not give the characters of its tokens, by which "
                "pll-l2r finds their words.",
                remedy="Add method=pll to the model URI, or use a model with a fast tokenizer.",
            )
        software = phrase_software(self.word_rule)
        before, after = self._marks()
        refuse_unrunnable(self.model, [*before, self.mask, *after], uri.target)
        self.chosen: Chosen[Any] | None = None
        self.spec = self._build_spec(
            uri,
            loaded,
            method=self.PREFIX + self.method,
            bos=True,
            eos=True,
            options={
                "space": options["space"],
                **({"words": self.word_rule} if self.word_rule else {}),
                **software,
            },
        )

    @property
    def why(self) -> str:
        """The path through the model, and the reason for it."""
        return "" if self.chosen is None else self.chosen.why

    def score(
        self,
        sentences: Sequence[str],
        *,
        ids: Sequence[str] | None = None,
        tokens: bool = False,
        progress: Progress | None = None,
    ) -> Scores:
        """Score sentences, distinct masked copies once; what cannot be scored is NaN and flagged."""
        return self._score(sentences, tokens=tokens, starts=None, progress=progress)

    def score_after(
        self, texts: Sequence[str], starts: Sequence[int], *, progress: Progress | None = None
    ) -> Scores:
        """Score only the tokens that reach behind a character of each text, as single tokens."""
        return self._score(texts, tokens=True, starts=starts, progress=progress)

    def _score(
        self,
        sentences: Sequence[str],
        *,
        tokens: bool,
        starts: Sequence[int] | None,
        progress: Progress | None,
    ) -> Scores:
        encoded = self._encode(sentences)
        if starts is not None:
            encoded = encoded.after(starts)
        scored = [
            [token for token, word in zip(row, words, strict=True) if word is not None]
            for row, words in zip(encoded.ids, encoded.words, strict=True)
        ]
        failures, logprobs = Failures(self.warnings), list[Floats]()
        for start in range(0, len(encoded.ids), SHARD):
            logprobs += self._logprobs(encoded, range(start, min(start + SHARD, len(encoded.ids))), failures)
            if progress is not None:
                progress(min(SHARD, len(encoded.ids) - start))
        is_failed = [index in failures.reasons for index in range(len(sentences))]
        return self._columns(
            sentences,
            logprobs,
            encoded=encoded,
            scored=scored,
            flags=encoded.flags | failures.flags(sentences, is_failed),
            spans=encoded.spans,
            tokens=tokens,
        )

    def _encode(self, sentences: Sequence[str]) -> Encoded:
        before, after = self._marks()
        return encode(
            self.tokenizer,
            sentences,
            lower=self.lower,
            space=self.space,
            max_tokens=max(0, self.max_tokens - len(before) - len(after)),
            n_rows=n_rows(self.model),
            word_rule=self.word_rule,
        )

    def _logprobs(self, encoded: Encoded, indices: range, failures: Failures) -> list[Floats]:
        from ..neural.masked_paths import token_logprobs

        usable = [index for index in indices if encoded.is_scorable[index]]
        before, after = self._marks()

        def run(places: Sequence[int]) -> list[Floats]:
            ids = [[*before, *encoded.ids[index], *after] for index in places]
            words = [
                [*(None for _ in before), *encoded.words[index], *(None for _ in after)] for index in places
            ]
            masked = masked_copies(ids, words, mask=self.mask, method=self.method)
            copies = list(masked.copies)
            if not copies:
                return [np.empty(0) for _ in places]
            self.chosen = self.chosen or self._choose(copies)
            values = token_logprobs(self.chosen.path, copies)
            return [values[numbers] for numbers in masked.of]

        rows = dict(zip(usable, failures.run(run, usable, missing=np.empty(0)), strict=True))
        return [rows.get(index, np.empty(0)) for index in indices]

    def _choose(self, copies: "Sequence[Copy]") -> "Chosen[Any]":
        """Return the path to use for copies, tested on some of them."""
        from ..neural.masked_paths import choose_masked_path

        return choose_masked_path(self.model, copies)

    def _mask(self, options: dict[str, str], name: str) -> int:
        """Return the token that masks others."""
        if self.tokenizer.mask_token_id is None:
            raise BadInput(f"{name!r} has no mask token.", remedy="Use hf-causal: for causal models.")
        return int(self.tokenizer.mask_token_id)

    def _marks(self) -> tuple[list[int], list[int]]:
        """Return the marks that the tokenizer adds before and after a sentence."""
        return outer_marks(self.tokenizer)
