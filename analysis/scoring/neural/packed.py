"""Linear layers by oneDNN on a processor, their weights laid out for it, the activation in the same pass.

torch hands float32 products on a processor to MKL, which on some makes uses half of the vector unit. oneDNN,
which comes with torch as well, uses all of it on every make. What it gives is the same function; it is tried
on a few tokens first, and a model for which it is not the same keeps its own layers.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import torch

PACKED_MOST = 2 << 30  # bytes of weights that are copied into oneDNN's order; more stay as they lie
TOKENS = 8  # of the trial
CLOSE = {torch.float32: 1e-3, torch.bfloat16: 5e-2}  # of the largest number of the body's output
FUSED = {  # class of an activation: what oneDNN calls it
    "ReLU": ("relu", ""),
    "SiLU": ("swish", ""),
    "SiLUActivation": ("swish", ""),
    "GELUActivation": ("gelu", "none"),
    "NewGELUActivation": ("gelu", "tanh"),
    "FastGELUActivation": ("gelu", "tanh"),
    "PytorchGELUTanh": ("gelu", "tanh"),
    "GELUTanh": ("gelu", "tanh"),
}
FAILURES = (TypeError, ValueError, RuntimeError, AttributeError, NotImplementedError, IndexError, KeyError)


def linear(
    rows: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None,
    *,
    after: str = "none",
    how: str = "",
) -> torch.Tensor:
    """Rows times the transposed weights plus bias, then an activation, by oneDNN.

    Parameters
    ----------
    rows : tensor, (..., in)
    weight : tensor, (out, in)
        As it lies, or as :func:`pack` gives it.
    bias : tensor, (out,), optional
    after, how : str
        An activation and its kind, of those in ``FUSED``.

    Returns
    -------
    tensor, (..., out)
    """
    found: torch.Tensor = torch.ops.mkldnn._linear_pointwise(rows, weight, bias, after, [], how)
    return found


def pack(weight: torch.Tensor) -> torch.Tensor:
    """A copy of the weights, (out, in), in the order that oneDNN reads quickest."""
    packed: torch.Tensor = torch.ops.mkldnn._reorder_linear_weight(weight.contiguous())
    return packed


def packs(weight: torch.Tensor) -> bool:
    """Whether oneDNN is there for such weights: on a processor, in float32 or bfloat16."""
    return weight.device.type == "cpu" and weight.dtype in CLOSE and _works(weight.dtype)


@cache
def _works(dtype: torch.dtype) -> bool:
    """Whether this build of torch has both functions; they are its compiler's, and their names its own."""
    ones = torch.ones(2, 2, dtype=dtype)
    try:
        with torch.inference_mode():
            return bool((linear(ones, pack(ones), None) == 2).all())
    except FAILURES:
        return False


class PackedLinear(torch.nn.Module):
    """A layer's stand-in: the same parameters, its product by oneDNN, perhaps its activation."""

    def __init__(self, layer: Any, packed: torch.Tensor, *, after: str = "none", how: str = "") -> None:
        super().__init__()
        self.weight, self.bias, self.packed = layer.weight, layer.bias, packed
        self.after, self.how = after, how

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        """Multiply, add, activate."""
        return linear(rows, self.packed, self.bias, after=self.after, how=self.how)


@dataclass(frozen=True)
class Swap:
    """A module of a model and what stands in for it."""

    parent: Any
    name: str
    own: Any
    other: Any


@dataclass(frozen=True)
class Layers:
    """Stand-ins for a model's linear layers, made once and put in while it runs."""

    swaps: Sequence[Swap] = ()

    @contextmanager
    def put_in(self) -> Iterator[None]:
        """Put them in, for a while."""
        try:
            for one in self.swaps:
                setattr(one.parent, one.name, one.other)
            yield
        finally:
            for one in self.swaps:
                setattr(one.parent, one.name, one.own)


def packed_layers(model: Any, *, head: bool = False) -> Layers:
    """Make the stand-ins of a model: with activations, without, or none, the first that changes nothing.

    Parameters
    ----------
    model : transformers model
        As it was afterwards.
    head : bool
        What stands behind the body as well. The trial asks the body only; a head is for the caller to check.

    Returns
    -------
    Layers
        Empty where oneDNN has nothing to offer.

    Notes
    -----
    Weights in oneDNN's order are a copy and take as much memory again; above 2 GiB they stay where they lie,
    which is some per cent slower.
    """
    weight = next(model.parameters())
    if not packs(weight):
        return Layers()
    try:
        known = model.get_input_embeddings().weight.shape[0]
        ids = torch.arange(TOKENS)[None] % known
        with torch.inference_mode():
            right = _body(model, ids)
            plain = Layers(_swaps(model if head else model.base_model))
            fused = Layers(_with_activations(model, plain.swaps, ids))
    except FAILURES:
        return Layers()
    return next((layers for layers in (fused, plain) if _same(model, layers, ids, right)), Layers())


def _swaps(part: Any) -> list[Swap]:
    found = [
        (parent, name, layer)
        for parent in part.modules()
        for name, layer in parent.named_children()
        if type(layer) is torch.nn.Linear or type(layer).__name__ == "Conv1D"
    ]
    copied = sum(layer.weight.nbytes for _, _, layer in found) <= PACKED_MOST
    made = []
    for parent, name, layer in found:
        weight = layer.weight.detach() if isinstance(layer, torch.nn.Linear) else layer.weight.detach().T
        made.append(Swap(parent, name, layer, PackedLinear(layer, pack(weight) if copied else weight)))
    return made


def _with_activations(model: Any, swaps: Sequence[Swap], ids: torch.Tensor) -> list[Swap]:
    """Let a layer do the activation that gets its output, and let nothing stand in for that."""
    given: dict[int, tuple[int, torch.Tensor]] = {}  # by address of an output, which is kept alive
    asked: dict[int, Swap] = {}  # by place of the layer

    def gives(place: int) -> Any:
        return lambda _, __, out: given.__setitem__(out.data_ptr(), (place, out))

    def asks(swap: Swap) -> Any:
        def look(_: Any, states: tuple[Any, ...]) -> None:
            if states and torch.is_tensor(states[0]) and states[0].data_ptr() in given:
                asked[given[states[0].data_ptr()][0]] = swap

        return look

    hooks = [one.own.register_forward_hook(gives(place)) for place, one in enumerate(swaps)]
    for parent in model.modules():
        for name, child in parent.named_children():
            if type(child).__name__ in FUSED:
                swap = Swap(parent, name, child, torch.nn.Identity())
                hooks.append(child.register_forward_pre_hook(asks(swap)))
    try:
        _body(model, ids)
    finally:
        for hook in hooks:
            hook.remove()
    made = list(swaps)
    for place, activation in asked.items():
        after, how = FUSED[type(activation.own).__name__]
        layer = swaps[place].own
        made[place] = replace(
            swaps[place], other=PackedLinear(layer, swaps[place].other.packed, after=after, how=how)
        )
    return [*made, *asked.values()]


def _body(model: Any, ids: torch.Tensor) -> torch.Tensor:
    hidden: torch.Tensor = model.base_model(input_ids=ids).last_hidden_state
    return hidden


def _same(model: Any, layers: Layers, ids: torch.Tensor, right: torch.Tensor) -> bool:
    try:
        with torch.inference_mode(), layers.put_in():
            found = _body(model, ids)
    except FAILURES:
        return False
    worst, most = (found - right).abs().max(), right.abs().max()
    return bool(worst <= CLOSE[right.dtype] * most)
