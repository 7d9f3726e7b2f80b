"""The CPU implementation of :class:`analysis.scoring.neural.backend.Backend`."""

from contextlib import AbstractContextManager
from typing import Any

from analysis.scoring.neural.cpu.activations import fast_gelu
from analysis.scoring.neural.cpu.heads import TiledHead, tiled_head
from analysis.scoring.neural.cpu.packed import PackedLayers, packed_layers
from analysis.scoring.neural.cpu.tree_attention import fast_tree_attention


class CPUBackend:
    """Packed linear layers, a tiled head, an in-place GELU and bfloat16 attention for one model."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self._layers: dict[bool, PackedLayers] = {}

    def linear_layers(self, *, head: bool = False) -> PackedLayers:
        """Return packed layers; packing copies the weights, so it happens once."""
        if head not in self._layers:
            self._layers[head] = packed_layers(self.model, head=head)
        return self._layers[head]

    def output_head(self) -> TiledHead | None:
        """Return the head in tiles of the vocabulary."""
        return tiled_head(self.model)

    def activations(self) -> AbstractContextManager[None]:
        """Replace tanh-approximated GELU modules."""
        return fast_gelu(self.model)

    def tree_attention(self) -> AbstractContextManager[None]:
        """Use bfloat16 products for attention over trees."""
        return fast_tree_attention(self.model)
