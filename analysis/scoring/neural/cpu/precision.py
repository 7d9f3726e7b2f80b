"""Speed of matrix products in each precision on this processor, measured when it is first needed."""

import time
from functools import cache

import torch

SIZE, REPETITIONS = 256, 5
# Precision is part of the key of a score, so it changes only where the gain is beyond the noise.
MIN_RATIO = 1.5


@cache
def products_per_second(dtype: torch.dtype) -> float:
    """Return the matrix products per second in a precision, the best of some repetitions."""
    matrix = torch.ones(SIZE, SIZE, dtype=dtype)
    seconds = []
    for _ in range(REPETITIONS):
        start = time.perf_counter()
        matrix @ matrix
        seconds.append(time.perf_counter() - start)
    return 1 / min(seconds)


def single_precision_gain(dtype: torch.dtype) -> float:
    """Return how many times as fast float32 is; 1 where the difference is small or half precision is fast."""
    ratio = products_per_second(torch.float32) / products_per_second(dtype)
    return ratio if ratio >= MIN_RATIO else 1.0
