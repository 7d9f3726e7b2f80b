"""A tiny corpus of our own generator, as a file, and one that a classifier learns easily."""

import pytest

from analysis.training import Labelled
from experiments.generation import acceptable_sentences


@pytest.fixture(autouse=True)
def one_thread():
    """Tiny models are slower on several threads, and sums on one thread are the same every time."""
    torch = pytest.importorskip("torch", reason="neural models are an extra: make install-models")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def corpus_file(tmp_path_factory):
    """Eight hundred sentences, one per line."""
    path = tmp_path_factory.mktemp("corpus") / "corpus.txt"
    path.write_text("\n".join(acceptable_sentences(800, seed=3)) + "\n", encoding="utf-8")
    return path


def easy(n, seed):
    """Sentences, and the same with their words turned round: order alone tells them apart."""
    good = acceptable_sentences(n, seed=seed)
    turned = [" ".join(reversed(sentence.rstrip(".?").split())) + "." for sentence in good]
    return Labelled([*good, *turned], [1] * n + [0] * n)
