"""Served models, ``openai:http://host/v1#model``: the server echoes prompts with their probabilities."""

import json
import os
import time
from collections.abc import Sequence
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlparse
from urllib.request import Request, urlopen

import numpy as np
import numpy.typing as npt

from analysis.errors import BadInput, UnknownName
from analysis.scoring.base import (
    FLAG_EMPTY,
    FLAG_MARKED,
    FLAG_NO_FIRST,
    FLAG_NOT_FINITE,
    FLAG_SAME,
    Progress,
    ScorerAddress,
    Scores,
    Spec,
    read_flag,
    take_options,
)
from analysis.scoring.echoes import Echo, check_echoes, read_echo, text_offsets
from analysis.scoring.neural.loading import open_tokenizer
from analysis.scoring.neural.texts import Encoded, encode
from analysis.scoring.neural.vocabulary import begin_mark, n_types, tokenizer_digest
from analysis.scoring.tokens import indistinguishable
from analysis.scoring.unigrams import Unigrams, model_unigrams

OPTIONS = ("start", "space", "batch", "tokenizer", "bos", "unigram")
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
    ``hf-causal:``), ``unigram=FILE`` (single tokens of that tokenizer, for SLOR; by default ``unigrams.txt``
    of its folder). The key, where a server wants one, is read from the environment variable
    ``OPENAI_API_KEY``. Without ``start`` or a mark a server gives the first token no probability; every
    result then says so. Before the first sentences are scored, a few are asked for twice: a server whose
    cache of prefixes changes or swallows probabilities is refused.

    Notes
    -----
    Served chat models cannot give the probability of a given text. A server may run another version of the
    model tomorrow: the specification holds only what the server calls it. Text is cut by the server, which
    may put a beginning mark of its own before it; numbers of tokens are taken as they are.
    """

    end: int | None = None  # no sentence's end is asked for

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
        self.n_types, self.tokenizer_sha = (
            (n_types(self.cutter.tokenizer), self.cutter.sha) if self.cutter is not None else (0, "")
        )
        self.unigrams = _unigrams(options, self.n_types, self.tokenizer_sha)
        known = {"sum", "tokens", "conditional"} | ({"unigram"} if self.unigrams is not None else set())
        self.capabilities = frozenset(known)
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
                "unigram": self.unigrams.revision if self.unigrams is not None else "none",
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
        found: dict[str, Echo] = {}
        for start in range(0, len(distinct), self.batch):
            group = distinct[start : start + self.batch]
            found.update(zip(group, self._asked(group), strict=True))
            if progress is not None:
                progress(len(group))
        rows = [found.get(one, Echo(np.empty(0), [], 0)) for one in sentences]
        sums = np.array([row.logprob.sum() if len(row.logprob) else np.nan for row in rows])
        read = self.cutter.read(sentences) if self.cutter is not None else None
        flags = _seen_by_server(sentences, rows) if read is None else read.flags.copy()
        flags[~np.isfinite(sums) & (flags & FLAG_EMPTY == 0)] |= FLAG_NOT_FINITE
        flags |= np.array([FLAG_NO_FIRST * (row.left_out > 0) for row in rows], dtype=np.uint8)
        return Scores(
            np.where(np.isfinite(sums), sums, np.nan),
            np.array([len(row.logprob) + row.left_out for row in rows], dtype=np.int32),
            np.array([len(one.split()) for one in sentences], dtype=np.int32),
            np.array([len(one) for one in sentences], dtype=np.int32),
            read.n_unk if read is not None else np.zeros(len(sentences), dtype=np.int32),
            flags,
            self._unigram_sums(read, rows),
            [row.logprob for row in rows] if tokens else None,
            [row.spans for row in rows] if tokens else None,
        )

    def token_ids(self, sentences: Sequence[str]) -> list[list[int]]:
        """Cut sentences into numbers of tokens, without marks; only a tokenizer that is here can."""
        if self.cutter is None:
            raise BadInput(
                f"{self.model} cuts sentences on its server.", remedy="Give tokenizer=NAME in the address."
            )
        return self.cutter.read(sentences).ids

    def _unigram_sums(self, read: Encoded | None, rows: Sequence[Echo]) -> Floats | None:
        """Over the tokens that have a probability."""
        if self.unigrams is None or read is None:
            return None
        return self.unigrams.sums([ids[row.left_out :] for ids, row in zip(read.ids, rows, strict=True)])

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

    def _asked(self, sentences: Sequence[str]) -> list[Echo]:
        """Log probabilities of each sentence's tokens."""
        if self.cutter is not None:
            return self._asked_by_number(sentences, self.cutter)
        lead = self.start + (" " if self.space else "")
        prompts = [lead + one for one in sentences]
        said = self._echoes(prompts)
        before = len(self.start)
        return [
            read_echo(
                one,
                text_offsets(one, prompt, server=self.base),
                before=before,
                shift=len(lead),
                until=len(prompt),
                server=self.base,
            )
            for one, prompt in zip(said, prompts, strict=True)
        ]

    def _asked_by_number(self, sentences: Sequence[str], cutter: "_Cutter") -> list[Echo]:
        given = cutter.read(sentences)
        ids, spans = given.ids, given.spans or [[(0, 0)] * len(row) for row in given.ids]
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
            read = read_echo(one, offsets, before=0, shift=0, until=len(row), server=self.base)
            found.append(read._replace(spans=characters[read.left_out :]))
        return found

    def _echoes(self, prompts: Sequence[Any]) -> list[dict[str, Any]]:
        body = {"model": self.model, "prompt": prompts, "max_tokens": 1, "echo": True, "logprobs": 1}
        return check_echoes(self._send({**body, "temperature": 0}), len(prompts), server=self.base)

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


def _seen_by_server(sentences: Sequence[str], rows: Sequence[Echo]) -> npt.NDArray[np.uint8]:
    """What can be told from an echo: nothing there, space at an end, the tokens of another sentence."""
    flags = FLAG_SAME * indistinguishable(sentences, [row.pieces for row in rows])
    flags = flags + FLAG_EMPTY * np.array([not one.strip() for one in sentences], dtype=np.bool_)
    flags = flags + FLAG_MARKED * np.array([one != one.strip() for one in sentences], dtype=np.bool_)
    return np.asarray(flags, dtype=np.uint8)


class _Cutter:
    """Cuts sentences here, so that the server is sent numbers."""

    def __init__(self, name: str, *, mark: str, space: bool) -> None:
        self.tokenizer = open_tokenizer(name)
        self.sha, self.space = tokenizer_digest(self.tokenizer), space
        self.start, self.name = begin_mark(self.tokenizer, mark)

    def read(self, sentences: Sequence[str]) -> Encoded:
        """Numbers, spans and flags of each sentence's tokens."""
        return encode(self.tokenizer, sentences, space=self.space)


def _cutter(address: ScorerAddress, options: dict[str, str], *, start: str, space: bool) -> _Cutter | None:
    name, mark = options.get("tokenizer", ""), options.get("bos", "auto")
    if name and start:
        raise BadInput("start is text, tokenizer sends numbers.", remedy="Give bos= in place of start=.")
    if not name and "bos" in options:
        raise BadInput("bos needs the tokenizer here.", remedy="Give tokenizer=NAME, or start=TEXT.")
    if mark not in MARKS:
        raise UnknownName("beginning mark", mark, MARKS)
    return _Cutter(name, mark=mark, space=space) if name else None


def _unigrams(options: dict[str, str], n: int, tokenizer_sha: str) -> Unigrams | None:
    """Single tokens of the tokenizer here; those of a server that cuts by itself are not known."""
    name, file = options.get("tokenizer", ""), options.get("unigram", "")
    if file and not name:
        raise BadInput("unigram needs the tokenizer here.", remedy="Give tokenizer=NAME.")
    return model_unigrams(name, file, n_types=n, tokenizer_sha=tokenizer_sha) if name else None


def _size(text: str) -> int:
    if not text.isdigit() or not 1 <= int(text) <= 1000:
        raise BadInput(f"option batch must be a number from 1 to 1000, got {text!r}.")
    return int(text)
