"""Four paths through a causal model, from the fastest to the reference.

``tree`` shares prefixes within packs, ``plain`` batches by length; both use the back end's head. ``own-head``
batches by length with the model's own head, and ``naive`` runs one sequence at a time. All give the same
numbers for the architectures they support; :func:`choose_causal_path` tests which these are.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from .backend import Backend, Layers, OutputHead, OwnBackend, backend_for
from .probe import (
    Candidate,
    Chosen,
    Reference,
    SinglePrecision,
    choose_path,
    eager_attention,
    in_half_precision,
)
from .structure import tree_obstacle
from .trees import NODES, PrefixTree, prefix_trees

Floats = npt.NDArray[np.float64]
Sequences = Sequence[Sequence[int]]
Progress = Callable[[int], None]
TOKENS = 2048  # in one batch
LOGITS = 256  # tokens in one batch where logits of the whole vocabulary are in memory for each
MIN_TOKENS = 256  # in one batch for products to be fast
WINDOW, MIN_FILL = 64, 0.9  # trees sorted together; at most a tenth of a batch is padding
PROBE_SENTENCES = 8  # at least; more where these do not fill a tree
SPREAD = 8  # parts of the work from which sentences are taken in turn


class Path:
    """A path; ``run`` returns the log probabilities of every token but the first of each sequence."""

    name = ""

    def __init__(self, model: Any, *, budget: int = TOKENS) -> None:
        self.model, self.budget = model, budget
        self.device = next(model.parameters()).device

    def run(self, sequences: Sequences, *, progress: Progress | None = None) -> list[Floats]:
        """Return log P(token | all before it) of every token but the first of each sequence."""
        logprobs: list[Floats] = [np.empty(0)] * len(sequences)
        remaining = [index for index, sequence in enumerate(sequences) if len(sequence) > 1]
        budget = self.budget
        while remaining:
            try:
                with torch.inference_mode():
                    for indices, rows in self._batches(sequences, remaining):
                        for index, row in zip(indices, rows, strict=True):
                            logprobs[index] = row
                        if progress is not None:
                            progress(len(indices))
                remaining = []
            except torch.OutOfMemoryError:
                # Continue with what is left, in batches of half the size.
                if self.budget <= 1:
                    self.budget = budget  # one sequence does not fit, which says nothing of the others
                    raise
                self.budget //= 2
                torch.cuda.empty_cache()
                remaining = [index for index in remaining if not len(logprobs[index])]
        return logprobs

    def _batches(self, sequences: Sequences, remaining: list[int]) -> Any:
        raise NotImplementedError

    def _tensor(self, values: Any) -> torch.Tensor:
        return torch.as_tensor(values, device=self.device)

    def _pad_group(self, group: Sequences) -> torch.Tensor:
        """Inputs padded with zeros on the right, which a causal model never attends to."""
        ids = np.zeros((len(group), max(map(len, group)) - 1), dtype=np.int64)
        for row, sequence in enumerate(group):
            ids[row, : len(sequence) - 1] = sequence[:-1]
        return self._tensor(ids)


class Naive(Path):
    """One sequence at a time, with the model's own logits."""

    name = "naive"

    def _batches(self, sequences: Sequences, remaining: list[int]) -> Any:
        for index in remaining:
            ids = self._tensor([list(sequences[index])])
            logits = self.model(input_ids=ids[:, :-1], use_cache=False).logits[0].float()
            chosen = torch.log_softmax(logits, -1).gather(1, ids[0, 1:, None])[:, 0]
            yield [index], [chosen.double().cpu().numpy()]


class OwnHead(Path):
    """Batches of similar length, padded on the right, with the model's own head."""

    name = "own-head"

    def __init__(self, model: Any, *, budget: int = LOGITS) -> None:
        super().__init__(model, budget=budget)

    def _batches(self, sequences: Sequences, remaining: list[int]) -> Any:
        for indices in by_length(sequences, remaining, self.budget):
            group = [sequences[index] for index in indices]
            logits = self.model(input_ids=self._pad_group(group), use_cache=False).logits
            rows = []
            for row, sequence in enumerate(group):
                logprobs = torch.log_softmax(logits[row, : len(sequence) - 1].float(), -1)
                chosen = logprobs.gather(1, self._tensor(list(sequence[1:]))[:, None])[:, 0]
                rows.append(chosen.double().cpu().numpy())
            yield indices, rows


class Headed(Path):
    """A path through the body of the model and the back end's head."""

    def __init__(self, model: Any, *, budget: int = TOKENS, backend: Backend | None = None) -> None:
        super().__init__(model, budget=budget)
        self.backend = backend_for(model) if backend is None else backend
        head = self.backend.output_head()
        if head is None:
            raise NotImplementedError("the head is not one linear map")
        self.head: OutputHead = head
        self.layers = self._layers()

    def _layers(self) -> Layers:
        return self.backend.linear_layers()

    def run(self, sequences: Sequences, *, progress: Progress | None = None) -> list[Floats]:
        """Run with the back end's layers and activations."""
        with self.layers.active(), self.backend.activations():
            return super().run(sequences, progress=progress)

    def _hidden(self, **inputs: torch.Tensor) -> torch.Tensor:
        hidden: torch.Tensor = self.model.base_model(use_cache=False, **inputs).last_hidden_state
        return hidden


class Plain(Headed):
    """Batches of similar length, padded on the right; only real positions reach the head."""

    name = "plain"

    def _batches(self, sequences: Sequences, remaining: list[int]) -> Any:
        for indices in by_length(sequences, remaining, self.budget):
            group = [sequences[index] for index in indices]
            hidden = self._hidden(input_ids=self._pad_group(group))
            lengths = [len(sequence) - 1 for sequence in group]
            real = torch.cat([hidden[row, :length] for row, length in enumerate(lengths)])
            targets = self._tensor([token for sequence in group for token in sequence[1:]])
            logprob = self.head.logits(real, targets) - self.head.log_normalizer(real)
            yield indices, np.split(logprob.double().cpu().numpy(), np.cumsum(lengths)[:-1])


class Tree(Headed):
    """Packs of sentences as prefix trees: shared prefixes are computed once, last tokens are never run."""

    name = "tree"
    descending = False  # siblings in the opposite order, which must not change a score

    def _batches(self, sequences: Sequences, remaining: list[int]) -> Any:
        nodes = min(NODES, self.budget)
        work = [sequences[index] for index in remaining]
        trees = prefix_trees(work, nodes=nodes, descending=self.descending)
        for group in similar_trees(trees, self.budget):
            yield self._logprobs(group, self._trees_hidden(group), remaining)

    def _trees_hidden(self, trees: Sequence[PrefixTree]) -> torch.Tensor:
        """Hidden states of all real nodes, tree by tree; a row of the batch is a tree."""
        sizes = [len(tree.token) for tree in trees]
        n, dtype = max(sizes), self.head.weight.dtype
        token, depth = np.zeros((2, len(trees), n), dtype=np.int64)
        sees = np.zeros((len(trees), 1, n, n), dtype=np.bool_)
        sees[:, :, range(n), range(n)] = True  # a row that attends to nothing would be NaN
        for row, (tree, size) in enumerate(zip(trees, sizes, strict=True)):
            token[row, :size], depth[row, :size] = tree.token, tree.depth
            sees[row, 0, :size, :size] = tree.sees()
        mask = torch.zeros(sees.shape, dtype=dtype, device=self.device)
        mask.masked_fill_(~self._tensor(sees), torch.finfo(dtype).min)
        hidden = self._hidden(
            input_ids=self._tensor(token), position_ids=self._tensor(depth), attention_mask=mask
        )
        return torch.cat([hidden[row, :size] for row, size in enumerate(sizes)])

    def _logprobs(self, trees: Sequence[PrefixTree], hidden: torch.Tensor, remaining: list[int]) -> Any:
        starts = np.cumsum([0, *(len(tree.token) for tree in trees)])
        source = self._tensor(np.concatenate([tree.edge_from + starts[k] for k, tree in enumerate(trees)]))
        targets = self._tensor(np.concatenate([tree.edge_token for tree in trees]))
        logprob = self.head.logits(hidden[source], targets) - self.head.log_normalizer(hidden)[source]
        values, indices, rows, n_edges = logprob.double().cpu().numpy(), [], [], 0
        for tree in trees:
            for index, path in tree.paths.items():
                indices.append(remaining[index])
                rows.append(values[n_edges + np.array(path, dtype=np.int64)])
            n_edges += len(tree.edge_token)
        return indices, rows


def similar_trees(trees: Iterator[PrefixTree], budget: int) -> Iterator[list[PrefixTree]]:
    """Group trees of similar size with at most ``budget`` nodes, padding included; the largest first."""
    while window := list(islice(trees, WINDOW)):
        group: list[PrefixTree] = []
        for tree in sorted(window, key=lambda tree: -len(tree.token)):
            widest = len(group[0].token) if group else 0
            if group and ((len(group) + 1) * widest > budget or len(tree.token) < MIN_FILL * widest):
                yield group
                group = []
            group.append(tree)
        yield group


def by_length(sequences: Sequences, indices: Sequence[int], budget: int) -> list[list[int]]:
    """Group sequences of similar length with at most ``budget`` input tokens, the longest first."""
    groups: list[list[int]] = []
    widest = 0
    for index in sorted(indices, key=lambda index: -len(sequences[index])):
        n, size = len(sequences[index]) - 1, len(groups[-1]) * widest if groups else 0
        if not groups or size + widest > budget or (n < MIN_FILL * widest and size >= MIN_TOKENS):
            groups.append([])
            widest = n
        groups[-1].append(index)
    return groups


PATHS: dict[str, type[Path]] = {"tree": Tree, "plain": Plain, "own-head": OwnHead, "naive": Naive}


def choose_causal_path(
    model: Any, sequences: Sequences, *, name: str = "auto", backend: Backend | None = None
) -> Chosen[Path]:
    """Return the fastest path that is proven to give the naive scores, or the path of that ``name``."""
    if name != "auto":
        return Chosen(_make_path(name, model, backend), f"{name}: requested")
    sample, other = _sample(sequences)
    naive = Naive(model)

    def rows(path: Path) -> list[Floats]:
        """Return the rows of the sample, and again beside another sequence, in another order."""
        first = path.run(sample)
        if not sample or path is naive:
            return [*first, *first[1:]]
        if isinstance(path, Tree):
            path.descending = True
        second = path.run([*sample[1:], other])[:-1]
        if isinstance(path, Tree):
            path.descending = False
        return [*first, *second]

    is_half = in_half_precision(model)
    model_rows = rows(naive) if is_half else None
    with eager_attention(model), SinglePrecision() if is_half else nullcontext():
        expected = rows(naive)
    longest = max(map(len, sequences), default=0)
    return choose_path(
        {
            kind: Candidate(
                partial(_make_path, kind, model, backend),
                partial(_make_path, kind, model, OwnBackend(model)),
                tree_obstacle(model, n_tokens=longest) if kind == Tree.name else "",
            )
            for kind in PATHS
            if kind != Naive.name
        },
        rows,
        reference=Reference(expected, f"sums of {len(sample)} sentences", model_rows),
        fallback=(Naive.name, naive),
    )


@dataclass
class CausalPathChoice:
    """The path through one model, chosen again only for sentences that the last test did not cover."""

    model: Any
    name: str = "auto"
    chosen: Chosen[Path] | None = None
    longest: int = 0
    n_tested: int = 0  # tokens, up to those of a full tree

    def __post_init__(self) -> None:
        self.backend = backend_for(self.model)

    def path_for(self, sequences: Sequences) -> Chosen[Path]:
        """Return the path; longer sequences than any tested, or the first full tree, are tested again."""
        lengths = list(map(len, sequences))
        longest, n = max(lengths, default=0), min(sum(lengths), NODES)
        if self.chosen is None or longest > self.longest or n > self.n_tested:
            self.chosen = choose_causal_path(self.model, sequences, name=self.name, backend=self.backend)
            self.longest, self.n_tested = max(longest, self.longest), max(n, self.n_tested)
        return self.chosen


def _make_path(name: str, model: Any, backend: Backend | None) -> Path:
    kind = PATHS[name]
    return kind(model, backend=backend) if issubclass(kind, Headed) else kind(model)


def _sample(sequences: Sequences) -> tuple[list[tuple[int, ...]], Sequence[int]]:
    """Select sequences that reveal errors, and another to put in the place of the first.

    The sample holds the longest sequence, the shortest, neighbours that share prefixes, and others from all
    parts of the work, until they fill a tree as the work does.
    """
    order = sorted((sequence for sequence in sequences if len(sequence) > 1), key=len)
    if not order:
        return [], ()
    neighbours = sorted(order, key=list)
    middle = len(neighbours) // 2
    near = [*neighbours[middle:], *neighbours[:middle]][: PROBE_SENTENCES - 2]
    # Sentences from everywhere fill a tree sooner than neighbours: each is scored alone as well.
    spread = neighbours[:: max(1, len(neighbours) // NODES)]
    turned = [sequence for start in range(SPREAD) for sequence in spread[start::SPREAD]]
    selected: dict[tuple[int, ...], None] = {}
    nodes: set[tuple[int, ...]] = set()
    for place, sequence in enumerate(map(tuple, [order[-1], order[0], *near, *turned])):
        if place >= PROBE_SENTENCES and len(nodes) >= NODES:
            break
        selected[sequence] = None
        nodes.update(sequence[:end] for end in range(1, len(sequence)))
    return list(selected), neighbours[middle - 1]
