"""Scorer that reads the output of minicons, saved as JSON: ``minicons:PATH?sentences=FILE``."""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...errors import BadInput
from ..base import Progress, Scores, Spec, file_revision, looked_up_scores
from ..model_uri import ModelURI, Option, parse_options

SENTENCES = Option("sentences", placeholder="FILE")
VALUE = Option("value", values=("logprob", "surprisal"))
BASE = Option("base", values=("e", "2"))
SAVE = "Save it in Python: json.dump(lm.token_score(sentences), open('tokens.json', 'w'))."


class MiniconsScorer:
    """Looks up sentences in a list that minicons returned, beside the file of its sentences, one in a line.

    An entry of ``token_score`` is a list of tokens with their scores, which are added; one of
    ``sequence_score`` is a number, taken as it is (by default of minicons the mean of the tokens).
    ``value=surprisal`` negates, ``base=2`` turns bits into nats.
    """

    OPTIONS = (SENTENCES, VALUE, BASE)
    capabilities = frozenset({"sum"})
    key = "sentence"

    def __init__(self, uri: ModelURI) -> None:
        options = parse_options(uri, self.OPTIONS)
        self.file = uri.target
        if not options["sentences"]:
            raise BadInput(
                "the output of minicons has no sentences.",
                file=self.file,
                remedy="Name the file that was scored: minicons:tokens.json?sentences=sentences.txt.",
            )
        sign = -1.0 if options["value"] == "surprisal" else 1.0
        unit = math.log(2) if options["base"] == "2" else 1.0  # nats per stored unit
        entries, sentences = _entries(uri.target), _lines(options["sentences"])
        if len(entries) != len(sentences):
            raise BadInput(
                f"{len(entries)} scores are beside {len(sentences)} sentences in {options['sentences']}.",
                file=self.file,
                remedy="Name the file that was scored, with one sentence in each line.",
            )
        self.logprobs: dict[str, float] = {}
        self.n_tokens: dict[str, int] = {}
        for number, (sentence, entry) in enumerate(zip(sentences, entries, strict=True), start=1):
            value, n_tokens = _sum(entry, self.file, number)
            self.logprobs[sentence] = sign * unit * value
            self.n_tokens[sentence] = n_tokens or len(sentence.split())
        self.spec = Spec(
            uri=uri.uri,
            revision=file_revision(uri.target),
            method="csv",
            tokens="model" if any(isinstance(entry, list) for entry in entries) else "space",
        )

    def score(
        self,
        sentences: Sequence[str],
        *,
        ids: Sequence[str] | None = None,
        tokens: bool = False,
        progress: Progress | None = None,
    ) -> Scores:
        """Look up every sentence; the score of a sentence that was not scored is NaN."""
        return looked_up_scores(sentences, self.logprobs, n_tokens=self.n_tokens, progress=progress)


def _entries(file: str) -> list[Any]:
    try:
        document = json.loads(Path(file).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadInput(f"cannot be read as JSON: {error}.", file=file, remedy=SAVE) from error
    if not isinstance(document, list):
        raise BadInput("the document is no list with an entry for each sentence.", file=file, remedy=SAVE)
    return document


def _lines(file: str) -> list[str]:
    try:
        return [line.strip() for line in Path(file).read_text(encoding="utf-8").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"cannot be read: {error}.", file=file) from error


def _sum(entry: Any, file: str, number: int) -> tuple[float, int]:
    """Return the score of an entry and its number of tokens, 0 where the entry is a number."""
    try:
        if isinstance(entry, list):  # (token, score), or with a rank after it
            value, n_tokens = math.fsum(float(token[1]) for token in entry), len(entry)
        else:
            value, n_tokens = float(entry), 0
    except (TypeError, ValueError, IndexError) as error:
        message = "the entry is neither a number nor a list of tokens with scores."
        raise BadInput(message, file=file, row=number, remedy=SAVE) from error
    if not math.isfinite(value):
        raise BadInput(f"{value} is no score.", file=file, row=number, remedy=SAVE)
    return value, n_tokens
