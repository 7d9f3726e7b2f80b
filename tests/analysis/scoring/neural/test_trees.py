"""Prefix trees hold every sequence once, share what is shared and stay within their size."""

from hypothesis import given
from hypothesis import strategies as st

from analysis.scoring.neural.trees import prefix_trees

sequences = st.lists(st.lists(st.integers(0, 3), min_size=0, max_size=9), max_size=30)


def read(tree, path):
    """The tokens along a path of edges, and the tokens each edge's source sees."""
    transitions = []
    for edge in path:
        node, context = int(tree.edge_from[edge]), []
        while node >= 0:
            context.insert(0, int(tree.token[node]))
            node = int(tree.parent[node])
        transitions.append((context, int(tree.edge_token[edge])))
    return transitions


@given(sequences, st.integers(1, 12))
def test_every_sequence_is_read_back_with_its_context_at_each_token(given_sequences, nodes):
    paths = {}
    for tree in prefix_trees(given_sequences, nodes=nodes):
        for place, path in tree.paths.items():
            assert place not in paths
            paths[place] = read(tree, path)
    for place, sequence in enumerate(given_sequences):
        if len(sequence) < 2:
            assert place not in paths
        else:
            assert paths[place] == [(sequence[:k], sequence[k]) for k in range(1, len(sequence))]


@given(sequences, st.integers(1, 12))
def test_no_tree_is_larger_than_asked_for_unless_one_sequence_is(given_sequences, nodes):
    for tree in prefix_trees(given_sequences, nodes=nodes):
        assert (
            len(tree.token) <= nodes
            or len(tree.paths) == 1
            or len({tuple(given_sequences[place][:-1]) for place in tree.paths}) < len(tree.paths) + 1
        )


@given(sequences)
def test_within_one_tree_no_prefix_is_computed_twice(given_sequences):
    for tree in prefix_trees(given_sequences, nodes=10**6):
        prefixes = {
            tuple(sequence[:k])
            for sequence in given_sequences
            if len(sequence) > 1
            for k in range(1, len(sequence))
        }
        assert len(tree.token) == len(prefixes)
        sees = tree.sees()
        assert (sees.sum(1) == tree.depth + 1).all() and sees.diagonal().all()
