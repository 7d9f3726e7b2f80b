"""Build a recurrent language model and save it so that ``lstm:FOLDER`` scores with it."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from analysis.scoring.lstm import SETTINGS, VOCABULARY, WEIGHTS
from analysis.scoring.neural.lstm_model import LSTMModel, Shape
from analysis.scoring.tokens import Tokenization
from analysis.scoring.unigrams import UNIGRAMS
from analysis.training.codec import WordCodec, frequent_words
from analysis.training.plan import Plan


def make_codec(plan: Plan, sentences: Sequence[str], kept: Path | None = None) -> WordCodec:
    """Choose the vocabulary; the same text always gives the same, so none need be kept."""
    tokenization = Tokenization(plan.tokens, plan.casing, plan.punctuation)
    words = frequent_words((tokenization.tokens(one) for one in sentences), most=plan.vocabulary)
    return WordCodec(tokenization, words)


def build(plan: Plan, codec: WordCodec) -> LSTMModel:
    """Make a model with fresh weights; embeddings and output share theirs."""
    return LSTMModel(Shape(codec.n_types, plan.width, plan.width, plan.layers), dropout=plan.dropout)


def logits(model: Any, ids: torch.Tensor) -> torch.Tensor:
    """Logits of next tokens."""
    found: torch.Tensor = model(ids)
    return found


def save(
    folder: Path, model: LSTMModel, codec: WordCodec, plan: Plan, unigrams: npt.NDArray[np.float64]
) -> None:
    """Write weights, vocabulary, unigrams and how the text is cut."""
    state = {name: weight.detach().cpu().float().clone() for name, weight in model.state_dict().items()}
    torch.save(state, folder / WEIGHTS)
    (folder / VOCABULARY).write_text("\n".join(codec.words) + "\n", encoding="utf-8")
    np.savetxt(folder / UNIGRAMS, unigrams, fmt="%.17g")
    settings = codec.tokenization.recorded()
    (folder / SETTINGS).write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")
