"""Prefix trees of token sequences, so that shared prefixes are computed once.

A language model's state after a prefix does not depend on what follows. A tree's inner nodes are the tokens
with a continuation; only they pass through the model. Each node attends to its ancestors only, by one
attention mask over the whole tree.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
NODES = 128  # in one tree: more nodes cost more attention per token and share hardly more prefixes


@dataclass(frozen=True)
class PrefixTree:
    """Inner nodes, parents first, and the edges whose probabilities are computed.

    ``token``, ``depth`` and ``parent`` (-1 at a root) describe inner nodes. An edge leads from the inner node
    ``edge_from`` to the token ``edge_token``; ``paths`` lists the edges of each sequence, by its index.
    """

    token: Ints
    depth: Ints
    parent: Ints
    edge_from: Ints
    edge_token: Ints
    paths: dict[int, list[int]]

    def sees(self) -> npt.NDArray[np.bool_]:
        """Return which inner node (row) attends to which (column): itself and its ancestors."""
        n = len(self.token)
        mask = np.zeros((n, n), dtype=np.bool_)
        for node, parent in enumerate(self.parent.tolist()):
            if parent >= 0:
                mask[node, :node] = mask[parent, :node]
            mask[node, node] = True
        return mask


def prefix_trees(
    sequences: Sequence[Sequence[int]], *, nodes: int = NODES, descending: bool = False
) -> Iterator[PrefixTree]:
    """Pack sequences into trees of at most ``nodes`` inner nodes; siblings are in order of their tokens.

    Notes
    -----
    In sorted order, ascending or ``descending``, the longest prefix that a sequence shares with a tree is
    shared with its predecessor.

    Examples
    --------
    >>> tree = next(prefix_trees([[0, 5, 6], [0, 5, 7], [0, 5, 6, 8]]))
    >>> tree.token.tolist(), tree.edge_token.tolist(), sorted(tree.paths.items())
    ([0, 5, 6], [5, 6, 8, 7], [(0, [0, 1]), (1, [0, 3]), (2, [0, 1, 2])])
    """
    sign = -1 if descending else 1
    order = sorted(
        (index for index in range(len(sequences)) if len(sequences[index]) > 1),
        key=lambda index: [sign * token for token in sequences[index]],
    )
    builder = _TreeBuilder()
    for index in order:
        sequence = sequences[index]
        if builder.n_inner and builder.n_inner + builder.new_inner(sequence) > nodes:
            yield builder.tree()
            builder = _TreeBuilder()
        builder.add(index, sequence)
    if builder.n_inner:
        yield builder.tree()


class _TreeBuilder:
    """A tree under construction, with the nodes of the sequence added last."""

    def __init__(self) -> None:
        self.parent: list[int] = []
        self.token: list[int] = []
        self.depth: list[int] = []
        self.inner: list[bool] = []
        self.last: Sequence[int] = ()
        self.trail: list[int] = []  # nodes of the last sequence
        self.paths: dict[int, list[int]] = {}
        self.n_inner = 0

    def _n_shared(self, sequence: Sequence[int]) -> int:
        n = 0
        for token, previous in zip(sequence, self.last, strict=False):
            if token != previous:
                break
            n += 1
        return n

    def new_inner(self, sequence: Sequence[int]) -> int:
        """Return how many inner nodes a sequence would add."""
        shared = self._n_shared(sequence)
        missing = len(sequence) - 1 - shared
        if missing < 0:
            return 0
        last_is_leaf = shared > 0 and not self.inner[self.trail[shared - 1]]
        return missing + last_is_leaf

    def add(self, index: int, sequence: Sequence[int]) -> None:
        """Add a sequence that does not sort before the last one."""
        shared = self._n_shared(sequence)
        del self.trail[shared:]
        for depth in range(shared, len(sequence)):
            if depth:
                self._make_inner(self.trail[-1])
            self.trail.append(len(self.token))
            self.parent.append(self.trail[-2] if depth else -1)
            self.token.append(sequence[depth])
            self.depth.append(depth)
            self.inner.append(False)
        self.last = sequence
        self.paths[index] = self.trail[1 : len(sequence)]

    def _make_inner(self, node: int) -> None:
        self.n_inner += not self.inner[node]
        self.inner[node] = True

    def tree(self) -> PrefixTree:
        """Return the finished tree, inner nodes and edges renumbered."""
        inner = np.array(self.inner, dtype=np.bool_)
        parent, token = np.array(self.parent, dtype=np.int64), np.array(self.token, dtype=np.int64)
        row = np.cumsum(inner) - 1
        is_edge = parent >= 0
        edge = np.cumsum(is_edge) - 1
        return PrefixTree(
            token=token[inner],
            depth=np.array(self.depth, dtype=np.int64)[inner],
            parent=np.where(parent[inner] >= 0, row[parent[inner]], -1),
            edge_from=row[parent[is_edge]],
            edge_token=token[is_edge],
            paths={index: edge[nodes].tolist() for index, nodes in self.paths.items()},
        )
