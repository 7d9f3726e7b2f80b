"""The head in tiles: the normalizer of every row, whatever the logits are and however the weights lie."""

import pytest

torch = pytest.importorskip("torch", reason="neural models are an extra: make install-models")
heads = pytest.importorskip("analysis.scoring.neural.cpu.heads")

WORDS, WIDTH = 1100, 24  # two whole tiles and a part of one


@pytest.fixture
def hidden_and_weight():
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
def test_normalizer(hidden_and_weight, dtype, near, most, biased, monkeypatch):
    monkeypatch.setattr(heads, "MAX_PACKED_BYTES", most)
    hidden, weight = (tensor.to(dtype) for tensor in hidden_and_weight)
    bias = torch.linspace(-2, 2, WORDS).to(dtype) if biased else None
    with torch.inference_mode():
        log_normalizer = heads.TiledHead(weight, bias).log_normalizer(hidden)
    assert log_normalizer.dtype == torch.float32
    torch.testing.assert_close(log_normalizer, right(hidden, weight, bias), atol=near, rtol=0)


@pytest.mark.parametrize("size", [1e-4, 300.0])
def test_logits_far_apart_and_close_together(hidden_and_weight, size):
    hidden, weight = hidden_and_weight
    with torch.inference_mode():
        log_normalizer = heads.TiledHead(weight * size).log_normalizer(hidden)
    torch.testing.assert_close(log_normalizer, right(hidden, weight * size), atol=1e-5, rtol=1e-6)


@pytest.mark.parametrize("out", [-torch.inf, torch.finfo(torch.float32).min])
@pytest.mark.parametrize("words", [slice(600), slice(500, 1100)])
def test_words_that_are_ruled_out_by_their_bias(hidden_and_weight, out, words):
    hidden, weight = hidden_and_weight
    bias = torch.zeros(WORDS)
    bias[words] = out
    with torch.inference_mode():
        log_normalizer = heads.TiledHead(weight, bias).log_normalizer(hidden)
    torch.testing.assert_close(log_normalizer, right(hidden, weight, bias), atol=1e-5, rtol=0)
