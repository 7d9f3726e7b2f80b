"""Scorer of models behind a completions API, ``openai:http://host/v1#model``, by echoed log probabilities."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...errors import BadInput
from ..base import (
    FLAG_EMPTY,
    FLAG_MARKED,
    FLAG_NO_FIRST,
    FLAG_SAME,
    Progress,
    Scores,
    Spec,
    assemble_scores,
    capabilities_with,
    flag_where,
    token_sums,
)
from ..http_server import REQUESTS, ServerRefusal, find_server
from ..model_uri import (
    ANSWERS,
    CONTEXT,
    PROMPT,
    QUESTION,
    SPACE,
    UNIGRAM,
    ModelURI,
    Option,
    parse_options,
)
from ..neural.chat import answer_ids, chat_ids, read_chat_template, template_warnings
from ..neural.loading import load_tokenizer
from ..neural.texts import Encoded, encode, read_tokens
from ..neural.vocabulary import begin_marks, begin_warning, n_types, tokenizer_digest
from ..words.contexts import context_rule
from ..words.sentence_check import Readings
from ..words.tokens import indistinguishable
from ..words.unigrams import Unigrams, model_unigrams

PARTIAL = "\N{REPLACEMENT CHARACTER}"  # in the text of a token that is part of a character


class Echo(NamedTuple):
    """A sentence's tokens as the server returns them; the first ``n_unscored`` have no probability."""

    logprob: npt.NDArray[np.float64]
    spans: list[tuple[int, int]]
    n_unscored: int
    pieces: tuple[str, ...] = ()


def check_echoes(response: dict[str, Any], n: int, *, server: str) -> list[dict[str, Any]]:
    """Return the echo of each prompt, in the order they were sent."""
    choices = sorted(response.get("choices", []), key=lambda choice: choice.get("index", 0))
    echoes = [choice.get("logprobs") or {} for choice in choices]
    if len(echoes) != n or not all(
        echo.get("tokens") and len(echo.get("token_logprobs") or []) == len(echo["tokens"]) for echo in echoes
    ):
        raise BadInput(
            "the server returns no log probabilities of the prompt.",
            file=server,
            remedy="It has to support echo and logprobs of completions; chat models do not.",
        )
    return echoes


def text_offsets(echo: dict[str, Any], prompt: str, *, server: str) -> list[int]:
    """Return where each token begins in the prompt; a mark that the server put before it begins below 0.

    Notes
    -----
    Offsets of vLLM add the lengths of its tokens, that of a beginning mark such as ``<|begin_of_text|>``
    included. Offsets are used only where the texts of the tokens do not join to the prompt, as those of parts
    of a character, and only if the other tokens are in the prompt at theirs. Case is not compared: some
    tokenizers lower it.
    """
    tokens: list[str] = echo["tokens"]
    lead = "".join(tokens).lower().find(prompt.lower())
    if 0 <= lead <= len(tokens[0]):
        starts = [int(start) - lead for start in np.cumsum([0, *map(len, tokens[:-1])])]
        # A first token that reaches into the prompt begins with a space that the tokenizer added.
        return starts if lead in (0, len(tokens[0])) else [0, *starts[1:]]
    offsets = [int(offset) for offset in echo.get("text_offset") or []]
    if len(offsets) != len(tokens) or not _are_in_prompt(tokens, offsets, prompt):
        raise BadInput(
            f"the server echoes another text than {prompt[:40]!r}.",
            file=server,
            remedy="Give tokenizer=NAME, so that token ids are sent. A server that returns only the tokens "
            "that it generates cannot be used.",
        )
    return offsets


def _are_in_prompt(tokens: Sequence[str], offsets: Sequence[int], prompt: str) -> bool:
    """Return whether tokens are in a prompt at their offsets, from its first character to its last."""
    is_whole = [PARTIAL not in token and not token.startswith("bytes:") for token in tokens]
    ends = [offset + len(token) for token, offset in zip(tokens, offsets, strict=True)]
    return (
        offsets[0] == 0
        and max(ends) >= len(prompt)
        and all(
            prompt.lower().startswith(token.lower(), offset)
            for token, offset, whole in zip(tokens, offsets, is_whole, strict=True)
            if whole and offset < len(prompt)
        )
    )


def read_echo(
    echo: dict[str, Any], offsets: Sequence[int], *, before: int, shift: int, until: int, server: str
) -> Echo:
    """Select the tokens that begin inside the sentence, not those before it or generated after it."""
    logprobs: list[float] = []
    spans: list[tuple[int, int]] = []
    pieces: list[str] = []
    n_unscored, ends = 0, [*offsets[1:], until]
    for position, (offset, end, piece, logprob) in enumerate(
        # A server may return the generated token as well, which has no offset of ours.
        zip(offsets, ends, echo["tokens"], echo["token_logprobs"], strict=False)
    ):
        if not before <= offset < until:
            continue
        if logprob is None and position:
            raise BadInput(
                f"the server returns no probability of token {position + 1} of a prompt.",
                file=server,
                remedy="Disable its prefix cache (vLLM: --no-enable-prefix-caching).",
            )
        pieces.append(piece)
        if logprob is None:
            n_unscored += 1
        else:
            logprobs.append(float(logprob))
            spans.append((max(0, offset - shift), max(0, min(end, until) - shift)))
    return Echo(np.array(logprobs, dtype=np.float64), spans, n_unscored, tuple(pieces))


START = Option("start", placeholder="TEXT")
BATCH = Option("batch", default="16", limits=(1, 1000))  # sentences of one request
TOKENIZER = Option("tokenizer", placeholder="NAME")
BOS = Option("bos", values=("auto", "bos", "eos", "none"))
ALTERNATIVES = 20  # tokens that the chat interface lists with their probabilities, at most
TESTED, TOLERANCE = 3, 1e-3  # sentences requested twice, and how far the answers may differ, in nats
SERVER_TEMPLATE = "the server's"
Floats = npt.NDArray[np.float64]


class ServedScorer:
    """Causal log probabilities from a server with the completions interface, such as vLLM.

    With ``start=TEXT`` the text precedes each sentence and is not scored; without it the first token has no
    probability and is not scored. With ``tokenizer=NAME`` sentences are tokenized here and sent as token ids
    after the mark that ``bos`` selects. A key is read from ``OPENAI_API_KEY``. A few sentences are requested
    twice first; a server that answers differently is refused. Up to ``requests`` requests are under way at
    once. A sentence that the server refuses, for example because it is too long, is named in ``warnings`` and
    has no score.

    Notes
    -----
    Served chat models cannot give the probability of a given text. A server may run another version of the
    model tomorrow: the specification contains only the name of the model. A server that tokenizes text may
    add a beginning mark; token ids are used as they are.
    """

    OPTIONS = (START, SPACE, PROMPT, CONTEXT, QUESTION, ANSWERS, BATCH, REQUESTS, TOKENIZER, BOS, UNIGRAM)
    end: int | None = None  # the end of a sentence is not scored

    def __init__(self, uri: ModelURI) -> None:
        options = parse_options(uri, self.OPTIONS)
        self.server = find_server(uri, options)
        self.base, self.model = self.server.base, self.server.model
        self.warnings: list[str] = []
        self.start, self.space = options["start"], options["space"] == "yes"
        self.batch, self.contexts = int(options["batch"]), context_rule(options)
        self.tokenizer = _tokenizer(uri, options)
        if self.tokenizer is not None:
            self.warnings += self.tokenizer.warnings
        self.n_types, self.tokenizer_sha = (
            (n_types(self.tokenizer.tokenizer), self.tokenizer.sha) if self.tokenizer is not None else (0, "")
        )
        self.unigrams = _unigrams(options, self.n_types, self.tokenizer_sha)
        self.capabilities = capabilities_with(self.unigrams)
        self.why, self._is_tested = "", False
        self.answer_settings = {
            "question": options["question"],
            "answers": options["answers"],
            "read": f"first token among {ALTERNATIVES} alternatives of the chat interface"
            if self.tokenizer is None
            else "log probability of the answer's tokens",
        }
        self.spec = Spec(
            uri=uri.uri,
            revision="as served",
            method="ll",
            bos=bool(self.start) or (self.tokenizer is not None and bool(self.tokenizer.start)),
            dtype="as served",
            options={
                "start": self.start,
                "space": options["space"],
                "tokenizer": self.tokenizer.sha if self.tokenizer else "the server's",
                "mark": self.tokenizer.mark if self.tokenizer else "",
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
        """Score sentences, distinct ones once."""
        distinct = [sentence for sentence in dict.fromkeys(sentences) if sentence.strip()]
        self._test(distinct)
        starts = range(0, len(distinct), self.batch)
        echoes = self._requests([distinct[start : start + self.batch] for start in starts], progress=progress)
        if distinct and not echoes:
            raise BadInput("the server refuses every sentence.", file=self.base, remedy=self.warnings[-1])
        rows = [echoes.get(sentence, Echo(np.empty(0), [], 0)) for sentence in sentences]
        encoded = self.tokenizer.encode(sentences) if self.tokenizer is not None else None
        flags = _server_flags(sentences, rows) if encoded is None else encoded.flags
        logprobs, scored = [row.logprob for row in rows], self._scored_ids(encoded, rows)
        return assemble_scores(
            sentences,
            token_sums(logprobs),
            n_tokens=np.array([len(row.logprob) + row.n_unscored for row in rows], dtype=np.int32),
            n_unk=encoded.n_unk if encoded is not None else np.zeros(len(sentences), dtype=np.int32),
            flags=flags | flag_where(FLAG_NO_FIRST, [row.n_unscored > 0 for row in rows]),
            unigram_logprob=self.unigrams.sums(scored) if self.unigrams and scored is not None else None,
            token_logprobs=logprobs if tokens else None,
            spans=[row.spans for row in rows] if tokens else None,
            token_unknown=self._unknown(scored) if tokens and scored is not None else None,
            token_unigrams=self.unigrams.rows(scored)
            if tokens and self.unigrams and scored is not None
            else None,
        )

    def same_tokens(self, sentences: Sequence[str]) -> npt.NDArray[np.bool_] | None:
        """Return which sentences have the same tokens as a different one; None without a tokenizer here."""
        if self.tokenizer is None:
            return None
        return indistinguishable(sentences, list(map(tuple, self.token_ids(sentences))))

    def read_sentences(self, sentences: Sequence[str]) -> Readings | None:
        """Return what the model reads of each sentence; None where its server tokenizes."""
        if self.tokenizer is None:
            return None
        return read_tokens(self.tokenizer.tokenizer, self.tokenizer.encode(sentences))

    def token_ids(self, sentences: Sequence[str]) -> list[list[int]]:
        """Return the token ids of sentences, without marks; this needs a tokenizer here."""
        if self.tokenizer is None:
            raise BadInput(
                f"{self.model} tokenizes sentences on its server.",
                remedy="Give tokenizer=NAME in the model URI.",
            )
        return self.tokenizer.encode(sentences).ids

    def chat_template(self) -> str:
        """Return the template around a message: the tokenizer's here, or the server's own."""
        if self.tokenizer is None:
            return SERVER_TEMPLATE
        template = read_chat_template(self.tokenizer.tokenizer, self.model)
        self.warnings = list(dict.fromkeys([*self.warnings, *template_warnings(template)]))
        return template

    def answer_logprobs(
        self, messages: Sequence[str], answers: Sequence[str], *, progress: Progress | None = None
    ) -> Floats:
        """Return the log probability of each answer to each message.

        With a tokenizer here it is the sum over the answer's tokens, echoed after the templated message;
        otherwise that of the first generated token of the chat interface, NaN where an answer is not among
        its alternatives.
        """
        if self.tokenizer is None:
            return self._chat_logprobs(messages, answers, progress=progress)
        tokenizer = self.tokenizer.tokenizer
        endings = answer_ids(tokenizer, answers)
        prompts = [[*chat_ids(tokenizer, message), *ending] for message in messages for ending in endings]
        starts = range(0, len(prompts), self.batch)
        batches = [prompts[start : start + self.batch] for start in starts]
        answered = self.server.post_all("completions", [self._body(batch) for batch in batches])
        logprobs = np.full(len(prompts), np.nan)
        for start, batch, answer in zip(starts, batches, answered, strict=True):
            if isinstance(answer, ServerRefusal):
                self.warnings.append(f"no answer to {len(batch) // len(endings)} messages: {answer}")
                continue
            for offset, echo in enumerate(check_echoes(answer, len(batch), server=self.base)):
                ending = endings[(start + offset) % len(endings)]
                n = len(batch[offset])
                values = echo["token_logprobs"][n - len(ending) : n]
                if len(values) == len(ending) and None not in values:
                    logprobs[start + offset] = sum(values)
        return logprobs.reshape(len(messages), len(answers))

    def _chat_logprobs(
        self, messages: Sequence[str], answers: Sequence[str], *, progress: Progress | None
    ) -> Floats:
        bodies = [
            {
                "model": self.model,
                "messages": [{"role": "user", "content": message}],
                "max_tokens": 1,
                "temperature": 0,
                "logprobs": True,
                "top_logprobs": ALTERNATIVES,
            }
            for message in messages
        ]
        answered = self.server.post_all(
            "chat/completions", bodies, progress=None if progress is None else lambda number: progress(1)
        )
        logprobs, n_absent = np.full((len(messages), len(answers)), np.nan), 0
        for row, (message, answer) in enumerate(zip(messages, answered, strict=True)):
            if isinstance(answer, ServerRefusal):
                self.warnings.append(f"no answer to {message[:60]!r}: {answer}")
                continue
            logprobs[row] = _listed_answers(answer, answers, server=self.base)
            n_absent += int(np.isnan(logprobs[row]).sum())
        if n_absent:
            self.warnings.append(
                f"{n_absent} of {logprobs.size} answers are not among the {ALTERNATIVES} alternatives that "
                "the server lists; tokenizer=NAME gives every answer's probability where it echoes prompts"
            )
        return logprobs

    def _scored_ids(self, encoded: Encoded | None, rows: Sequence[Echo]) -> list[list[int]] | None:
        """Return the scored tokens of each sentence, which needs the tokenizer here."""
        if encoded is None:
            return None
        return [
            ids[row.n_unscored :] if len(row.logprob) or row.n_unscored else []
            for ids, row in zip(encoded.ids, rows, strict=True)
        ]

    def _unknown(self, scored: Sequence[Sequence[int]]) -> list[npt.NDArray[np.bool_]]:
        unknown = None if self.tokenizer is None else self.tokenizer.tokenizer.unk_token_id
        return [np.array([token == unknown for token in row], dtype=np.bool_) for row in scored]

    def _test(self, distinct: Sequence[str]) -> None:
        """Request a few sentences twice, alone and together, when their prefixes may be in its cache."""
        if self._is_tested or not distinct:
            return
        warnings = list(self.warnings)
        first_echoes = self._requests([[sentence] for sentence in distinct[:TESTED]])
        self.warnings[:] = warnings  # a refused sentence is requested again, and named then
        sample, alone = list(first_echoes), [echo.logprob for echo in first_echoes.values()]
        if not sample:
            return
        together = [echo.logprob for echo in self._request(sample)]
        for sentence, first, second in zip(sample, alone, together, strict=True):
            difference = np.abs(first - second).max(initial=0.0) if len(first) == len(second) else np.inf
            if not difference < TOLERANCE and np.isfinite(first).all():
                raise BadInput(
                    f"asked twice for {sentence!r}, the server gives other probabilities "
                    f"(by {difference:.1g}).",
                    file=self.base,
                    remedy="Disable its prefix cache (vLLM: --no-enable-prefix-caching), or use batch=1.",
                )
        self._is_tested = True
        self.why = f"{len(sample)} sentences asked twice agree within {TOLERANCE}"

    def _requests(
        self, batches: Sequence[Sequence[str]], *, progress: Progress | None = None
    ) -> dict[str, Echo]:
        """Request batches at once; sentences of a refused batch are requested one by one."""
        answers = self.server.post_all(
            "completions",
            [self._body(self._prompts(batch)) for batch in batches],
            progress=None if progress is None else lambda number: progress(len(batches[number])),
        )
        echoes: dict[str, Echo] = {}
        refused: list[str] = []
        for batch, answer in zip(batches, answers, strict=True):
            if not isinstance(answer, ServerRefusal):
                echoes.update(zip(batch, self._read(batch, answer), strict=True))
            elif len(batch) > 1:
                refused += batch
            else:
                self.warnings.append(f"no score for {batch[0][:60]!r}: {answer}")
        return echoes | (self._requests([[sentence] for sentence in refused]) if refused else {})

    def _request(self, sentences: Sequence[str]) -> list[Echo]:
        """Request the log probabilities of each sentence's tokens in one request."""
        answer = self.server.post("completions", self._body(self._prompts(sentences)))
        return self._read(sentences, answer)

    def _prompts(self, sentences: Sequence[str]) -> list[Any]:
        """Return texts, or token ids where sentences are tokenized here."""
        if self.tokenizer is None:
            lead = self.start + (" " if self.space else "")
            return [lead + sentence for sentence in sentences]
        return [[*self.tokenizer.start, *row] for row in self.tokenizer.encode(sentences).ids]

    def _body(self, prompts: Sequence[Any]) -> dict[str, Any]:
        return {
            "model": self.model,
            "prompt": prompts,
            "max_tokens": 1,
            "echo": True,
            "logprobs": 1,
            "temperature": 0,
        }

    def _read(self, sentences: Sequence[str], answer: dict[str, Any]) -> list[Echo]:
        """Return the tokens of each sentence from the server's answer."""
        echoes = check_echoes(answer, len(sentences), server=self.base)
        if self.tokenizer is not None:
            return self._read_ids(sentences, echoes, self.tokenizer)
        lead = self.start + (" " if self.space else "")
        prompts = [lead + sentence for sentence in sentences]
        rows = []
        for echo, prompt in zip(echoes, prompts, strict=True):
            offsets = text_offsets(echo, prompt, server=self.base)
            if offsets[0] < 0:
                warning = f"the server puts {echo['tokens'][0]!r} before each text, which is not scored"
                self.warnings = list(dict.fromkeys([*self.warnings, warning]))
            rows.append(
                read_echo(
                    echo,
                    offsets,
                    before=len(self.start),
                    shift=len(lead),
                    until=len(prompt),
                    server=self.base,
                )
            )
        return rows

    def _read_ids(
        self, sentences: Sequence[str], echoes: Sequence[dict[str, Any]], tokenizer: "_Tokenizer"
    ) -> list[Echo]:
        encoded = tokenizer.encode(sentences)
        ids, spans = encoded.ids, encoded.spans or [[(0, 0)] * len(row) for row in encoded.ids]
        marks, rows = tokenizer.start, []
        for row, characters, echo in zip(ids, spans, echoes, strict=True):
            n = len(marks) + len(row)
            # One more where the generated token is returned as well.
            if not n <= len(echo["token_logprobs"]) <= n + 1:
                raise BadInput(
                    f"{n} tokens were sent, the server returns {len(echo['token_logprobs'])} probabilities.",
                    file=self.base,
                    remedy="It has to accept token ids as prompts; otherwise remove the option tokenizer.",
                )
            offsets = [*(-1 for _ in marks), *range(len(row)), len(row)]
            scored = read_echo(echo, offsets, before=0, shift=0, until=len(row), server=self.base)
            rows.append(scored._replace(spans=characters[scored.n_unscored :]))
        return rows


def _listed_answers(answer: dict[str, Any], answers: Sequence[str], *, server: str) -> Floats:
    """Return the log probability of each answer among the alternatives of the first token; NaN if absent."""
    try:
        listed = answer["choices"][0]["logprobs"]["content"][0]["top_logprobs"]
        tokens = [(str(entry["token"]).strip(), float(entry["logprob"])) for entry in listed]
    except (KeyError, IndexError, TypeError) as error:
        raise BadInput(
            "the server returns no log probabilities of answers.",
            file=server,
            remedy="It has to support logprobs and top_logprobs of chat completions; or give tokenizer=NAME "
            "and a server that echoes completions.",
        ) from error
    # "Yes" and " Yes" are one answer.
    rows = [[logprob for token, logprob in tokens if token == name] for name in answers]
    return np.array([np.logaddexp.reduce(row) if row else np.nan for row in rows], dtype=np.float64)


def _server_flags(sentences: Sequence[str], rows: Sequence[Echo]) -> npt.NDArray[np.uint8]:
    """Flag what an echo shows: empty sentences, outer white space, and the tokens of another sentence."""
    flags = flag_where(FLAG_SAME, indistinguishable(sentences, [row.pieces for row in rows]))
    flags |= flag_where(FLAG_EMPTY, [not sentence.strip() for sentence in sentences])
    return flags | flag_where(FLAG_MARKED, [sentence != sentence.strip() for sentence in sentences])


class _Tokenizer:
    """Tokenizes sentences here, so that the server receives token ids."""

    def __init__(self, name: str, *, bos: str, space: bool) -> None:
        self.tokenizer, self.warnings = load_tokenizer(name)
        self.sha, self.space = tokenizer_digest(self.tokenizer), space
        self.start, self.mark = begin_marks(self.tokenizer, bos)
        self.warnings = [*self.warnings, *begin_warning(self.tokenizer, self.start)]

    def encode(self, sentences: Sequence[str]) -> Encoded:
        """Return token ids, spans and flags of each sentence."""
        return encode(self.tokenizer, sentences, space=self.space)


def _tokenizer(uri: ModelURI, options: dict[str, str]) -> _Tokenizer | None:
    name = options["tokenizer"]
    if name and options["start"]:
        raise BadInput("start is text, tokenizer sends token ids.", remedy="Give bos= in place of start=.")
    if not name and "bos" in uri.options:
        raise BadInput("bos needs the tokenizer here.", remedy="Give tokenizer=NAME, or start=TEXT.")
    return _Tokenizer(name, bos=options["bos"], space=options["space"] == "yes") if name else None


def _unigrams(options: dict[str, str], n: int, tokenizer_sha: str) -> Unigrams | None:
    """Return unigram probabilities, which need the tokenizer here."""
    name, path = options["tokenizer"], options["unigram"]
    if path and not name:
        raise BadInput("unigram needs the tokenizer here.", remedy="Give tokenizer=NAME.")
    return model_unigrams(name, path, n_types=n, tokenizer_sha=tokenizer_sha) if name else None
