"""Scorer that reads the output of minicons, saved as JSON: ``minicons:PATH?sentences=FILE``."""

import json
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ...errors import BadInput
from ..base import Progress, Scores, Spec, file_revision, looked_up_scores
from ..model_uri import ModelURI, Option, parse_options

SENTENCES = Option("sentences", placeholder="FILE")
VALUE = Option("value", values=("logprob", "surprisal"))
BASE = Option("base", values=("e", "2"))
REDUCTION = Option("reduction", values=("mean", "sum"), default="")
MARK = re.compile(r"<[^<>]+>|\[[A-Z]+\]")  # a token that is no text, such as </s> and [CLS]
SAVE = "Save it in Python: json.dump(lm.token_score(sentences), open('tokens.json', 'w'))."


class MiniconsScorer:
    """Looks up sentences in a list that minicons returned, beside the file of its sentences, one in a line.

    An entry of ``token_score`` is a list of tokens with their scores, which are added. minicons writes 0.0
    for a first token that it has not scored, or for the mark before it; neither is counted, and a sentence
    without any scored token has no score. An entry of ``sequence_score`` is a number, taken as it is;
    ``reduction`` names what it is of the tokens, by default of minicons their mean. ``value=surprisal``
    negates, ``base=2`` turns bits into nats.
    """

    OPTIONS = (SENTENCES, VALUE, BASE, REDUCTION)
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
        is_tokens = any(isinstance(entry, list) for entry in entries)
        if not is_tokens and not options["reduction"]:
            raise BadInput(
                "the scores are numbers, which do not show whether the tokens were added or averaged.",
                file=self.file,
                remedy="Add &reduction=mean (the default of sequence_score) or &reduction=sum.",
            )
        self.logprobs: dict[str, float] = {}
        self.n_tokens: dict[str, int] = {}
        self.unscored_first: set[str] = set()
        for number, (sentence, entry) in enumerate(zip(sentences, entries, strict=True), start=1):
            summed = _sum(entry, self.file, number, is_negated=sign < 0)
            self.logprobs[sentence] = sign * unit * summed.value
            self.n_tokens[sentence] = len(sentence.split()) if summed.n_tokens is None else summed.n_tokens
            if summed.lacks_first:
                self.unscored_first.add(sentence)
        self.warnings = self._warnings(options["reduction"] if not is_tokens else "")
        self.spec = Spec(
            uri=uri.uri,
            revision=file_revision(uri.target),
            method="csv",
            tokens="model" if is_tokens else "space",
            bos=not self.unscored_first,
            options={} if is_tokens else {"reduction": options["reduction"]},
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
        return looked_up_scores(
            sentences,
            self.logprobs,
            n_tokens=self.n_tokens,
            unscored_first=self.unscored_first,
            progress=progress,
        )

    def _warnings(self, reduction: str) -> list[str]:
        """Return what the file shows of the way in which its sentences were scored."""
        warnings = []
        if reduction == "mean":
            warnings.append("the scores are means over tokens; other measures than lp mean nothing")
        if n := len(self.unscored_first):
            warnings.append(
                f"the first token of {n:,} of {len(self.logprobs):,} sentences has the score 0.0, with which "
                "minicons marks that it was not scored; it is not counted. token_score(…, bos_token=True) "
                "scores it"
            )
        if n := sum(math.isnan(value) for value in self.logprobs.values()):
            warnings.append(f"{n:,} sentences have no scored token and therefore no score")
        return warnings


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


class _Summed(NamedTuple):
    """The score of an entry; its scored tokens, None for a number; whether the first token has no score."""

    value: float
    n_tokens: int | None
    lacks_first: bool


def _sum(entry: Any, file: str, number: int, *, is_negated: bool) -> _Summed:
    """Return the score of an entry and what was counted."""
    try:
        if isinstance(entry, list):  # (token, score), or with a rank after it
            scores = [float(token[1]) for token in entry]
            is_unscored = bool(scores) and scores[0] == 0
            lacks_first = is_unscored and not MARK.fullmatch(str(entry[0][0]).strip())
            scores = scores[is_unscored:]
            summed = _Summed(math.fsum(scores) if scores else math.nan, len(scores), lacks_first)
        else:
            scores, summed = [float(entry)], _Summed(float(entry), None, lacks_first=False)
    except (TypeError, ValueError, IndexError) as error:
        message = "the entry is neither a number nor a list of tokens with scores."
        raise BadInput(message, file=file, row=number, remedy=SAVE) from error
    for score in scores:
        if not math.isfinite(score):
            raise BadInput(f"{score} is no score.", file=file, row=number, remedy=SAVE)
        if score < 0 if is_negated else score > 0:
            raise BadInput(
                f"{score:g} is no {'surprisal' if is_negated else 'log probability'}.",
                file=file,
                row=number,
                remedy="Use value=logprob (the default of minicons) or value=surprisal, and prob=False.",
            )
    return summed
