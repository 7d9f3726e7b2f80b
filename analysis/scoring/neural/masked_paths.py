"""Ways through a masked model: the head only where a token is asked for, or on every token."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from analysis.scoring.neural.packed import Layers, packed_layers
from analysis.scoring.neural.probe import tolerance_of

Floats = npt.NDArray[np.float64]
Copy = tuple[tuple[int, ...], int, int]
Done = Callable[[int], None]
TOKENS = 2048  # in one batch
PROBED = 24


class Given(torch.nn.Module):
    """Stands in for a model's body and gives hidden states that are already there."""

    def __init__(self, hidden: torch.Tensor) -> None:
        super().__init__()
        self.hidden = hidden

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Give them."""
        from transformers.modeling_outputs import BaseModelOutputWithPooling

        return BaseModelOutputWithPooling(last_hidden_state=self.hidden)


class AtMask:
    """Body on every token, head on the one that is asked for."""

    name = "head at the mask"

    def __init__(self, model: Any, *, layers: Layers | None = None) -> None:
        self.model = model
        self.layers = packed_layers(model, head=True) if layers is None else layers

    def logits(self, ids: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
        """Logits at one place of each row."""
        with self.layers.put_in(), self._given(self._asked(ids, places)[:, None]):
            found: torch.Tensor = self.model(input_ids=ids[:, :1]).logits[:, 0]
        return found

    def _asked(self, ids: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
        """Hidden states at one place of each row."""
        hidden: torch.Tensor = self.model.base_model(input_ids=ids).last_hidden_state
        return hidden[torch.arange(len(ids), device=ids.device), places]

    @contextmanager
    def _given(self, hidden: torch.Tensor) -> Iterator[None]:
        name, body = self.model.base_model_prefix, self.model.base_model
        setattr(self.model, name, Given(hidden))
        try:
            yield
        finally:
            setattr(self.model, name, body)


class LastLayerAtMask(AtMask):
    """As before, and what follows attention in the last layer on that token alone, as in BERT and RoBERTa."""

    name = "last layer and head at the mask"

    def __init__(self, model: Any, *, layers: Layers | None = None) -> None:
        super().__init__(model, layers=layers)
        self.after_attention = model.base_model.encoder.layer[-1].attention.output

    def _asked(self, ids: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
        rows = torch.arange(len(ids), device=ids.device)

        def keep(_: Any, states: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
            return tuple(one[rows, places][:, None] for one in states)

        hook = self.after_attention.register_forward_pre_hook(keep)
        try:
            hidden: torch.Tensor = self.model.base_model(input_ids=ids).last_hidden_state
        finally:
            hook.remove()
        if hidden.shape[1] != 1:
            raise ValueError("the last layer gives more than was asked for")
        return hidden[:, 0]


class Everywhere:
    """The model as it is, its head on every token."""

    name = "head everywhere"

    def __init__(self, model: Any) -> None:
        self.model = model

    def logits(self, ids: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
        """Logits at one place of each row."""
        found: torch.Tensor = self.model(input_ids=ids).logits
        return found[torch.arange(len(ids), device=ids.device), places]


def token_logprobs(
    way: AtMask | Everywhere, copies: Sequence[Copy], *, budget: int = TOKENS, done: Done | None = None
) -> Floats:
    """Give the log probability of the token asked for in each copy.

    Parameters
    ----------
    way : AtMask or Everywhere
    copies : sequence
        Ids, place, token.
    budget : int
        Tokens in one batch; copies of one length go together, so that nothing is padded.
    done : callable, optional
        Told how many copies are done.

    Returns
    -------
    ndarray of float
    """
    found = np.full(len(copies), np.nan)
    device = next(way.model.parameters()).device
    left = batches(copies, budget)
    while left:
        places = left[-1]
        group = [copies[place] for place in places]
        try:
            with torch.inference_mode():
                ids = torch.tensor([one[0] for one in group], device=device)
                at = torch.tensor([one[1] for one in group], device=device)
                token = torch.tensor([one[2] for one in group], device=device)
                logprob = torch.log_softmax(way.logits(ids, at).float(), -1)
                found[places] = logprob.gather(1, token[:, None])[:, 0].double().cpu().numpy()
        except torch.OutOfMemoryError:
            if len(places) == 1:
                raise
            torch.cuda.empty_cache()
            left[-1:] = [places[: len(places) // 2], places[len(places) // 2 :]]
            continue
        left.pop()
        if done is not None:
            done(len(places))
    return found


def batches(copies: Sequence[Copy], budget: int) -> list[list[int]]:
    """Groups of copies of exactly one length, with at most ``budget`` tokens."""
    by_length: dict[int, list[int]] = {}
    for place, (ids, _, _) in enumerate(copies):
        by_length.setdefault(len(ids), []).append(place)
    groups = []
    for length, places in sorted(by_length.items()):
        size = max(1, budget // length)
        groups += [places[start : start + size] for start in range(0, len(places), size)]
    return groups


def choose_way(model: Any, copies: Sequence[Copy]) -> tuple[AtMask | Everywhere, str]:
    """Take the quickest way that gives what the model gives one copy at a time.

    Parameters
    ----------
    model : transformers model for masked language modelling
    copies : sequence

    Returns
    -------
    tuple
        The way, and why.
    """
    step = max(1, len(copies) // PROBED)
    tried = list(copies)[::step][:PROBED]
    whole = Everywhere(model)
    right = np.array([token_logprobs(whole, [one])[0] for one in tried])
    reasons, layers = [], packed_layers(model, head=True)
    for kind in (LastLayerAtMask, AtMask):
        try:
            way = kind(model, layers=layers)
            worst = float(np.abs(token_logprobs(way, tried) - right).max(initial=0.0))
        except (TypeError, ValueError, RuntimeError, AttributeError, IndexError) as error:
            reasons.append(f"{kind.name} fails ({type(error).__name__})")
            continue
        if worst < tolerance_of(model):
            said = f"{way.name}: {len(tried)} copies within {worst:.1e} of one by one"
            return way, "; ".join([said, *reasons])
        reasons.append(f"{way.name} differs by {worst:.1e}")
    return whole, "; ".join([whole.name, *reasons])
