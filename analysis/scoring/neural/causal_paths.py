"""Four ways through a causal model, from the fastest to the one that is right by definition.

``tree`` shares prefixes within packs, ``plain`` batches by length; both use the tiled head. ``own-head``
batches by length with the model's own head, and ``naive`` runs one sequence after the other. All give the
same numbers where they are right; :mod:`analysis.scoring.neural.probe` finds out where they are.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from analysis.scoring.neural.activations import quick_gelu
from analysis.scoring.neural.heads import TiledHead, head_of
from analysis.scoring.neural.packed import Layers, packed_layers
from analysis.scoring.neural.tree_attention import quick_attention
from analysis.scoring.neural.trees import NODES, PrefixTree, prefix_trees

Floats = npt.NDArray[np.float64]
Sequences = Sequence[Sequence[int]]
Done = Callable[[int], None]
TOKENS, LOGITS = 2048, 256  # in one batch; where the whole vocabulary is held for each
ENOUGH = 256  # tokens in one batch for products to be fast
WINDOW, LIKE = 64, 0.9  # trees looked at together; those of one batch are at most a tenth padding


class Path:
    """One way; ``run`` gives the log probabilities of every token but the first of each sequence."""

    name = ""

    def __init__(self, model: Any, *, budget: int = TOKENS) -> None:
        self.model, self.budget = model, budget
        self.device = next(model.parameters()).device

    def run(self, sequences: Sequences, *, done: Done | None = None) -> list[Floats]:
        """Give log P(token | all before it); memory that runs out halves the budget, and the work goes on."""
        found: list[Floats] = [np.empty(0)] * len(sequences)
        left = [place for place, sequence in enumerate(sequences) if len(sequence) > 1]
        while left:
            try:
                with torch.inference_mode():
                    for places, rows in self._batches(sequences, left):
                        for place, row in zip(places, rows, strict=True):
                            found[place] = row
                        if done is not None:
                            done(len(places))
                left = []
            except torch.OutOfMemoryError:
                if self.budget <= 1:
                    raise
                self.budget //= 2
                torch.cuda.empty_cache()
                left = [place for place in left if not len(found[place])]
        return found

    def _batches(self, sequences: Sequences, left: list[int]) -> Any:
        raise NotImplementedError

    def _tensor(self, values: Any) -> torch.Tensor:
        return torch.as_tensor(values, device=self.device)

    def _padded(self, group: Sequences) -> torch.Tensor:
        """Inputs with zeros on the right: a causal model never looks at them."""
        ids = np.zeros((len(group), max(map(len, group)) - 1), dtype=np.int64)
        for row, sequence in enumerate(group):
            ids[row, : len(sequence) - 1] = sequence[:-1]
        return self._tensor(ids)


class Naive(Path):
    """One sequence after the other, logits as the model gives them."""

    name = "naive"

    def _batches(self, sequences: Sequences, left: list[int]) -> Any:
        for place in left:
            ids = self._tensor([list(sequences[place])])
            logits = self.model(input_ids=ids[:, :-1], use_cache=False).logits[0].float()
            chosen = torch.log_softmax(logits, -1).gather(1, ids[0, 1:, None])[:, 0]
            yield [place], [chosen.double().cpu().numpy()]


class OwnHead(Path):
    """Batches of like length, padded on the right, with the model's own head."""

    name = "own-head"

    def __init__(self, model: Any, *, budget: int = LOGITS) -> None:
        super().__init__(model, budget=budget)

    def _batches(self, sequences: Sequences, left: list[int]) -> Any:
        for places in by_length(sequences, left, self.budget):
            group = [sequences[place] for place in places]
            logits = self.model(input_ids=self._padded(group), use_cache=False).logits
            rows = []
            for row, sequence in enumerate(group):
                part = torch.log_softmax(logits[row, : len(sequence) - 1].float(), -1)
                chosen = part.gather(1, self._tensor(list(sequence[1:]))[:, None])[:, 0]
                rows.append(chosen.double().cpu().numpy())
            yield places, rows


class Headed(Path):
    """A path that runs the body of the model and the tiled head."""

    def __init__(self, model: Any, *, budget: int = TOKENS, layers: Layers | None = None) -> None:
        super().__init__(model, budget=budget)
        head = head_of(model)
        if head is None:
            raise NotImplementedError("the head is not one linear map")
        self.head: TiledHead = head
        self.layers = packed_layers(model) if layers is None else layers

    def run(self, sequences: Sequences, *, done: Done | None = None) -> list[Floats]:
        """Run with quicker layers, and with a quicker GELU where the model's own is slow."""
        with self.layers.put_in(), quick_gelu(self.model):
            return super().run(sequences, done=done)

    def _hidden(self, **inputs: torch.Tensor) -> torch.Tensor:
        hidden: torch.Tensor = self.model.base_model(use_cache=False, **inputs).last_hidden_state
        return hidden


class Plain(Headed):
    """Batches of like length, padded on the right; only real positions reach the tiled head."""

    name = "plain"

    def _batches(self, sequences: Sequences, left: list[int]) -> Any:
        for places in by_length(sequences, left, self.budget):
            group = [sequences[place] for place in places]
            hidden = self._hidden(input_ids=self._padded(group))
            lengths = [len(sequence) - 1 for sequence in group]
            real = torch.cat([hidden[row, :length] for row, length in enumerate(lengths)])
            wanted = self._tensor([token for sequence in group for token in sequence[1:]])
            logprob = self.head.logits(real, wanted) - self.head.log_normalizer(real)
            yield places, np.split(logprob.double().cpu().numpy(), np.cumsum(lengths)[:-1])


class Tree(Headed):
    """Packs of sentences as prefix trees: what they share is computed once, last tokens are never run."""

    name = "tree"

    def run(self, sequences: Sequences, *, done: Done | None = None) -> list[Floats]:
        """Run with quicker attention as well."""
        with quick_attention(self.model):
            return super().run(sequences, done=done)

    def _batches(self, sequences: Sequences, left: list[int]) -> Any:
        nodes = min(NODES, self.budget)
        for trees in alike(prefix_trees([sequences[place] for place in left], nodes=nodes), self.budget):
            yield self._read(trees, self._trees_hidden(trees), left)

    def _trees_hidden(self, trees: Sequence[PrefixTree]) -> torch.Tensor:
        """Hidden states of all real nodes, tree after tree; a row of the batch is a tree."""
        sizes = [len(tree.token) for tree in trees]
        n, dtype = max(sizes), self.head.weight.dtype
        token, depth = np.zeros((2, len(trees), n), dtype=np.int64)
        sees = np.zeros((len(trees), 1, n, n), dtype=np.bool_)
        sees[:, :, range(n), range(n)] = True  # a row of padding has to see something
        for row, (tree, size) in enumerate(zip(trees, sizes, strict=True)):
            token[row, :size], depth[row, :size] = tree.token, tree.depth
            sees[row, 0, :size, :size] = tree.sees()
        mask = torch.zeros(sees.shape, dtype=dtype, device=self.device)
        mask.masked_fill_(~self._tensor(sees), torch.finfo(dtype).min)
        hidden = self._hidden(
            input_ids=self._tensor(token), position_ids=self._tensor(depth), attention_mask=mask
        )
        return torch.cat([hidden[row, :size] for row, size in enumerate(sizes)])

    def _read(self, trees: Sequence[PrefixTree], hidden: torch.Tensor, left: list[int]) -> Any:
        starts = np.cumsum([0, *(len(tree.token) for tree in trees)])
        source = self._tensor(np.concatenate([tree.edge_from + starts[k] for k, tree in enumerate(trees)]))
        wanted = self._tensor(np.concatenate([tree.edge_token for tree in trees]))
        logprob = self.head.logits(hidden[source], wanted) - self.head.log_normalizer(hidden)[source]
        values, places, rows, edges = logprob.double().cpu().numpy(), [], [], 0
        for tree in trees:
            for place, path in tree.paths.items():
                places.append(left[place])
                rows.append(values[edges + np.array(path, dtype=np.int64)])
            edges += len(tree.edge_token)
        return places, rows


def alike(trees: Iterator[PrefixTree], budget: int) -> Iterator[list[PrefixTree]]:
    """Groups of trees of like size with at most ``budget`` nodes, padding counted; the largest first."""
    while window := list(islice(trees, WINDOW)):
        group: list[PrefixTree] = []
        for tree in sorted(window, key=lambda tree: -len(tree.token)):
            widest = len(group[0].token) if group else 0
            if group and ((len(group) + 1) * widest > budget or len(tree.token) < LIKE * widest):
                yield group
                group = []
            group.append(tree)
        yield group


def by_length(sequences: Sequences, left: Sequence[int], budget: int) -> list[list[int]]:
    """Groups of like length with at most ``budget`` input tokens, the longest first."""
    groups: list[list[int]] = []
    widest = 0
    for place in sorted(left, key=lambda one: -len(sequences[one])):
        n, held = len(sequences[place]) - 1, len(groups[-1]) * widest if groups else 0
        if not groups or held + widest > budget or (n < LIKE * widest and held >= ENOUGH):
            groups.append([])
            widest = n
        groups[-1].append(place)
    return groups


WAYS: dict[str, type[Path]] = {"tree": Tree, "plain": Plain, "own-head": OwnHead, "naive": Naive}
