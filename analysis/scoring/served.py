"""Served models, ``openai:http://host/v1#model``: the server echoes prompts with their probabilities."""

import json
import os
import time
from collections.abc import Sequence
from typing import Any, NamedTuple
from urllib.error import HTTPError, URLError
from urllib.parse import urlparse
from urllib.request import Request, urlopen

import numpy as np
import numpy.typing as npt

from analysis.errors import BadInput, UnknownName
from analysis.scoring.base import (
    FLAG_EMPTY,
    FLAG_NO_FIRST,
    FLAG_NOT_FINITE,
    Progress,
    ScorerAddress,
    Scores,
    Spec,
    read_flag,
    take_options,
)
from analysis.scoring.neural.loading import open_tokenizer
from analysis.scoring.neural.texts import encode
from analysis.scoring.neural.vocabulary import begin_mark, tokenizer_digest

OPTIONS = ("start", "space", "batch", "tokenizer", "bos")
MARKS = ("auto", "bos", "eos", "none")
PROBED, TOLERANCE = 3, 1e-3
KEY = "OPENAI_API_KEY"
ATTEMPTS, FIRST_WAIT_S, TIMEOUT_S = 5, 0.5, 300
Floats = npt.NDArray[np.float64]


class ServedScorer:
    """log p(sentence) from a server that echoes a prompt with the log probability of its every token.

    Options: ``start`` (text put before each sentence, such as the model's beginning mark; its tokens do not
    count), ``space=yes``, ``batch`` (sentences in one request), ``tokenizer`` (a folder or a name of the hub:
    sentences are cut here and sent as numbers of tokens, after the mark that ``bos`` names as for
    ``hf-causal:``). The key, where a server wants one, is read from the environment variable
    ``OPENAI_API_KEY``. Without ``start`` or a mark a server gives the first token no probability; every
    result then says so. Before the first sentences are scored, a few are asked for twice: a server whose
    cache of prefixes changes or swallows probabilities is refused.

    Notes
    -----
    Served chat models cannot give the probability of a given text. A server may run another version of the
    model tomorrow: the specification holds only what the server calls it. Text is cut by the server, which
    may put a beginning mark of its own before it; numbers of tokens are taken as they are.
    """

    capabilities = frozenset({"sum", "tokens", "conditional"})

    def __init__(self, address: ScorerAddress) -> None:
        options = take_options(address, *OPTIONS)
        self.base, _, self.model = address.target.partition("#")
        if urlparse(self.base).scheme not in ("http", "https") or not self.model:
            raise BadInput(
                f"{address.target!r} is no served model.", remedy="Write openai:http://host/v1#model."
            )
        self.start = options.get("start", "")
        self.space = read_flag(address, "space", default=False)
        self.batch = _size(options.get("batch", "16"))
        self.cutter = _cutter(address, options, start=self.start, space=self.space)
        self.why, self._is_probed = "", False
        self.spec = Spec(
            uri=address.uri,
            revision="as served",
            method="ll",
            bos=bool(self.start) or (self.cutter is not None and self.cutter.start is not None),
            dtype="as served",
            options={
                "start": self.start,
                "space": "yes" if self.space else "no",
                "tokenizer": self.cutter.sha if self.cutter else "the server's",
                "mark": self.cutter.name if self.cutter else "",
            },
        )

    def score(
        self,
        sentences: Sequence[str],
        *,
        ids: Sequence[str] | None = None,
        tokens: bool = False,
        progress: Progress | None = None,
    ) -> Scores:
        """Score sentences, each distinct one once."""
        distinct = [one for one in dict.fromkeys(sentences) if one.strip()]
        self._probe(distinct)
        found: dict[str, _Echo] = {}
        for start in range(0, len(distinct), self.batch):
            group = distinct[start : start + self.batch]
            found.update(zip(group, self._asked(group), strict=True))
            if progress is not None:
                progress(len(group))
        rows = [found.get(one, _Echo(np.empty(0), [], 0)) for one in sentences]
        sums = np.array([row.logprob.sum() if len(row.logprob) else np.nan for row in rows])
        flags = np.array([FLAG_EMPTY * (not one.strip()) for one in sentences], dtype=np.uint8)
        flags |= np.where(~np.isfinite(sums) & (flags == 0), FLAG_NOT_FINITE, 0).astype(np.uint8)
        flags |= np.array([FLAG_NO_FIRST * (row.left_out > 0) for row in rows], dtype=np.uint8)
        return Scores(
            np.where(np.isfinite(sums), sums, np.nan),
            np.array([len(row.logprob) + row.left_out for row in rows], dtype=np.int32),
            np.array([len(one.split()) for one in sentences], dtype=np.int32),
            np.array([len(one) for one in sentences], dtype=np.int32),
            np.zeros(len(sentences), dtype=np.int32),
            flags,
            None,
            [row.logprob for row in rows] if tokens else None,
            [row.spans for row in rows] if tokens else None,
        )

    def _probe(self, distinct: Sequence[str]) -> None:
        """Ask for a few sentences twice, the second time with what they begin already known to the server."""
        tried = list(distinct[:PROBED])
        if self._is_probed or not tried:
            return
        first = [self._asked([one])[0].logprob for one in tried]
        again = [one.logprob for one in self._asked(tried)]
        for sentence, one, other in zip(tried, first, again, strict=True):
            apart = np.abs(one - other).max(initial=0.0) if len(one) == len(other) else np.inf
            if not apart < TOLERANCE and np.isfinite(one).all():
                raise BadInput(
                    f"asked twice for {sentence!r}, the server gives other probabilities (by {apart:.1g}).",
                    file=self.base,
                    remedy="Switch its cache of prefixes off (vLLM: --no-enable-prefix-caching), or batch=1.",
                )
        self._is_probed = True
        self.why = f"{len(tried)} sentences asked twice agree within {TOLERANCE}"

    def _asked(self, sentences: Sequence[str]) -> list["_Echo"]:
        """Log probabilities of each sentence's tokens."""
        if self.cutter is not None:
            return self._asked_by_number(sentences, self.cutter)
        lead = self.start + (" " if self.space else "")
        prompts = [lead + one for one in sentences]
        said = self._echoes(prompts)
        before = len(self.start)
        return [
            self._read(
                one, _offsets(one, prompt, self.base), before=before, shift=len(lead), until=len(prompt)
            )
            for one, prompt in zip(said, prompts, strict=True)
        ]

    def _asked_by_number(self, sentences: Sequence[str], cutter: "_Cutter") -> list["_Echo"]:
        ids, spans = cutter.cut(sentences)
        marks = [] if cutter.start is None else [cutter.start]
        found = []
        for row, characters, one in zip(
            ids, spans, self._echoes([[*marks, *row] for row in ids]), strict=True
        ):
            n = len(marks) + len(row)
            if not n <= len(one["token_logprobs"]) <= n + 1:
                raise BadInput(
                    f"{n} tokens were sent, the server gives probabilities of {len(one['token_logprobs'])}.",
                    file=self.base,
                    remedy="It has to take numbers of tokens as prompts; leave the option tokenizer out.",
                )
            offsets = [*(-1 for _ in marks), *range(len(row)), len(row)]
            read = self._read(one, offsets, before=0, shift=0, until=len(row))
            found.append(read._replace(spans=characters[read.left_out :]))
        return found

    def _echoes(self, prompts: Sequence[Any]) -> list[dict[str, Any]]:
        body = {"model": self.model, "prompt": prompts, "max_tokens": 1, "echo": True, "logprobs": 1}
        answer = self._send({**body, "temperature": 0})
        choices = sorted(answer.get("choices", []), key=lambda one: one.get("index", 0))
        said = [one.get("logprobs") or {} for one in choices]
        if len(said) != len(prompts) or not all(
            one.get("tokens") and len(one.get("token_logprobs") or []) == len(one["tokens"]) for one in said
        ):
            raise BadInput(
                "the server gives no log probabilities of the prompt.",
                file=self.base,
                remedy="It has to support echo and logprobs of completions; chat models do not.",
            )
        return said

    def _read(
        self, said: dict[str, Any], offsets: Sequence[int], *, before: int, shift: int, until: int
    ) -> "_Echo":
        """Keep the tokens that begin inside the sentence, not those before it or generated after it."""
        rows: list[float] = []
        spans: list[tuple[int, int]] = []
        left_out, ends = 0, [*offsets[1:], until]
        for place, (offset, end, logprob) in enumerate(
            zip(offsets, ends, said["token_logprobs"], strict=False)
        ):
            if not before <= offset < until:
                continue
            if logprob is None and place:
                raise BadInput(
                    f"the server gives token {place + 1} of a prompt no probability.",
                    file=self.base,
                    remedy="Switch its cache of prefixes off (vLLM: --no-enable-prefix-caching).",
                )
            if logprob is None:
                left_out += 1
            else:
                rows.append(float(logprob))
                spans.append((max(0, offset - shift), max(0, min(end, until) - shift)))
        return _Echo(np.array(rows, dtype=np.float64), spans, left_out)

    def _send(self, body: dict[str, Any]) -> dict[str, Any]:
        headers = {"Content-Type": "application/json"}
        if key := os.environ.get(KEY):
            headers["Authorization"] = f"Bearer {key}"
        request = Request(f"{self.base.rstrip('/')}/completions", json.dumps(body).encode(), headers)
        wait = FIRST_WAIT_S
        for attempt in range(1, ATTEMPTS + 1):
            try:
                with urlopen(request, timeout=TIMEOUT_S) as answer:
                    said: dict[str, Any] = json.load(answer)
                    return said
            except HTTPError as error:
                problem, passing = f"answers {error.code}", error.code == 429 or error.code >= 500
            except (URLError, TimeoutError, ConnectionError, ValueError) as error:
                problem, passing = f"does not answer: {error}", True
            if not passing or attempt == ATTEMPTS:
                break
            time.sleep(wait)
            wait *= 2
        raise BadInput(
            f"the server {problem}.",
            file=self.base,
            remedy=f"Check the address and the model's name; a key is read from {KEY}.",
        )


class _Echo(NamedTuple):
    """A sentence's tokens as the server sees them; ``left_out`` of the first have no probability."""

    logprob: Floats
    spans: list[tuple[int, int]]
    left_out: int


class _Cutter:
    """Cuts sentences here, so that the server is sent numbers."""

    def __init__(self, name: str, *, mark: str, space: bool) -> None:
        self.tokenizer = open_tokenizer(name)
        self.sha, self.space = tokenizer_digest(self.tokenizer), space
        self.start, self.name = begin_mark(self.tokenizer, mark)

    def cut(self, sentences: Sequence[str]) -> tuple[list[list[int]], list[list[tuple[int, int]]]]:
        """Numbers and spans of each sentence's tokens."""
        read = encode(self.tokenizer, sentences, space=self.space)
        return read.ids, read.spans or [[(0, 0)] * len(row) for row in read.ids]


def _cutter(address: ScorerAddress, options: dict[str, str], *, start: str, space: bool) -> _Cutter | None:
    name, mark = options.get("tokenizer", ""), options.get("bos", "auto")
    if name and start:
        raise BadInput("start is text, tokenizer sends numbers.", remedy="Give bos= in place of start=.")
    if not name and "bos" in options:
        raise BadInput("bos needs the tokenizer here.", remedy="Give tokenizer=NAME, or start=TEXT.")
    if mark not in MARKS:
        raise UnknownName("beginning mark", mark, MARKS)
    return _Cutter(name, mark=mark, space=space) if name else None


def _offsets(said: dict[str, Any], prompt: str, base: str) -> list[int]:
    """Where each token begins in the prompt; what is echoed has to be what was sent."""
    if said.get("text_offset"):
        return [int(offset) for offset in said["text_offset"]]
    if not "".join(said["tokens"]).startswith(prompt):
        raise BadInput(
            f"the server echoes another text than {prompt[:40]!r} and no offsets.",
            file=base,
            remedy="Give tokenizer=NAME, so that numbers of tokens are sent.",
        )
    return [int(end) for end in np.cumsum([0, *map(len, said["tokens"])])[:-1]]


def _size(text: str) -> int:
    if not text.isdigit() or not 1 <= int(text) <= 1000:
        raise BadInput(f"option batch must be a number from 1 to 1000, got {text!r}.")
    return int(text)
