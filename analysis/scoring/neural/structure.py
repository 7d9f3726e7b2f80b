"""Properties of a loaded model's modules and configuration that decide how it can be run."""

import inspect
import re
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch.nn.modules.conv import _ConvNd

# Tokens of a sentence at most: longer ones are texts, and the memory of attention grows with the square.
LONGEST = 4_096
# Names in configurations and of modules; which models have them does not matter.
WINDOW = re.compile(r"(^|_)(window|chunk)(_size)?$|^local_attention$")
POSITIONS = re.compile(r"^(max_(position|seq|sequence|target|context)\w*|n_positions|n_ctx)$")
ATTENTION = re.compile(r"attention|attn", re.IGNORECASE)
ATTENDING_KINDS = ("full_attention", "sliding_attention", "chunked_attention", "attention", "global", "local")


def tree_obstacle(model: Any, *, n_tokens: int) -> str:
    """Return why sequences of so many tokens cannot share prefixes in this model; empty if they can.

    Notes
    -----
    Sharing needs a model in which a token sees others through attention only, under the mask that it is
    given, and knows its place by its position id only. Convolutions and recurrent states pass from one token
    to the one stored before it, ALiBi counts stored tokens, and a window is no part of the mask given.
    """
    body = model.base_model
    parameters = inspect.signature(body.forward).parameters
    if not {"position_ids", "attention_mask"} <= parameters.keys():
        return "the model takes no position ids"
    if getattr(model, "_is_stateful", False) or any(isinstance(m, torch.nn.RNNBase) for m in body.modules()):
        return "it has a recurrent state"
    for module in body.modules():
        if isinstance(module, _ConvNd):
            return f"it has a convolution ({type(module).__name__})"
    n_layers = int(getattr(body.config, "num_hidden_layers", 0) or 0)
    layers = [
        layer
        for module in body.modules()
        if isinstance(module, torch.nn.ModuleList) and len(module) == n_layers
        for layer in module
    ]
    if not layers or not all(_attends(layer) for layer in layers):
        return "a layer does not attend"
    settings = list(_settings(body.config.to_dict()))
    for name, value in settings:
        if "alibi" in name and value:
            return "its attention counts stored tokens (ALiBi)"
        if WINDOW.search(name) and type(value) is int and 0 < value < n_tokens:
            return f"its attention has a window of {value} tokens"
    kinds = set(getattr(body.config, "layer_types", None) or ()) - set(ATTENDING_KINDS)
    return f"it has layers of the kind {sorted(map(str, kinds))[0]}" if kinds else ""


def longest(model: Any) -> int:
    """Return the maximum number of tokens of a sentence, marks included.

    Notes
    -----
    Limits are the configuration's, and the rows of tables of positions. Where such a table has a padding row
    or an offset, positions begin after it, and the configuration's limit, which counts the rows, is as much
    too high. Of a model of several kinds of input the part that reads text counts.
    """
    config = _text_config(model.config)
    limits = [
        int(value)
        for name, value in vars(config).items()
        if POSITIONS.search(name) and type(value) is int and value > 0
    ]
    limits += [int(value) for value in (getattr(config, "max_position_embeddings", None),) if value]
    for name, module in _text_modules(model):
        last = name.rpartition(".")[2]
        rows = getattr(module, "weight", None)
        # Some tables are modules of a kind of their own: a table has rows and may have a padding row.
        if (
            "position" in last
            and "relative" not in last
            and rows is not None
            and hasattr(module, "padding_idx")
        ):
            first = getattr(module, "offset", 0) if module.padding_idx is None else module.padding_idx + 1
            limits.append(len(rows) - int(first or 0))
    return min([LONGEST, *(limit for limit in limits if limit > 0)])


def _text_config(config: Any) -> Any:
    """Return the settings of the part that reads text; all settings where a model has several such parts."""
    try:
        return config.get_text_config()
    except ValueError:
        return config


def _text_modules(module: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the names and modules of a model without those of encoders of pictures, sound and the like."""
    if name and getattr(module, "main_input_name", "input_ids") != "input_ids":
        return
    yield name, module
    for child_name, child in module.named_children():
        yield from _text_modules(child, f"{name}.{child_name}")


def _attends(layer: torch.nn.Module) -> bool:
    return any(ATTENTION.search(type(module).__name__) for module in layer.modules())


def _settings(config: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the names and values of a configuration and of the parts of it."""
    for name, value in config.items():
        if isinstance(value, Mapping):
            yield from _settings(value)
        else:
            yield str(name), value
