"""Log probabilities of next tokens from hidden states, a tile of the vocabulary at a time."""

from functools import cached_property
from math import log2
from typing import Any

import torch

from analysis.scoring.neural.packed import PACKED_MOST, linear, pack, packs

ROWS = 512
WORDS = {"cpu": 512}  # of one tile, whose logits stay in the core's cache; elsewhere 2048
BITS = log2(torch.e)  # of a nat


class TiledHead:
    """A linear head in tiles of the vocabulary.

    Parameters
    ----------
    weight : tensor, (vocabulary, width)
        Output embeddings.
    bias : tensor, (vocabulary,), optional
        Their bias.

    Notes
    -----
    log p(w | h) = h·W_w + b_w − log Σ_v exp(h·W_v + b_v). The sum runs over tiles with a running maximum, so
    that the memory is one tile's and every product has a size at which it is fast. It is kept to base 2:
    exp2 takes a quarter of exp's time where exp goes to MKL and the processor is not Intel's. Where oneDNN is
    there, tiles of up to 2 GiB in all are copied into its order when they are first used.
    """

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor | None = None) -> None:
        self.weight, self.bias = weight, bias
        self.onednn = packs(weight)
        self.words = WORDS.get(weight.device.type, 2048)

    @cached_property
    def tiles(self) -> list[tuple[torch.Tensor, torch.Tensor | None]]:
        """Weights and bias of each tile, as the product wants them."""
        weights = self.weight.split(self.words)
        biases = [None] * len(weights) if self.bias is None else self.bias.split(self.words)
        if self.onednn and self.weight.nbytes <= PACKED_MOST:
            weights = [pack(weight) for weight in weights]
        return list(zip(weights, biases, strict=True))

    def log_normalizer(self, hidden: torch.Tensor) -> torch.Tensor:
        """log Σ exp(logit) of each row; float32."""
        return torch.cat([self._rows(part) for part in torch.chunk(hidden, -(-len(hidden) // ROWS))])

    def logits(self, hidden: torch.Tensor, token: torch.Tensor) -> torch.Tensor:
        """The logit of one token per row; float32."""
        found = (hidden.float() * self.weight[token].float()).sum(-1)
        return found if self.bias is None else found + self.bias[token].float()

    def _rows(self, hidden: torch.Tensor) -> torch.Tensor:
        """log Σ exp(logit); between the two, all is in bits."""
        product = linear if self.onednn else torch.nn.functional.linear
        top = torch.full((len(hidden),), torch.finfo(torch.float32).min, device=hidden.device)
        total = torch.zeros(len(hidden), device=hidden.device)
        for weight, bias in self.tiles:
            part = product(hidden, weight, bias).float()
            higher = torch.maximum(top, part.amax(1).mul_(BITS))
            total.mul_(torch.exp2(top - higher))
            total.add_(torch.add(-higher[:, None], part, alpha=BITS).exp2_().sum(1))
            top = higher
        return (top + total.log2()) / BITS


def head_of(model: Any) -> TiledHead | None:
    """The head of a model as tiles; None where it is not one linear map of the hidden state.

    Parameters
    ----------
    model : transformers model for causal language modelling

    Returns
    -------
    TiledHead or None
    """
    layer = model.get_output_embeddings()
    if layer is None or not isinstance(layer, torch.nn.Linear):
        return None
    return TiledHead(layer.weight.detach(), None if layer.bias is None else layer.bias.detach())
