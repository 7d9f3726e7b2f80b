"""Attention in bfloat16 over prefix trees on a CPU, by products that oneDNN computes in bfloat16.

torch's own attention spends most of its time outside the products when rows are as short as a tree, and gains
nothing from bfloat16. In all other cases the function here delegates to torch's.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

NAME, OWN = "obelus_trees", "sdpa"  # names in transformers' registry of attention functions
SHORT = 256  # positions of a row up to which all its scores stay in the core's cache


def tree_attention(
    module: Any,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    dropout: float = 0.0,
    scaling: float | None = None,
    **other: Any,
) -> tuple[torch.Tensor, None]:
    """Compute softmax(scaling · query · keyᵀ + mask) · value, one row of the batch at a time.

    Notes
    -----
    Scores are rounded to bfloat16 before the softmax, as in transformers' own ``eager`` attention; torch's
    fused function keeps them in float32. In float32 there is no gain: MKL computes those products either way.
    """
    if not _applies(query, key, attention_mask, dropout, other):
        from transformers.integrations.sdpa_attention import sdpa_attention_forward

        delegated: tuple[torch.Tensor, None] = sdpa_attention_forward(
            module, query, key, value, attention_mask, dropout=dropout, scaling=scaling, **other
        )
        return delegated
    assert attention_mask is not None
    batch, heads, positions, width = query.shape
    scale = width**-0.5 if scaling is None else scaling
    groups = heads // key.shape[1]
    mixed = query.new_empty(batch, positions, heads, value.shape[-1])
    for row in range(batch):
        keys, values = (
            states[row].repeat_interleave(groups, 0) if groups > 1 else states[row].contiguous()
            for states in (key, value)
        )
        sees = attention_mask[row].expand(heads, -1, -1)
        scores = torch.baddbmm(sees, query[row].contiguous(), keys.transpose(1, 2), alpha=scale)
        mixed[row] = torch.bmm(scores.softmax(-1), values).transpose(0, 1)
    return mixed, None


def _applies(
    query: torch.Tensor, key: torch.Tensor, mask: torch.Tensor | None, dropout: float, other: dict[str, Any]
) -> bool:
    return (
        query.device.type == "cpu"
        and query.dtype == torch.bfloat16
        and mask is not None
        and mask.dtype == query.dtype
        and mask.shape[0] == len(query)
        and mask.shape[-2:] == (query.shape[2], key.shape[2])
        and query.shape[2] == key.shape[2] <= SHORT
        and not dropout
        and other.get("position_bias") is None
        and other.get("softcap") is None
    )


@contextmanager
def fast_tree_attention(model: Any) -> Iterator[None]:
    """Use :func:`tree_attention` in a bfloat16 model on a CPU inside this context."""
    config = model.base_model.config
    is_applicable = (
        model.device.type == "cpu"
        and model.dtype == torch.bfloat16
        and getattr(config, "_attn_implementation", None) == OWN
        and not getattr(config, "sub_configs", None)  # each part may have its own attention
    )
    if not is_applicable:
        yield
        return
    from transformers import AttentionInterface

    AttentionInterface.register(NAME, tree_attention)
    config._attn_implementation = NAME
    try:
        yield
    finally:
        config._attn_implementation = OWN
