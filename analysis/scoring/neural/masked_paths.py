"""Paths through a masked model: the head at the masked token only, or at every token."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from .backend import Backend, OwnBackend, backend_for
from .probe import (
    Candidate,
    Chosen,
    Reference,
    SinglePrecision,
    choose_path,
    eager_attention,
    in_half_precision,
)

Floats = npt.NDArray[np.float64]
Copy = tuple[tuple[int, ...], int, int]  # token ids, position of the masked token, the token itself
Progress = Callable[[int], None]
TOKENS = 2048  # in one batch
PROBE_COPIES = 24


class FixedHidden(torch.nn.Module):
    """Substitute for a model's body that returns hidden states computed before."""

    def __init__(self, hidden: torch.Tensor) -> None:
        super().__init__()
        self.hidden = hidden

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Return the hidden states."""
        from transformers.modeling_outputs import BaseModelOutputWithPooling

        return BaseModelOutputWithPooling(last_hidden_state=self.hidden)


class AtMask:
    """Body on every token, head on the masked one only."""

    name = "head at the mask"

    def __init__(self, model: Any, *, backend: Backend | None = None) -> None:
        self.model = model
        self.layers = (backend_for(model) if backend is None else backend).linear_layers(head=True)

    def logits(self, ids: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        """Return the logits at one position of each row."""
        with self.layers.active(), self._fix_hidden(self._hidden(ids, positions)[:, None]):
            # The body is substituted, so the ids only give the shape.
            logits: torch.Tensor = self.model(input_ids=ids[:, :1]).logits[:, 0]
        return logits

    def _hidden(self, ids: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        """Return the hidden states at one position of each row."""
        hidden: torch.Tensor = self.model.base_model(input_ids=ids).last_hidden_state
        return hidden[torch.arange(len(ids), device=ids.device), positions]

    @contextmanager
    def _fix_hidden(self, hidden: torch.Tensor) -> Iterator[None]:
        name, body = self.model.base_model_prefix, self.model.base_model
        setattr(self.model, name, FixedHidden(hidden))
        try:
            yield
        finally:
            setattr(self.model, name, body)


class LastLayerAtMask(AtMask):
    """As :class:`AtMask`, with the last layer, after its attention, at the masked token only (BERT)."""

    name = "last layer and head at the mask"

    def __init__(self, model: Any, *, backend: Backend | None = None) -> None:
        super().__init__(model, backend=backend)
        self.after_attention = model.base_model.encoder.layer[-1].attention.output

    def _hidden(self, ids: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        rows = torch.arange(len(ids), device=ids.device)

        def select(_: Any, states: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
            return tuple(state[rows, positions][:, None] for state in states)

        hook = self.after_attention.register_forward_pre_hook(select)
        try:
            hidden: torch.Tensor = self.model.base_model(input_ids=ids).last_hidden_state
        finally:
            hook.remove()
        if hidden.shape[1] != 1:
            raise ValueError("the last layer returns more than one position")
        return hidden[:, 0]


class Everywhere:
    """The unchanged model, its head on every token."""

    name = "head everywhere"

    def __init__(self, model: Any) -> None:
        self.model = model

    def logits(self, ids: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        """Return the logits at one position of each row."""
        logits: torch.Tensor = self.model(input_ids=ids).logits
        return logits[torch.arange(len(ids), device=ids.device), positions]


MaskedPath = AtMask | Everywhere


def token_logprobs(
    path: MaskedPath, copies: Sequence[Copy], *, budget: int = TOKENS, progress: Progress | None = None
) -> Floats:
    """Return the log probability of the masked token of each copy."""
    logprobs = np.full(len(copies), np.nan)
    device = next(path.model.parameters()).device
    queue = batches(copies, budget)
    while queue:
        indices = queue[-1]
        group = [copies[index] for index in indices]
        try:
            with torch.inference_mode():
                ids, positions, tokens = (
                    torch.tensor(column, device=device) for column in zip(*group, strict=True)
                )
                rows = torch.log_softmax(path.logits(ids, positions).float(), -1)
                logprobs[indices] = rows.gather(1, tokens[:, None])[:, 0].double().cpu().numpy()
        except torch.OutOfMemoryError:
            # Only this batch is halved: the other lengths may fit.
            if len(indices) == 1:
                raise
            torch.cuda.empty_cache()
            queue[-1:] = [indices[: len(indices) // 2], indices[len(indices) // 2 :]]
            continue
        queue.pop()
        if progress is not None:
            progress(len(indices))
    return logprobs


def batches(copies: Sequence[Copy], budget: int) -> list[list[int]]:
    """Group copies of exactly the same length, with at most ``budget`` tokens."""
    by_length: dict[int, list[int]] = {}
    for index, (ids, _, _) in enumerate(copies):
        by_length.setdefault(len(ids), []).append(index)
    groups = []
    for length, indices in sorted(by_length.items()):
        size = max(1, budget // length)
        groups += [indices[start : start + size] for start in range(0, len(indices), size)]
    return groups


def choose_masked_path(model: Any, copies: Sequence[Copy]) -> Chosen[MaskedPath]:
    """Return the fastest path that gives what the model gives for one copy at a time."""
    step = max(1, len(copies) // PROBE_COPIES)
    sample = list(copies)[::step][:PROBE_COPIES]
    everywhere, backend = Everywhere(model), backend_for(model)

    def rows(path: MaskedPath) -> list[Floats]:
        """Return the value of each copy, and all of them, because those of a sentence are summed."""
        # The reference is the unchanged model on one copy at a time.
        batches = [[copy] for copy in sample] if path is everywhere else [sample]
        values = np.concatenate([token_logprobs(path, batch) for batch in batches])
        return [*values[:, None], values]

    is_half = in_half_precision(model)
    model_rows = rows(everywhere) if is_half else None
    with eager_attention(model), SinglePrecision() if is_half else nullcontext():
        expected = rows(everywhere)
    return choose_path(
        {
            kind.name: Candidate(
                partial(kind, model, backend=backend), partial(kind, model, backend=OwnBackend(model))
            )
            for kind in (LastLayerAtMask, AtMask)
        },
        rows,
        reference=Reference(expected, f"{len(sample)} copies", model_rows),
        fallback=(everywhere.name, everywhere),
    )
