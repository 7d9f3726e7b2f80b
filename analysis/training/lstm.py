"""Building a recurrent language model, and saving it for ``lstm:FOLDER``."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from ..scoring.neural.lstm_model import LSTMModel, Shape
from ..scoring.scorers.lstm import SETTINGS, VOCABULARY, WEIGHTS
from ..scoring.words.tokens import Tokenization
from ..scoring.words.unigrams import UNIGRAMS
from .codec import WordCodec, frequent_words
from .plan import Plan


def make_codec(plan: Plan, sentences: Sequence[str], checkpoint: Path | None = None) -> WordCodec:
    """Return the encoder; the same text always gives the same, so ``checkpoint`` is not used."""
    tokenization = Tokenization(plan.tokens, plan.casing, plan.punctuation)
    words = frequent_words((tokenization.tokens(sentence) for sentence in sentences), size=plan.vocabulary)
    return WordCodec(tokenization, words)


def build(plan: Plan, codec: WordCodec) -> LSTMModel:
    """Make a model with random weights, shared by embeddings and output."""
    return LSTMModel(Shape(codec.n_types, plan.width, plan.width, plan.layers), dropout=plan.dropout)


def logits(model: Any, ids: torch.Tensor) -> torch.Tensor:
    """Return the logits of next tokens."""
    output: torch.Tensor = model(ids)
    return output


def save(
    folder: Path, model: LSTMModel, codec: WordCodec, plan: Plan, unigrams: npt.NDArray[np.float64]
) -> None:
    """Write weights, vocabulary, unigram probabilities and tokenization."""
    state = {name: weight.detach().cpu().float().clone() for name, weight in model.state_dict().items()}
    torch.save(state, folder / WEIGHTS)
    (folder / VOCABULARY).write_text("\n".join(codec.words) + "\n", encoding="utf-8")
    np.savetxt(folder / UNIGRAMS, unigrams, fmt="%.17g")
    settings = codec.tokenization.record()
    (folder / SETTINGS).write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")
