"""A recurrent language model with the weight names of PyTorch's word_language_model."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch import nn

from ...errors import BadInput
from .backend import Layers, OwnLayers
from .causal_paths import Plain

BATCH_TOKENS = 2048  # a recurrent step is fast only for many sentences at once


@dataclass(frozen=True)
class Shape:
    """Sizes of a model: rows of the vocabulary, width of embeddings, width of states, layers."""

    vocabulary: int
    width: int
    hidden: int
    layers: int
    tied: bool = True


class LSTMModel(nn.Module):  # type: ignore[misc,unused-ignore]
    """Embedding, LSTM and linear map to the vocabulary; tied when the widths are equal and ``tied`` is set.

    The weights are called ``encoder``, ``rnn`` and ``decoder``, as in Gulordava et al. (2018).
    """

    def __init__(self, shape: Shape, *, dropout: float = 0.0) -> None:
        super().__init__()
        self.shape = shape
        self.drop = nn.Dropout(dropout)
        self.encoder = nn.Embedding(shape.vocabulary, shape.width)
        between = dropout if shape.layers > 1 else 0.0
        self.rnn = nn.LSTM(shape.width, shape.hidden, shape.layers, dropout=between, batch_first=True)
        self.decoder = nn.Linear(shape.hidden, shape.vocabulary)
        nn.init.uniform_(self.encoder.weight, -0.1, 0.1)
        nn.init.uniform_(self.decoder.weight, -0.1, 0.1)
        nn.init.zeros_(self.decoder.bias)
        if shape.tied and shape.width == shape.hidden:
            self.decoder.weight = self.encoder.weight

    def states(self, input_ids: torch.Tensor) -> torch.Tensor:
        """Return the states of the last layer after each token; a row starts from zeros."""
        embedded = self.drop(self.encoder(input_ids))
        kind = embedded.device.type
        if torch.is_autocast_enabled(kind) and not recurs_in_half(kind):
            with torch.autocast(kind, enabled=False):
                output, _ = self.rnn(embedded.float())
        else:
            output, _ = self.rnn(embedded)
        states: torch.Tensor = self.drop(output)
        return states

    def forward(self, input_ids: torch.Tensor) -> torch.Tensor:
        """Return the logits of the next token after each token."""
        logits: torch.Tensor = self.decoder(self.states(input_ids))
        return logits

    def get_output_embeddings(self) -> nn.Linear:
        """Return the head, under the name that transformers uses."""
        return self.decoder


@cache
def recurs_in_half(kind: str) -> bool:
    """Test whether recurrent layers run in bfloat16 on this kind of device."""
    # oneDNN raises on processors without AVX-512, and torch calls it there regardless.
    layer = nn.LSTM(1, 1).to(kind)
    try:
        with torch.autocast(kind, dtype=torch.bfloat16):
            layer(torch.zeros(1, 1, 1, device=kind))
    except RuntimeError:
        return False
    return True


class Recurrent(Plain):
    """Batches of similar length through the LSTM; padding on the right is never read."""

    name = "recurrent"

    def __init__(self, model: LSTMModel, *, budget: int = BATCH_TOKENS) -> None:
        super().__init__(model, budget=budget)

    def _layers(self) -> Layers:
        return OwnLayers()  # a back end substitutes layers of transformers' models only

    def _hidden(self, **inputs: torch.Tensor) -> torch.Tensor:
        states: torch.Tensor = self.model.states(inputs["input_ids"])
        return states


def read_shape(state: Mapping[str, Any], *, file: str) -> Shape:
    """Read a model's sizes from its weights."""
    required = ("encoder.weight", "rnn.weight_ih_l0", "rnn.weight_hh_l0", "decoder.weight", "decoder.bias")
    missing = [name for name in required if name not in state]
    if missing:
        raise BadInput(
            f"the weights {', '.join(missing)} are missing; "
            f"the file contains {', '.join(list(state)[:6]) or 'none'}.",
            file=file,
            remedy="An LSTM's state has encoder, rnn and decoder, as word_language_model saves them.",
        )
    layers = sum(name.startswith("rnn.weight_ih_l") for name in state)
    vocabulary, width = state["encoder.weight"].shape
    hidden = state["rnn.weight_hh_l0"].shape[1]
    if state["rnn.weight_hh_l0"].shape[0] != 4 * hidden:
        raise BadInput(
            "the recurrent layer is not an LSTM.", file=file, remedy="GRU and plain RNN are not supported."
        )
    return Shape(vocabulary, width, hidden, layers, tied=False)


def load_weights(path: str) -> LSTMModel:
    """Load a model from a file of weights without running code that the file may contain."""
    try:
        state = torch.load(path, map_location="cpu", weights_only=True)
    except OSError as error:
        raise BadInput("there is no such file.", file=path) from error
    except Exception as error:  # broken bytes make the unpickler raise any type; reported below
        raise BadInput(
            "it is not a plain file of weights: a whole pickled model, or a broken file.",
            file=path,
            remedy='Where you trust its source, convert it once: python -c "import torch; '
            "m = torch.load('model.pt', map_location='cpu', weights_only=False); "
            "torch.save(m.state_dict(), 'model.pt')\".",
        ) from error
    if not isinstance(state, Mapping):
        raise BadInput(f"the file contains a {type(state).__name__}, not weights by name.", file=path)
    model = LSTMModel(read_shape(state, file=path))
    try:
        model.load_state_dict(dict(state))
    except RuntimeError as error:
        detail = " ".join(str(error).split())[:300]
        raise BadInput(f"the weights do not fit together: {detail}", file=path) from error
    model.float().eval()
    return model
