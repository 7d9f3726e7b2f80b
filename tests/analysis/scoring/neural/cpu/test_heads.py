"""The head in tiles: the normalizer of every row, whatever the logits are and however the weights lie."""

import pytest

torch = pytest.importorskip("torch", reason="neural models are an extra: make install-models")
heads = pytest.importorskip("analysis.scoring.neural.cpu.heads")

WORDS, WIDTH = 1100, 24  # two whole tiles and a part of one


@pytest.fixture
def drawn():
    """Hidden states of more rows than go at a time, and output embeddings."""
    torch.manual_seed(3)
    return torch.randn(heads.ROWS + 9, WIDTH), torch.randn(WORDS, WIDTH)


def right(hidden, weight, bias=None):
    """By definition, in double precision."""
    logits = hidden.double() @ weight.double().T
    return torch.logsumexp(logits if bias is None else logits + bias.double(), 1).float()


@pytest.mark.parametrize("most", [0, heads.MAX_PACKED_BYTES])
@pytest.mark.parametrize(("dtype", "near"), [(torch.float32, 1e-5), (torch.bfloat16, 0.1)])
@pytest.mark.parametrize("biased", [False, True])
def test_normalizer(drawn, dtype, near, most, biased, monkeypatch):
    monkeypatch.setattr(heads, "MAX_PACKED_BYTES", most)
    hidden, weight = (one.to(dtype) for one in drawn)
    bias = torch.linspace(-2, 2, WORDS).to(dtype) if biased else None
    with torch.inference_mode():
        found = heads.TiledHead(weight, bias).log_normalizer(hidden)
    assert found.dtype == torch.float32
    torch.testing.assert_close(found, right(hidden, weight, bias), atol=near, rtol=0)


@pytest.mark.parametrize("size", [1e-4, 300.0])
def test_logits_far_apart_and_close_together(drawn, size):
    hidden, weight = drawn
    with torch.inference_mode():
        found = heads.TiledHead(weight * size).log_normalizer(hidden)
    torch.testing.assert_close(found, right(hidden, weight * size), atol=1e-5, rtol=1e-6)


@pytest.mark.parametrize("out", [-torch.inf, torch.finfo(torch.float32).min])
@pytest.mark.parametrize("words", [slice(600), slice(500, 1100)])
def test_words_that_are_ruled_out_by_their_bias(drawn, out, words):
    hidden, weight = drawn
    bias = torch.zeros(WORDS)
    bias[words] = out
    with torch.inference_mode():
        found = heads.TiledHead(weight, bias).log_normalizer(hidden)
    torch.testing.assert_close(found, right(hidden, weight, bias), atol=1e-5, rtol=0)
