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

from analysis.errors import BadInput
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

OPTIONS = ("start", "space", "batch")
KEY = "OPENAI_API_KEY"
ATTEMPTS, FIRST_WAIT_S, TIMEOUT_S = 5, 0.5, 300
Floats = npt.NDArray[np.float64]


class ServedScorer:
    """log p(sentence) from a server that echoes a prompt with the log probability of its every token.

    Options: ``start`` (text put before each sentence, such as the model's beginning mark; its tokens do not
    count), ``space=yes``, ``batch`` (sentences in one request). The key, where a server wants one, is read
    from the environment variable ``OPENAI_API_KEY``. Without ``start`` a server gives the first token no
    probability; every result then says so.

    Notes
    -----
    Served chat models cannot give the probability of a given text. A server may run another version of the
    model tomorrow: the specification holds only what the server calls it.
    """

    capabilities = frozenset({"sum", "tokens"})

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
        self.why = ""
        self.spec = Spec(
            uri=address.uri,
            revision="as served",
            method="ll",
            bos=bool(self.start),
            dtype="as served",
            options={"start": self.start, "space": "yes" if self.space else "no"},
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
        found: dict[str, tuple[Floats, int]] = {}
        for start in range(0, len(distinct), self.batch):
            group = distinct[start : start + self.batch]
            found.update(zip(group, self._asked(group), strict=True))
            if progress is not None:
                progress(len(group))
        rows = [found.get(one, (np.empty(0), 0)) for one in sentences]
        sums = np.array([row.sum() if len(row) else np.nan for row, _ in rows])
        flags = np.array([FLAG_EMPTY * (not one.strip()) for one in sentences], dtype=np.uint8)
        flags |= np.where(np.isnan(sums) & (flags == 0), FLAG_NOT_FINITE, 0).astype(np.uint8)
        if any(left_out for _, left_out in rows):
            flags |= np.array([FLAG_NO_FIRST * (left_out > 0) for _, left_out in rows], dtype=np.uint8)
        return Scores(
            np.where(np.isfinite(sums), sums, np.nan),
            np.array([len(row) + left_out for row, left_out in rows], dtype=np.int32),
            np.array([len(one.split()) for one in sentences], dtype=np.int32),
            np.array([len(one) for one in sentences], dtype=np.int32),
            np.zeros(len(sentences), dtype=np.int16),
            flags,
            None,
            [row for row, _ in rows] if tokens else None,
        )

    def _asked(self, sentences: Sequence[str]) -> list[tuple[Floats, int]]:
        """Log probabilities of each sentence's tokens, and how many first tokens have none."""
        lead = self.start + (" " if self.space else "")
        prompts = [lead + one for one in sentences]
        body = {"model": self.model, "prompt": prompts, "max_tokens": 1, "echo": True, "logprobs": 1}
        answer = self._send({**body, "temperature": 0})
        choices = sorted(answer.get("choices", []), key=lambda one: one.get("index", 0))
        if len(choices) != len(prompts) or not all(
            (one.get("logprobs") or {}).get("tokens") for one in choices
        ):
            raise BadInput(
                "the server gives no log probabilities of the prompt.",
                file=self.base,
                remedy="It has to support echo and logprobs of completions; chat models do not.",
            )
        return [
            _tokens(one["logprobs"], before=len(self.start), until=len(prompt))
            for one, prompt in zip(choices, prompts, strict=True)
        ]

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


def _tokens(said: dict[str, Any], *, before: int, until: int) -> tuple[Floats, int]:
    """Keep the tokens that begin inside the sentence, not those before it or generated after it."""
    rows, left_out = [], 0
    offsets = said.get("text_offset") or _offsets(said["tokens"])
    for offset, logprob in zip(offsets, said["token_logprobs"], strict=True):
        if before <= offset < until:
            if logprob is None:
                left_out += 1
            else:
                rows.append(float(logprob))
    return np.array(rows, dtype=np.float64), left_out


def _offsets(tokens: Sequence[str]) -> list[int]:
    ends = np.cumsum([0, *map(len, tokens)])
    return [int(one) for one in ends[:-1]]


def _size(text: str) -> int:
    if not text.isdigit() or not 1 <= int(text) <= 1000:
        raise BadInput(f"option batch must be a number from 1 to 1000, got {text!r}.")
    return int(text)
