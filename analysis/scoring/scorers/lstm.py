"""Scorer of recurrent language models: ``lstm:FOLDER`` with ``model.pt`` and ``vocab.txt``."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ...errors import BadInput
from ..base import (
    Progress,
    Scores,
    Spec,
    assemble_scores,
    capabilities_with,
    file_revision,
    token_sums,
)
from ..model_uri import (
    CASING,
    CONTEXT,
    DEVICE,
    EOS,
    PROMPT,
    PUNCTUATION_MARKS,
    TOKENS,
    ModelURI,
    given_options,
    parse_options,
)
from ..neural.loading import import_optional, resolve_device
from ..words.contexts import context_rule
from ..words.sentence_check import Readings
from ..words.tokens import Tokenization, indistinguishable, token_flags
from ..words.unigrams import UNIGRAMS, model_unigrams

if TYPE_CHECKING:
    from ..neural.lstm_model import Recurrent

UNKNOWN, END = "<unk>", "<eos>"
WEIGHTS, VOCABULARY, SETTINGS = "model.pt", "vocab.txt", "config.json"


class LSTMScorer:
    """log p(sentence) = Σ log p(token | all before it), after ``<eos>`` from a state of zeros.

    The folder contains ``model.pt`` (weights by name: ``encoder``, ``rnn``, ``decoder``) and ``vocab.txt`` (a
    token per line, with ``<unk>`` and ``<eos>``), as published by Gulordava et al. (2018). Our trainer adds
    ``unigrams.txt`` and ``config.json``, which sets the defaults of ``tokens``, ``casing``, ``punctuation``.

    References
    ----------
    Gulordava, Bojanowski, Grave, Linzen & Baroni (2018), "Colorless green recurrent networks dream
    hierarchically", NAACL.
    """

    OPTIONS = (TOKENS, CASING, PUNCTUATION_MARKS, EOS, PROMPT, CONTEXT, DEVICE)

    def __init__(self, uri: ModelURI) -> None:
        options = parse_options(uri, self.OPTIONS)
        import_optional("torch")
        folder = Path(uri.target)
        if not folder.is_dir():
            raise BadInput("there is no such folder.", file=uri.target)
        self.contexts = context_rule(options)
        settings = options | _settings(folder / SETTINGS) | given_options(uri, options)
        self.tokenization = Tokenization(settings["tokens"], settings["casing"], settings["punctuation"])
        self.index = read_vocabulary(folder / VOCABULARY)
        self.unigrams = model_unigrams(uri.target, "", n_types=len(self.index), tokenizer_sha="")
        self.capabilities = capabilities_with(self.unigrams)
        self.path = _open(folder, len(self.index), options["device"])
        self.spec = Spec(
            uri=uri.uri,
            revision=_revision(folder),
            method="ll",
            bos=True,
            eos=options["eos"] == "yes",
            tokens=self.tokenization.unit,
            casing=self.tokenization.casing,
            punctuation=self.tokenization.punctuation,
            dtype="float32",
        )

    def same_tokens(self, sentences: Sequence[str]) -> npt.NDArray[np.bool_]:
        """Return which sentences have the same tokens as a different one."""
        unknown = self.index[UNKNOWN]
        rows = [
            tuple(self.index.get(piece, unknown) for piece in self.tokenization.tokens(sentence))
            for sentence in sentences
        ]
        return indistinguishable(sentences, rows)

    def read_sentences(self, sentences: Sequence[str]) -> Readings:
        """Return what the model reads of each sentence."""
        return self.tokenization.read_sentences(sentences, self.index)

    def score(
        self,
        sentences: Sequence[str],
        *,
        ids: Sequence[str] | None = None,
        tokens: bool = False,
        progress: Progress | None = None,
    ) -> Scores:
        """Score sentences, distinct sequences of tokens once; an empty sentence is NaN and flagged."""
        unknown, end = self.index[UNKNOWN], self.index[END]
        last = [end] if self.spec.eos else []
        pieces = [self.tokenization.tokens(sentence) for sentence in sentences]
        rows = [tuple(self.index.get(piece, unknown) for piece in row) for row in pieces]
        distinct = list(dict.fromkeys(row for row in rows if row))
        values = self.path.run([[end, *row, *last] for row in distinct], progress=progress)
        by_row = dict(zip(distinct, values, strict=True))
        logprobs = [by_row.get(row, np.empty(0)) for row in rows]
        n_tokens = np.array([len(row) for row in rows], dtype=np.int32)
        n_unk = np.array([row.count(unknown) for row in rows], dtype=np.int32)
        scored = [(*row, *last) if row else () for row in rows]
        return assemble_scores(
            sentences,
            token_sums(logprobs),
            n_tokens=n_tokens,
            n_unk=n_unk,
            flags=token_flags(
                sentences,
                rows,
                n_tokens=n_tokens,
                n_unk=n_unk,
                has_mark=[end in row for row in rows],
                casing=self.spec.casing,
            ),
            unigram_logprob=self.unigrams.sums(scored) if self.unigrams else None,
            token_logprobs=logprobs if tokens else None,
            spans=self.tokenization.all_spans(sentences, pieces, end=bool(last)) if tokens else None,
            token_unknown=[np.array(row, dtype=np.int64) == unknown for row in scored] if tokens else None,
            token_unigrams=self.unigrams.rows(scored) if tokens and self.unigrams else None,
        )


def read_vocabulary(path: Path) -> dict[str, int]:
    """Read a vocabulary of one token per line; its number is the line, from 0."""
    try:
        lines = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    except OSError as error:
        raise BadInput("there is no vocabulary.", file=str(path)) from error
    except UnicodeDecodeError as error:
        raise BadInput("the vocabulary is not UTF-8.", file=str(path)) from error
    index: dict[str, int] = {}
    for number, token in enumerate(lines):
        token = token.removesuffix("\r")
        if token in index:
            raise BadInput(f"the token {token!r} occurs twice.", file=str(path), row=number + 1)
        index[token] = number
    for mark in (UNKNOWN, END):
        if mark not in index:
            raise BadInput(
                f"the vocabulary has no {mark}.",
                file=str(path),
                remedy="It needs <unk> for unknown words and <eos> as beginning and end.",
            )
    return index


def _open(folder: Path, n_words: int, device: str) -> "Recurrent":
    from ..neural.lstm_model import Recurrent, load_weights

    model = load_weights(str(folder / WEIGHTS))
    if model.shape.vocabulary != n_words:
        raise BadInput(
            f"the vocabulary has {n_words} lines, the model {model.shape.vocabulary} rows.",
            file=str(folder / VOCABULARY),
            remedy="Use the vocabulary that the model was trained with.",
        )
    return Recurrent(model.to(resolve_device(device)))


def _settings(path: Path) -> dict[str, str]:
    """Read how the training text was tokenized, if the folder records it."""
    if not path.is_file():
        return {}
    try:
        settings = json.loads(path.read_text(encoding="utf-8"))
        return {str(name): str(value) for name, value in settings.items()}
    except (ValueError, AttributeError) as error:
        raise BadInput("the settings cannot be read.", file=str(path)) from error


def _revision(folder: Path) -> str:
    digest = hashlib.sha256()
    for name in (WEIGHTS, VOCABULARY, SETTINGS, UNIGRAMS):
        if (folder / name).is_file():
            digest.update(f"{name} {file_revision(folder / name)}\n".encode())
    return f"sha256:{digest.hexdigest()}"
