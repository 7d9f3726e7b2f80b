"""Recurrent language models in a folder: ``lstm:FOLDER`` with ``model.pt`` and ``vocab.txt``."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from analysis.errors import BadInput, UnknownName
from analysis.scoring.base import (
    FLAG_EMPTY,
    FLAG_MARKED,
    FLAG_NORMALISED,
    FLAG_NOT_FINITE,
    FLAG_SAME,
    FLAG_UNKNOWN,
    Progress,
    ScorerAddress,
    Scores,
    Spec,
    file_revision,
    read_flag,
    take_options,
)
from analysis.scoring.neural.loading import DEVICES, need
from analysis.scoring.tokens import Tokenization, indistinguishable
from analysis.scoring.unigrams import UNIGRAMS, model_unigrams

UNKNOWN, END = "<unk>", "<eos>"
WEIGHTS, VOCABULARY, SETTINGS = "model.pt", "vocab.txt", "config.json"
Floats = npt.NDArray[np.float64]


class LSTMScorer:
    """log p(sentence) = Σ log p(token | all before it), after ``<eos>`` from a state of zeros.

    Options: ``tokens=space|chars``, ``casing=as-is|lower``, ``punctuation=keep|split|drop`` (by default as
    the model was trained, where the folder says so), ``eos=yes`` (adds the probability of the end),
    ``device``. A folder needs ``model.pt`` (weights by name: ``encoder``, ``rnn``, ``decoder``) and
    ``vocab.txt`` (a token per line, with ``<unk>`` and ``<eos>``), as Gulordava et al. (2018) give them;
    ``config.json`` and ``unigrams.txt`` are written by our trainer.

    References
    ----------
    Gulordava, Bojanowski, Grave, Linzen & Baroni (2018), "Colorless green recurrent networks dream
    hierarchically", NAACL.
    """

    def __init__(self, address: ScorerAddress) -> None:
        options = take_options(address, "tokens", "casing", "punctuation", "eos", "device")
        need("torch")
        folder = Path(address.target)
        if not folder.is_dir():
            raise BadInput("there is no such folder.", file=address.target)
        trained = _settings(folder / SETTINGS)
        unit, casing, marks = (
            options.get(name, trained.get(name, default))
            for name, default in (("tokens", "space"), ("casing", "as-is"), ("punctuation", "keep"))
        )
        self.tokenization = Tokenization(unit, casing, marks)
        self.index = read_vocabulary(folder / VOCABULARY)
        self.unigrams = model_unigrams(address.target, "", n_types=len(self.index), tokenizer_sha="")
        known = {"sum", "tokens", "conditional"} | ({"unigram"} if self.unigrams is not None else set())
        self.capabilities = frozenset(known)
        self.path = _open(folder, len(self.index), options.get("device", "auto"))
        self.spec = Spec(
            uri=address.uri,
            revision=_revision(folder),
            method="ll",
            bos=True,
            eos=read_flag(address, "eos", default=False),
            tokens=unit,
            casing=casing,
            punctuation=marks,
            dtype="float32",
        )

    def score(
        self,
        sentences: Sequence[str],
        *,
        ids: Sequence[str] | None = None,
        tokens: bool = False,
        progress: Progress | None = None,
    ) -> Scores:
        """Score sentences, each distinct sequence of tokens once; an empty sentence is NaN and flagged."""
        unknown, end = self.index[UNKNOWN], self.index[END]
        last = [end] if self.spec.eos else []
        pieces = [self.tokenization.tokens(one) for one in sentences]
        cut = [tuple(self.index.get(piece, unknown) for piece in row) for row in pieces]
        distinct = list(dict.fromkeys(one for one in cut if one))
        rows = self.path.run([[end, *one, *last] for one in distinct], done=progress)
        found = dict(zip(distinct, rows, strict=True))
        logprobs = [found.get(one, np.empty(0)) for one in cut]
        sums = np.array([row.sum() if len(row) else np.nan for row in logprobs], dtype=np.float64)
        n_unk = np.array([one.count(unknown) for one in cut], dtype=np.int32)
        return Scores(
            np.where(np.isfinite(sums), sums, np.nan),
            np.array([len(one) for one in cut], dtype=np.int32),
            np.array([len(sentence.split()) for sentence in sentences], dtype=np.int32),
            np.array([len(sentence) for sentence in sentences], dtype=np.int32),
            n_unk,
            self._flags(sentences, cut, n_unk, sums),
            self.unigrams.sums([(*one, *last) if one else () for one in cut]) if self.unigrams else None,
            logprobs if tokens else None,
            self.tokenization.all_spans(sentences, pieces, end=bool(last)) if tokens else None,
        )

    def _flags(
        self,
        sentences: Sequence[str],
        cut: Sequence[tuple[int, ...]],
        n_unk: npt.NDArray[np.int32],
        sums: Floats,
    ) -> npt.NDArray[np.uint8]:
        empty = np.array([not one for one in cut], dtype=np.bool_)
        flags = FLAG_EMPTY * empty + FLAG_UNKNOWN * (n_unk > 0)
        flags = flags + FLAG_MARKED * np.array([self.index[END] in one for one in cut], dtype=np.bool_)
        flags = flags + FLAG_SAME * indistinguishable(sentences, cut)
        flags = flags + FLAG_NOT_FINITE * (~np.isfinite(sums) & ~empty)
        if self.spec.casing == "lower":
            changed = np.array([one != one.lower() for one in sentences], dtype=np.bool_)
            flags = flags + FLAG_NORMALISED * changed
        return np.asarray(flags, dtype=np.uint8)


def read_vocabulary(path: Path) -> dict[str, int]:
    """Read a vocabulary: a token per line, its number is its line from 0.

    Parameters
    ----------
    path : Path
        UTF-8 text.

    Returns
    -------
    dict of str to int

    Raises
    ------
    BadInput
        If the file is absent, a token stands twice, or ``<unk>`` or ``<eos>`` is missing.
    """
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
            raise BadInput(f"the token {token!r} stands in it twice.", file=str(path), row=number + 1)
        index[token] = number
    for mark in (UNKNOWN, END):
        if mark not in index:
            raise BadInput(
                f"the vocabulary has no {mark}.",
                file=str(path),
                remedy="It needs <unk> for unknown words and <eos> as beginning and end.",
            )
    return index


def _open(folder: Path, n_words: int, device: str) -> Any:
    import torch

    from analysis.scoring.neural.lstm_model import Recurrent, load_weights

    if device not in DEVICES:
        raise UnknownName("device", device, DEVICES)
    if device == "cuda" and not torch.cuda.is_available():
        raise BadInput("no accelerator is found.", remedy="Use device=cpu.")
    model = load_weights(str(folder / WEIGHTS))
    if model.shape.vocabulary != n_words:
        raise BadInput(
            f"the vocabulary has {n_words} lines, the model {model.shape.vocabulary} rows.",
            file=str(folder / VOCABULARY),
            remedy="Use the vocabulary that the model was trained with.",
        )
    chosen = "cuda" if device == "auto" and torch.cuda.is_available() else device.replace("auto", "cpu")
    return Recurrent(model.to(chosen))


def _settings(path: Path) -> dict[str, str]:
    """How the model's text was cut, where the folder says so."""
    if not path.is_file():
        return {}
    try:
        read = json.loads(path.read_text(encoding="utf-8"))
        return {str(name): str(value) for name, value in read.items()}
    except (ValueError, AttributeError) as error:
        raise BadInput("the settings cannot be read.", file=str(path)) from error


def _revision(folder: Path) -> str:
    digest = hashlib.sha256()
    for name in (WEIGHTS, VOCABULARY, SETTINGS, UNIGRAMS):
        if (folder / name).is_file():
            digest.update(f"{name} {file_revision(folder / name)}\n".encode())
    return f"sha256:{digest.hexdigest()}"
