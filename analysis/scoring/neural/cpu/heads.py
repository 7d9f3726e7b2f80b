"""Log probabilities of next tokens from hidden states, one tile of the vocabulary at a time."""

from functools import cached_property
from math import log2
from typing import Any

import torch

from .packed import MAX_PACKED_BYTES, can_pack, linear, pack

ROWS = 512
# Words of one tile: on a CPU its logits should stay in the core's cache, other devices want large products.
WORDS = {"cpu": 512}
WORDS_ELSEWHERE = 2048
BITS = log2(torch.e)  # per nat


class TiledHead:
    """A linear head, ``weight`` (vocabulary, width) and ``bias``, in tiles of the vocabulary.

    Notes
    -----
    log p(w | h) = h·W_w + b_w − log Σ_v exp(h·W_v + b_v). The sum runs over tiles with a running maximum, so
    that memory is bounded by one tile and every product has an efficient size. It is computed to base 2:
    exp2 takes a quarter of the time of exp where MKL computes exp on a processor that is not Intel's. With
    oneDNN, tiles of up to 2 GiB in total are copied into its layout when they are first used.
    """

    def __init__(
        self, weight: torch.Tensor, bias: torch.Tensor | None = None, *, packed: bool = True
    ) -> None:
        self.weight, self.bias = weight, bias
        self.onednn = packed and can_pack(weight)
        self.words = WORDS.get(weight.device.type, WORDS_ELSEWHERE)

    @cached_property
    def tiles(self) -> list[tuple[torch.Tensor, torch.Tensor | None]]:
        """Weights and bias of each tile, in the layout of the product."""
        weights = self.weight.split(self.words)
        biases = [None] * len(weights) if self.bias is None else self.bias.split(self.words)
        if self.onednn and self.weight.nbytes <= MAX_PACKED_BYTES:
            weights = [pack(weight) for weight in weights]
        return list(zip(weights, biases, strict=True))

    def log_normalizer(self, hidden: torch.Tensor) -> torch.Tensor:
        """Return log Σ exp(logit) of each row, in float32."""
        return torch.cat([self._rows(rows) for rows in torch.chunk(hidden, -(-len(hidden) // ROWS))])

    def logits(self, hidden: torch.Tensor, token: torch.Tensor) -> torch.Tensor:
        """Return the logit of one token per row, in float32."""
        logits = (hidden.float() * self.weight[token].float()).sum(-1)
        return logits if self.bias is None else logits + self.bias[token].float()

    def _rows(self, hidden: torch.Tensor) -> torch.Tensor:
        """Return log Σ exp(logit) of each row."""
        # Intermediate values are in bits, the result in nats.
        product = linear if self.onednn else torch.nn.functional.linear
        top = torch.full((len(hidden),), torch.finfo(torch.float32).min, device=hidden.device)
        total = torch.zeros(len(hidden), device=hidden.device)
        for weight, bias in self.tiles:
            logits = product(hidden, weight, bias).float()
            higher = torch.maximum(top, logits.amax(1).mul_(BITS))
            total.mul_(torch.exp2(top - higher))
            total.add_(torch.add(-higher[:, None], logits, alpha=BITS).exp2_().sum(1))
            top = higher
        return (top + total.log2()) / BITS


def tiled_head(model: Any, *, packed: bool = True) -> TiledHead | None:
    """Return a model's head in tiles; None where it is not one linear map of the hidden state."""
    layer = model.get_output_embeddings()
    if layer is None or not isinstance(layer, torch.nn.Linear):
        return None
    bias = None if layer.bias is None else layer.bias.detach()
    return TiledHead(layer.weight.detach(), bias, packed=packed)
