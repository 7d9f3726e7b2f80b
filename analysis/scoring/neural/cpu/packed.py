"""Linear layers computed by oneDNN, with packed weights and the activation in the same pass.

torch computes float32 products on a CPU by MKL, which on some processors uses half of the vector unit.
oneDNN, which torch includes as well, uses all of it. It computes the same function; it is tested on a few
tokens first, and a model for which the results differ keeps its own layers.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import torch

MAX_PACKED_BYTES = 2 << 30  # weights copied into oneDNN's layout; above that they are used in place
TRIAL_TOKENS = 8
TOLERANCE = {torch.float32: 1e-3, torch.bfloat16: 5e-2}  # relative to the largest number of the output
FUSED = {  # class of an activation: name and variant in oneDNN
    "ReLU": ("relu", ""),
    "SiLU": ("swish", ""),
    "SiLUActivation": ("swish", ""),
    "GELUActivation": ("gelu", "none"),
    "NewGELUActivation": ("gelu", "tanh"),
    "FastGELUActivation": ("gelu", "tanh"),
    "PytorchGELUTanh": ("gelu", "tanh"),
    "GELUTanh": ("gelu", "tanh"),
}
# What a build of torch or an unusual architecture may raise; the model then keeps its own layers.
FAILURES = (TypeError, ValueError, RuntimeError, AttributeError, NotImplementedError, IndexError, KeyError)


def linear(
    rows: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor | None,
    *,
    activation: str = "none",
    variant: str = "",
) -> torch.Tensor:
    """Return the activation of rows times transposed weights plus bias, computed by oneDNN."""
    product: torch.Tensor = torch.ops.mkldnn._linear_pointwise(rows, weight, bias, activation, [], variant)
    return product


def pack(weight: torch.Tensor) -> torch.Tensor:
    """Copy weights, (out, in), into the layout that oneDNN reads fastest."""
    packed: torch.Tensor = torch.ops.mkldnn._reorder_linear_weight(weight.contiguous())
    return packed


def can_pack(weight: torch.Tensor) -> bool:
    """Return whether oneDNN is available for such weights: on a CPU, in float32 or bfloat16."""
    return weight.device.type == "cpu" and weight.dtype in TOLERANCE and _works(weight.dtype)


@cache
def _works(dtype: torch.dtype) -> bool:
    """Return whether this build of torch has both functions and they multiply correctly."""
    # They belong to torch's compiler and are private, so another version may lack or change them.
    ones = torch.ones(2, 2, dtype=dtype)
    try:
        with torch.inference_mode():
            return bool((linear(ones, pack(ones), None) == 2).all())
    except FAILURES:
        return False


class PackedLinear(torch.nn.Module):
    """Substitute for a layer: the same parameters, computed by oneDNN, perhaps with its activation."""

    def __init__(
        self, layer: Any, packed: torch.Tensor, *, activation: str = "none", variant: str = ""
    ) -> None:
        super().__init__()
        self.weight, self.bias, self.packed = layer.weight, layer.bias, packed
        self.activation, self.variant = activation, variant

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        """Multiply, add, activate."""
        return linear(rows, self.packed, self.bias, activation=self.activation, variant=self.variant)


@dataclass(frozen=True)
class Substitution:
    """A module of a model and its substitute."""

    parent: Any
    name: str
    original: Any
    substitute: Any


@dataclass(frozen=True)
class PackedLayers:
    """Substitutes for a model's linear layers, made once and used while it runs."""

    substitutions: Sequence[Substitution] = ()

    @contextmanager
    def active(self) -> Iterator[None]:
        """Run the model with the substitutes inside this context, with its own layers afterwards."""
        try:
            for entry in self.substitutions:
                setattr(entry.parent, entry.name, entry.substitute)
            yield
        finally:
            for entry in self.substitutions:
                setattr(entry.parent, entry.name, entry.original)


def packed_layers(model: Any, *, head: bool = False) -> PackedLayers:
    """Return substitutes with fused activations, without them, or none: the first with the same output.

    Notes
    -----
    Packed weights are a copy and double the memory; above 2 GiB they are used in place, which is a few per
    cent slower.
    """
    weight = next(model.parameters())
    if not can_pack(weight):
        return PackedLayers()
    try:
        n_rows = model.get_input_embeddings().weight.shape[0]
        ids = torch.arange(TRIAL_TOKENS)[None] % n_rows
        with torch.inference_mode():
            expected = _body(model, ids)
            plain = PackedLayers(_substitutions(model if head else model.base_model))
            fused = PackedLayers(_with_activations(model, plain.substitutions, ids))
    except FAILURES:
        return PackedLayers()
    agreeing = (layers for layers in (fused, plain) if _agrees(model, layers, ids, expected))
    return next(agreeing, PackedLayers())


def _substitutions(module: Any) -> list[Substitution]:
    linear_layers = [
        (parent, name, layer)
        for parent in module.modules()
        for name, layer in parent.named_children()
        if type(layer) is torch.nn.Linear or type(layer).__name__ == "Conv1D"
    ]
    is_copied = sum(layer.weight.nbytes for _, _, layer in linear_layers) <= MAX_PACKED_BYTES
    substitutions = []
    for parent, name, layer in linear_layers:
        # transformers' Conv1D is a linear layer with its weights transposed.
        weight = layer.weight.detach() if isinstance(layer, torch.nn.Linear) else layer.weight.detach().T
        packed = PackedLinear(layer, pack(weight) if is_copied else weight)
        substitutions.append(Substitution(parent, name, layer, packed))
    return substitutions


def _with_activations(
    model: Any, substitutions: Sequence[Substitution], ids: torch.Tensor
) -> list[Substitution]:
    """Fuse each layer with the activation that receives its output, which becomes an identity."""
    # Outputs by memory address; they are referenced here so that no address is used twice.
    outputs: dict[int, tuple[int, torch.Tensor]] = {}
    activations: dict[int, Substitution] = {}  # by position of the layer before it

    def record_output(position: int) -> Any:
        return lambda _, __, output: outputs.__setitem__(output.data_ptr(), (position, output))

    def record_input(activation: Substitution) -> Any:
        def match(_: Any, states: tuple[Any, ...]) -> None:
            if states and torch.is_tensor(states[0]) and states[0].data_ptr() in outputs:
                activations[outputs[states[0].data_ptr()][0]] = activation

        return match

    hooks = [
        entry.original.register_forward_hook(record_output(position))
        for position, entry in enumerate(substitutions)
    ]
    for parent in model.modules():
        for name, child in parent.named_children():
            if type(child).__name__ in FUSED:
                identity = Substitution(parent, name, child, torch.nn.Identity())
                hooks.append(child.register_forward_pre_hook(record_input(identity)))
    try:
        _body(model, ids)
    finally:
        for hook in hooks:
            hook.remove()
    fused = list(substitutions)
    for position, activation in activations.items():
        name, variant = FUSED[type(activation.original).__name__]
        entry = substitutions[position]
        substitute = PackedLinear(entry.original, entry.substitute.packed, activation=name, variant=variant)
        fused[position] = replace(entry, substitute=substitute)
    return [*fused, *activations.values()]


def _body(model: Any, ids: torch.Tensor) -> torch.Tensor:
    hidden: torch.Tensor = model.base_model(input_ids=ids).last_hidden_state
    return hidden


def _agrees(model: Any, layers: PackedLayers, ids: torch.Tensor, expected: torch.Tensor) -> bool:
    try:
        with torch.inference_mode(), layers.active():
            hidden = _body(model, ids)
    except FAILURES:
        return False
    worst, largest = (hidden - expected).abs().max(), expected.abs().max()
    return bool(worst <= TOLERANCE[expected.dtype] * largest)
