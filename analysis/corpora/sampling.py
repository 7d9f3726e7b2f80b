"""Downsample corpora to equal size, in sentences or tokens."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from ..errors import BadInput, NotEnoughData

UNITS = ("sentences", "tokens")
Flags = npt.NDArray[np.bool_]


def downsample(
    lengths: npt.ArrayLike,
    available: Mapping[str, Flags],
    *,
    unit: str,
    rng: np.random.Generator,
    size: int | None = None,
) -> dict[str, Flags]:
    """Downsample several subsets of the same sentences to equal size.

    Returns a mask of the retained sentences for each corpus; by default all have the size of the smallest.

    Notes
    -----
    All corpora draw from one shuffled order of the full corpus, so that two of them share as many sentences
    as they can, and differ by the filter more than by chance. By sentences the size is exact. By tokens each
    corpus takes sentences in that order as long as they fit; where a gap is left, one sentence is changed for
    one that is longer by just the gap. If no single exchange fills the gap, the corpus remains shorter by it.

    References
    ----------
    Patil, Jumelet et al. (2024), "Filtered Corpus Training (FiCT)", TACL, section 4: all corpora, the full
    one too, "uniformly downsampled" to the same number of lines.

    Examples
    --------
    >>> available = {"full": np.array([True] * 4), "passive": np.array([True, False, True, False])}
    >>> left = downsample([5, 7, 5, 7], available, unit="sentences", rng=np.random.default_rng(1))
    >>> {name: int(flags.sum()) for name, flags in left.items()}
    {'full': 2, 'passive': 2}
    """
    if unit not in UNITS:
        raise BadInput(f"unknown unit {unit!r}.", remedy=f"Give {' or '.join(UNITS)}.")
    tokens = np.asarray(lengths, dtype=np.int64)
    weights = tokens if unit == "tokens" else np.ones_like(tokens)
    sizes = {name: int(weights[flags].sum()) for name, flags in available.items()}
    smallest = min(sizes, key=lambda name: sizes[name])
    target = sizes[smallest] if size is None else size
    if target < 1 or target > sizes[smallest]:
        raise NotEnoughData(
            f"the corpus {smallest!r} has {sizes[smallest]} {unit}, {max(target, 1)} are required.",
            remedy="Give a smaller size, or leave this filter out.",
        )
    shuffled = rng.permutation(len(tokens))
    return {
        name: _fill_sample(weights, shuffled[flags[shuffled]], target, len(tokens))
        for name, flags in available.items()
    }


def _fill_sample(
    weights: npt.NDArray[np.int64], shuffled: npt.NDArray[np.int64], size: int, sentences: int
) -> Flags:
    chosen = np.zeros(sentences, dtype=np.bool_)
    reached = np.cumsum(weights[shuffled])
    n_first = int(np.searchsorted(reached, size, side="right"))
    chosen[shuffled[:n_first]] = True
    gap = size - (int(reached[n_first - 1]) if n_first else 0)
    remaining = shuffled[n_first:]
    for index in remaining if gap else []:
        if weights[index] <= gap:
            chosen[index] = True
            gap -= int(weights[index])
            if not gap:
                break
    if gap:
        _exchange(weights, shuffled, chosen, gap)
    return chosen


def _exchange(
    weights: npt.NDArray[np.int64], shuffled: npt.NDArray[np.int64], chosen: Flags, gap: int
) -> None:
    """Swap one sentence for another that is longer by the gap, trying the last ones in the order first."""
    by_weight: dict[int, int] = {int(weights[index]): int(index) for index in shuffled if chosen[index]}
    for index in shuffled:
        if not chosen[index] and int(weights[index]) - gap in by_weight:
            chosen[by_weight[int(weights[index]) - gap]] = False
            chosen[index] = True
            return
