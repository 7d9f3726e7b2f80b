"""Pack token sequences into prefix trees, so that what sentences share is computed once.

A language model's state after a prefix does not depend on what follows. A tree's inner nodes are the tokens
that something follows; only they pass through the model. Each node needs its ancestors and nothing else,
which one attention mask over the whole tree says.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
NODES = 128  # what a token costs for attention grows with them, what trees share hardly does


@dataclass(frozen=True)
class PrefixTree:
    """Inner nodes in an order where parents come first, and the edges whose probabilities are wanted.

    ``token``, ``depth`` and ``parent`` (-1 at a root) describe inner nodes. An edge leads from the inner node
    ``edge_from`` to the token ``edge_token``; ``paths`` gives the edges of each sequence, by its place among
    all sequences.
    """

    token: Ints
    depth: Ints
    parent: Ints
    edge_from: Ints
    edge_token: Ints
    paths: dict[int, list[int]]

    def sees(self) -> npt.NDArray[np.bool_]:
        """Which inner node (row) attends to which (column): itself and its ancestors."""
        n = len(self.token)
        mask = np.zeros((n, n), dtype=np.bool_)
        for node, parent in enumerate(self.parent.tolist()):
            if parent >= 0:
                mask[node, :node] = mask[parent, :node]
            mask[node, node] = True
        return mask


def prefix_trees(sequences: Sequence[Sequence[int]], *, nodes: int = NODES) -> Iterator[PrefixTree]:
    """Pack sequences into trees of at most so many inner nodes.

    Parameters
    ----------
    sequences : sequence of sequences of int
        Token ids; the first token of each is given, every later one is predicted. Sequences of fewer than two
        tokens predict nothing and are in no tree.
    nodes : int
        Most inner nodes of a tree; a longer sequence gets a tree of its own.

    Yields
    ------
    PrefixTree
        Every sequence is in exactly one.

    Notes
    -----
    In sorted order, what a sequence shares with all earlier ones of a tree it shares with the one before it.

    Examples
    --------
    >>> tree = next(prefix_trees([[0, 5, 6], [0, 5, 7], [0, 5, 6, 8]]))
    >>> tree.token.tolist(), tree.edge_token.tolist(), sorted(tree.paths.items())
    ([0, 5, 6], [5, 6, 8, 7], [(0, [0, 1]), (1, [0, 3]), (2, [0, 1, 2])])
    """
    order = sorted(
        (place for place in range(len(sequences)) if len(sequences[place]) > 1),
        key=lambda place: list(sequences[place]),
    )
    grower = _Grower()
    for place in order:
        sequence = sequences[place]
        if grower.n_inner and grower.n_inner + grower.new_inner(sequence) > nodes:
            yield grower.tree()
            grower = _Grower()
        grower.add(place, sequence)
    if grower.n_inner:
        yield grower.tree()


class _Grower:
    """A tree in the making: all nodes of the last sequence stand at hand, inner or not yet."""

    def __init__(self) -> None:
        self.parent: list[int] = []
        self.token: list[int] = []
        self.depth: list[int] = []
        self.inner: list[bool] = []
        self.last: Sequence[int] = ()
        self.trail: list[int] = []  # nodes of the last sequence
        self.paths: dict[int, list[int]] = {}
        self.n_inner = 0

    def _shared(self, sequence: Sequence[int]) -> int:
        n = 0
        for one, other in zip(sequence, self.last, strict=False):
            if one != other:
                break
            n += 1
        return n

    def new_inner(self, sequence: Sequence[int]) -> int:
        """How many inner nodes a sequence would add."""
        shared = self._shared(sequence)
        missing = len(sequence) - 1 - shared
        if missing < 0:
            return 0
        last_is_leaf = shared > 0 and not self.inner[self.trail[shared - 1]]
        return missing + last_is_leaf

    def add(self, place: int, sequence: Sequence[int]) -> None:
        """Add a sequence that is not before the last one."""
        shared = self._shared(sequence)
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
        self.paths[place] = self.trail[1 : len(sequence)]

    def _make_inner(self, node: int) -> None:
        self.n_inner += not self.inner[node]
        self.inner[node] = True

    def tree(self) -> PrefixTree:
        """The finished tree: inner nodes and edges numbered anew."""
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
            paths={place: edge[nodes].tolist() for place, nodes in self.paths.items()},
        )
