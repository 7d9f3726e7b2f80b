"""Log probabilities of next tokens from hidden states, a tile of the vocabulary at a time."""

from typing import Any

import torch

from analysis.scoring.neural.packed import linear, packs

ROWS = 512
WORDS = {"cpu": 512}  # of one tile, whose logits stay in the core's cache; elsewhere 2048


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
    that the memory is one tile's and every product has a size at which it is fast.
    """

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor | None = None) -> None:
        self.weight, self.bias = weight, bias
        self.linear = linear if packs(weight) else torch.nn.functional.linear
        self.words = WORDS.get(weight.device.type, 2048)

    def log_normalizer(self, hidden: torch.Tensor) -> torch.Tensor:
        """log Σ exp(logit) of each row; float32."""
        return torch.cat([self._rows(part) for part in torch.chunk(hidden, -(-len(hidden) // ROWS))])

    def logits(self, hidden: torch.Tensor, token: torch.Tensor) -> torch.Tensor:
        """The logit of one token per row; float32."""
        found = (hidden.float() * self.weight[token].float()).sum(-1)
        return found if self.bias is None else found + self.bias[token].float()

    def _rows(self, hidden: torch.Tensor) -> torch.Tensor:
        top = torch.full((len(hidden),), -torch.inf, device=hidden.device)
        total = torch.zeros(len(hidden), device=hidden.device)
        for start in range(0, len(self.weight), self.words):
            tile = self.weight[start : start + self.words]
            bias = None if self.bias is None else self.bias[start : start + self.words]
            part = self.linear(hidden, tile, bias).float()
            higher = torch.maximum(top, part.amax(1))
            total.mul_(torch.exp(top - higher))
            total.add_(part.sub_(higher[:, None]).exp_().sum(1))
            top = higher
        return top + total.log()


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
