"""What a scorer is, what it gives, and how it is found by its address."""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import entry_points
from pathlib import Path
from typing import NamedTuple, Protocol
from urllib.parse import parse_qsl

import numpy as np
import numpy.typing as npt

from analysis.errors import BadInput, UnknownName

GROUP = "obelus.scorers"
FLAG_EMPTY, FLAG_UNKNOWN, FLAG_TOO_LONG, FLAG_NORMALISED = 1, 2, 4, 8
FLAG_SAME, FLAG_NO_FIRST, FLAG_NOT_FINITE, FLAG_MARKED = 16, 32, 64, 128
FLAG_CUT = 256
FLAGS = {
    "empty": FLAG_EMPTY,
    "unknown tokens": FLAG_UNKNOWN,
    "too long for the model, not scored": FLAG_TOO_LONG,
    "normalised by the tokenizer": FLAG_NORMALISED,
    "indistinguishable from another sentence": FLAG_SAME,
    "first token not scored": FLAG_NO_FIRST,
    "score not finite": FLAG_NOT_FINITE,
    "white space at an end, or a mark of the model inside": FLAG_MARKED,
    "critical word begins inside a token": FLAG_CUT,
}

Progress = Callable[[int], None]


@dataclass(frozen=True)
class Spec:
    """Everything that may change a number; its digest names a scoring run."""

    uri: str
    revision: str
    method: str
    bos: bool = True
    eos: bool = False
    tokens: str = "model"
    casing: str = "as-is"
    punctuation: str = "keep"
    dtype: str = "float64"
    scorer_version: int = 1
    options: dict[str, str] = field(default_factory=dict)

    @property
    def spec_id(self) -> str:
        """SHA-256 of the canonical JSON of all fields."""
        text = json.dumps(asdict(self), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()


class Scores(NamedTuple):
    """Columns of equal length, one entry per sentence; log probabilities are natural.

    ``unigram_logprob`` sums the single tokens' log probabilities over the scored tokens. ``token_logprobs``
    and ``spans`` (first character and the one after the last) have one entry per scored token.
    """

    logprob: npt.NDArray[np.float64]
    n_tokens: npt.NDArray[np.int32]
    n_words: npt.NDArray[np.int32]
    n_chars: npt.NDArray[np.int32]
    n_unk: npt.NDArray[np.int32]
    flags: npt.NDArray[np.uint8] | npt.NDArray[np.uint16]
    unigram_logprob: npt.NDArray[np.float64] | None = None
    token_logprobs: list[npt.NDArray[np.float64]] | None = None
    spans: list[list[tuple[int, int]]] | None = None


def flag_counts(flags: npt.NDArray[np.uint8] | npt.NDArray[np.uint16]) -> dict[str, int]:
    """Count the sentences of each flag.

    Parameters
    ----------
    flags : ndarray
        From :class:`Scores`.

    Returns
    -------
    dict of str to int
        By the flag's words; flags of no sentence are not in it.

    Examples
    --------
    >>> flag_counts(np.array([FLAG_EMPTY, 0, FLAG_EMPTY + FLAG_UNKNOWN], dtype=np.uint8))
    {'empty': 2, 'unknown tokens': 1}
    """
    wide = flags.astype(np.uint16)
    return {name: n for name, flag in FLAGS.items() if (n := int(np.count_nonzero(wide & flag)))}


class Scorer(Protocol):
    """Gives sentences their log probabilities."""

    spec: Spec
    capabilities: frozenset[str]

    def score(
        self,
        sentences: Sequence[str],
        *,
        ids: Sequence[str] | None = None,
        tokens: bool = False,
        progress: Progress | None = None,
    ) -> Scores:
        """Score sentences; ``ids`` serve scorers that look scores up, ``tokens`` asks for each token's."""
        ...


class ScorerAddress(NamedTuple):
    """A scorer's address taken apart: ``kind:target?option=value``."""

    kind: str
    target: str
    options: dict[str, str]

    @property
    def uri(self) -> str:
        """The address without its options."""
        return f"{self.kind}:{self.target}"


Maker = Callable[[ScorerAddress], Scorer]


def parse_address(uri: str) -> ScorerAddress:
    """Take a scorer's address apart.

    Parameters
    ----------
    uri : str
        ``kind:target`` with options after a question mark.

    Returns
    -------
    ScorerAddress
        Kind, target and options.

    Raises
    ------
    BadInput
        If there is no kind or no target, or an option has no value.

    Examples
    --------
    >>> parse_address("arpa:model.arpa.gz?casing=lower")
    ScorerAddress(kind='arpa', target='model.arpa.gz', options={'casing': 'lower'})
    """
    kind, colon, rest = uri.partition(":")
    target, _, query = rest.partition("?")
    if not colon or not kind or not target:
        raise BadInput(
            f"{uri!r} is no model's address.", remedy="Write kind:target, such as arpa:model.arpa."
        )
    try:
        options = dict(parse_qsl(query, strict_parsing=True, keep_blank_values=True)) if query else {}
    except ValueError as error:
        raise BadInput(
            f"the options {query!r} cannot be read.", remedy="Write name=value&name=value."
        ) from error
    return ScorerAddress(kind, target, options)


def open_scorer(uri: str, *, built_in: dict[str, Maker]) -> Scorer:
    """Make the scorer that an address names.

    Parameters
    ----------
    uri : str
        Such as ``arpa:model.arpa?casing=lower`` or ``csv:scores.csv``.
    built_in : dict of str to callable
        Makers of our own kinds; installed packages offer others in the entry-point group
        ``obelus.scorers``.

    Returns
    -------
    Scorer
        Ready to score.

    Raises
    ------
    UnknownName
        If nothing offers the kind; near names are suggested.
    BadInput
        If the address or what it points to cannot be read, or the package that offers the kind is broken.

    See Also
    --------
    analysis.scoring.scorer : The same with the built-in scorers.
    """
    address = parse_address(uri)
    if address.kind in built_in:
        return built_in[address.kind](address)
    offered = {point.name: point for point in entry_points(group=GROUP)}
    if address.kind not in offered:
        raise UnknownName("kind of model", address.kind, sorted({*built_in, *offered}))
    point = offered[address.kind]
    try:
        maker: Maker = point.load()
    except (ImportError, AttributeError) as error:
        raise BadInput(
            f"the package that offers {address.kind}: cannot be imported: {error}.",
            remedy=f"Install it anew, or take {point.value} out of the environment.",
        ) from error
    return maker(address)


def take_options(address: ScorerAddress, *known: str) -> dict[str, str]:
    """Give an address's options after checking their names.

    Parameters
    ----------
    address : ScorerAddress
        The address.
    *known : str
        Options that the scorer has.

    Returns
    -------
    dict of str to str
        The options.

    Raises
    ------
    UnknownName
        If an option is not known; near names are suggested.
    """
    for name in address.options:
        if name not in known:
            raise UnknownName(f"option of {address.kind}", name, known)
    return address.options


def read_flag(address: ScorerAddress, name: str, *, default: bool) -> bool:
    """Read a yes-or-no option.

    Parameters
    ----------
    address : ScorerAddress
        The address.
    name : str
        The option.
    default : bool
        What holds without it.

    Returns
    -------
    bool
        The choice.

    Raises
    ------
    BadInput
        If the value is neither yes nor no.
    """
    word = address.options.get(name, "yes" if default else "no").lower()
    if word not in ("yes", "no", "true", "false", "1", "0"):
        raise BadInput(f"option {name} of {address.uri} must be yes or no, got {word!r}.")
    return word in ("yes", "true", "1")


def file_revision(path: str | Path) -> str:
    """Give the SHA-256 of a file, so that a score can be traced to the very model.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    str
        ``sha256:`` and 64 hexadecimal digits.

    Raises
    ------
    BadInput
        If there is no such file.
    """
    try:
        with Path(path).open("rb") as content:
            return f"sha256:{hashlib.file_digest(content, 'sha256').hexdigest()}"
    except OSError as error:
        raise BadInput("there is no such file.", file=str(path)) from error
