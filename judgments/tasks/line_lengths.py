"""Lines for the exercise before magnitude estimation: lengths in units of the reference line."""

import random

ATTEMPTS = 2
LENGTHS = ((0.25, 0.5, 0.75, 1.5, 2.0, 3.0), (0.3, 0.6, 0.9, 1.25, 2.5, 2.8))
REFERENCE_PX = 100  # the longest line is then 300 px, which fits a phone


def lengths_of(attempt: int, *, seed: int) -> list[float]:
    """Give the lines of an attempt in an order of the session's own.

    Parameters
    ----------
    attempt : int
        From 1; every attempt has other lengths.
    seed : int
        Of the session: the same one gives the same order after a reload.

    Returns
    -------
    list of float
        Lengths, the reference line being 1.

    Examples
    --------
    >>> sorted(lengths_of(1, seed=7)) == sorted(LENGTHS[0])
    True
    """
    lengths = list(LENGTHS[(attempt - 1) % len(LENGTHS)])
    random.Random(f"{seed}-lines-{attempt}").shuffle(lengths)
    return lengths
