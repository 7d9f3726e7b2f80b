"""What one core can do at best: the matrix products of a layer, and the work that a model's layers take."""

import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

LAYERS, WIDTH, INNER = 12, 768, 3_072
VOCABULARY = {"gpt2": 50_257, "bert": 30_522}


def body_gflop(tokens: int, width: float) -> float:
    """GFLOP of the layers for tokens that stand in rows of a mean width: products with weights, attention."""
    weights = 2 * WIDTH * (4 * WIDTH + 2 * INNER)
    attention = 4 * width * WIDTH
    return LAYERS * tokens * (weights + attention) / 1e9


class Products:
    """GFLOP per CPU second of products with a layer's own shapes, 512 rows, turn after turn.

    ``mm`` is what torch itself takes (MKL for float32 on x86), ``oneDNN`` has its weights packed. The better
    of the two is what this core can do at best.
    """

    def __init__(self, *dtypes: str) -> None:
        self.turns: dict[str, dict[str, list[float]]] = {dtype: {} for dtype in dtypes}

    def measure(self) -> None:
        """Measure once more."""
        import torch

        from analysis.scoring.neural.cpu.packed import can_pack, linear, pack

        for name, turns in self.turns.items():
            dtype = getattr(torch, name)
            factories = {"mm": lambda rows, weights: partial(torch.mm, rows, weights)}
            if can_pack(torch.empty(0, dtype=dtype)):
                factories["oneDNN"] = lambda rows, weights: partial(linear, rows, pack(weights.T), None)
            for library, product in factories.items():
                turns.setdefault(library, []).append(_product_rate(dtype, product))

    def rates(self, dtype: str) -> dict[str, float]:
        """The median of each library."""
        return {library: statistics.median(rates) for library, rates in self.turns[dtype].items()}

    def best(self, dtype: str) -> float:
        """The better median."""
        return max(self.rates(dtype).values())

    def summary(self) -> str:
        """All of them, in a line."""
        best_rates = [
            f"{dtype} " + ", ".join(f"{rate:.0f} by {library}" for library, rate in self.rates(dtype).items())
            for dtype in self.turns
        ]
        return "products, GFLOP/s: " + "; ".join(best_rates)


def _product_rate(dtype: Any, make_product: Callable[[Any, Any], Callable[[], Any]]) -> float:
    import torch

    spent, work, times = 0.0, 0.0, 20
    with torch.inference_mode():
        for deep, wide in ((WIDTH, 3 * WIDTH), (WIDTH, INNER), (INNER, WIDTH)):
            product = make_product(torch.randn(512, deep).to(dtype), torch.randn(deep, wide).to(dtype))
            product()
            start = time.process_time()
            for _ in range(times):
                product()
            spent += time.process_time() - start
            work += times * 2 * 512 * deep * wide / 1e9
    return work / spent
