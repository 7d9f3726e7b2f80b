"""What a device provides to run a model faster with the same scores; one back end per kind of device."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol

import torch

from analysis.scoring.neural.cpu.backend import CPUBackend
from analysis.scoring.neural.cpu.heads import tiled_head


class Layers(Protocol):
    """Substitutes for a model's linear layers, made once and used while it runs."""

    def active(self) -> AbstractContextManager[None]:
        """Run the model with the substitutes inside this context, with its own layers afterwards."""
        ...


class OutputHead(Protocol):
    """The linear map from hidden states to the vocabulary."""

    weight: torch.Tensor

    def log_normalizer(self, hidden: torch.Tensor) -> torch.Tensor:
        """Return log Σ exp(logit) of each row, in float32."""
        ...

    def logits(self, hidden: torch.Tensor, token: torch.Tensor) -> torch.Tensor:
        """Return the logit of one token per row, in float32."""
        ...


class Backend(Protocol):
    """Accelerated parts of one model; each leaves the model unchanged where it cannot be accelerated."""

    def linear_layers(self, *, head: bool = False) -> Layers:
        """Return substitutes for the linear layers of the body, or of the ``head`` as well."""
        ...

    def output_head(self) -> OutputHead | None:
        """Return the model's head; None where it is not one linear map of the hidden state."""
        ...

    def activations(self) -> AbstractContextManager[None]:
        """Use faster activations inside this context."""
        ...

    def tree_attention(self) -> AbstractContextManager[None]:
        """Use attention that is faster for prefix trees inside this context."""
        ...


class OwnLayers:
    """The model's own layers, for models without substitutes."""

    def active(self) -> AbstractContextManager[None]:
        """Change nothing."""
        return nullcontext()


class OwnBackend:
    """The model's own layers, activations and attention, with which a path is proven."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def linear_layers(self, *, head: bool = False) -> Layers:
        """Return the model's own layers."""
        return OwnLayers()

    def output_head(self) -> OutputHead | None:
        """Return the head in tiles of its own weights."""
        return tiled_head(self.model, packed=False)

    def activations(self) -> AbstractContextManager[None]:
        """Change nothing."""
        return nullcontext()

    def tree_attention(self) -> AbstractContextManager[None]:
        """Change nothing."""
        return nullcontext()


def backend_for(model: Any) -> Backend:
    """Return the back end of the device that holds a model.

    There is one so far. On other devices its tiled head and fused GELU apply as well; its other parts check
    the device and leave the model as it is.
    """
    return CPUBackend(model)
