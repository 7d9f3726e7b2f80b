"""Which way through a model is both right and fast: tried on a few sentences when the model is opened."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.scoring.neural.causal_paths import WAYS, Headed, Naive, Path
from analysis.scoring.neural.packed import Layers, packed_layers

SENTENCES = 8
TOLERANCE = {"float32": 1e-3, "float64": 1e-6, "bfloat16": 0.5, "float16": 0.1}


@dataclass(frozen=True)
class Chosen:
    """A way and the reason for it, in a sentence."""

    path: Path
    why: str


def choose_path(
    model: Any,
    sequences: Sequence[Sequence[int]],
    *,
    wanted: str = "auto",
    layers: Layers | None = None,
) -> Chosen:
    """Take the first way whose sentence sums equal the naive ones.

    Parameters
    ----------
    model : transformers model for causal language modelling
    sequences : sequence of sequences of int
        What is to be scored; the longest, the shortest and six between are tried.
    wanted : {"auto", "tree", "plain", "own-head", "naive"}
        A way to take without asking, or ``auto``.
    layers : Layers, optional
        Quicker layers of this model, where they are made already.

    Returns
    -------
    Chosen
        The way, and why the faster ones are not taken.

    Notes
    -----
    Masks by distance (ALiBi), sliding windows, soft-capped logits and recurrent states make fast ways wrong
    for some architectures; the probe turns an unknown one from a risk into a slower path.
    """
    if wanted != "auto":
        return Chosen(_way(wanted, model, layers), f"{wanted}: asked for")
    tried = _probe(sequences)
    naive = Naive(model)
    right = np.array([row.sum() for row in naive.run(tried)])
    tolerance = tolerance_of(model)
    reasons = []
    for name in WAYS:
        try:
            path = _way(name, model, layers)
            found = np.array([row.sum() for row in path.run(tried)])
        except (
            TypeError,
            ValueError,
            RuntimeError,
            AttributeError,
            NotImplementedError,
            IndexError,
        ) as error:
            first = str(error).strip().split("\n")[0][:80]
            reasons.append(f"{name} fails ({type(error).__name__}: {first})")
            continue
        worst = float(np.abs(found - right).max(initial=0.0))
        if worst < tolerance:
            said = f"{name}: sums of {len(tried)} sentences within {worst:.1e} of one by one"
            return Chosen(path, "; ".join([said, *reasons]))
        reasons.append(f"{name} differs by {worst:.1e}")
    return Chosen(naive, "; ".join(["naive: the only way left", *reasons]))


class Choice:
    """Which way to take through one model, tried anew only where what was tried says too little."""

    def __init__(self, model: Any, *, wanted: str = "auto") -> None:
        self.model, self.wanted = model, wanted
        self.chosen: Chosen | None = None
        self.layers: Layers | None = None
        self.tried = (0, 0)

    def path_for(self, sequences: Sequence[Sequence[int]]) -> Chosen:
        """Give the way for these; longer ones than any before, or the first several, are tried again.

        Parameters
        ----------
        sequences : sequence of sequences of int

        Returns
        -------
        Chosen
        """
        shown = (max(map(len, sequences), default=0), min(len(sequences), SENTENCES))
        if self.chosen is None or shown[0] > self.tried[0] or shown[1] > self.tried[1]:
            if self.layers is None and self.wanted in ("auto", "tree", "plain"):
                self.layers = packed_layers(self.model)
            self.chosen = choose_path(self.model, sequences, wanted=self.wanted, layers=self.layers)
            self.tried = (max(shown[0], self.tried[0]), max(shown[1], self.tried[1]))
        return self.chosen


def _way(name: str, model: Any, layers: Layers | None) -> Path:
    kind = WAYS[name]
    return kind(model, layers=layers) if issubclass(kind, Headed) else kind(model)


def tolerance_of(model: Any) -> float:
    """How far two ways may differ in a model's kind of number, in nats."""
    return TOLERANCE.get(str(model.dtype).removeprefix("torch."), 1e-3)


def _probe(sequences: Sequence[Sequence[int]]) -> list[Sequence[int]]:
    """Neighbours in sorted order share prefixes; the longest shows windows that are too short."""
    order = sorted((one for one in sequences if len(one) > 1), key=len)
    if len(order) <= SENTENCES:
        return list(order)
    alike = sorted(order, key=list)
    middle = min(len(alike) // 2, len(alike) - SENTENCES + 2)
    return [order[-1], order[0], *alike[middle : middle + SENTENCES - 2]]
