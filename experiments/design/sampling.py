"""Parts of a large material set: samples of k items per paradigm and list, as in the validation of BLiMP
(5 pairs of each paradigm), or a split of all items over the lists.
"""

from collections.abc import Collection, Iterable

import numpy as np

from analysis.errors import BadInput
from experiments.design.trials import Stimulus, by_paradigm


def split_blocks(
    stimuli: Iterable[Stimulus], rng: np.random.Generator, *, n_blocks: int
) -> list[list[Stimulus]]:
    """Distribute all items over blocks, each item in exactly one.

    Notes
    -----
    Block sizes differ by at most one item, and so do the numbers of items of one paradigm in the blocks:
    dealing goes on with the next block where the paradigm before ended.

    Examples
    --------
    >>> pairs = [Stimulus(f"{p}{i}", f"{p}{i}", paradigm=p) for p in ("npi", "wh") for i in range(5)]
    >>> blocks = split_blocks(pairs, np.random.default_rng(1), n_blocks=4)
    >>> [len(block) for block in blocks], len({pair.key for block in blocks for pair in block})
    ([3, 3, 2, 2], 10)
    """
    blocks: list[list[Stimulus]] = [[] for _ in range(n_blocks)]
    n_dealt = 0
    for members in by_paradigm(stimuli).values():
        names = sorted({member.item for member in members})
        block_of = {names[index]: n_dealt + turn for turn, index in enumerate(rng.permutation(len(names)))}
        n_dealt += len(names)
        for member in members:
            blocks[block_of[member.item] % n_blocks].append(member)
    if n_dealt < n_blocks:
        raise BadInput(f"{n_dealt} items cannot be split over {n_blocks} parts.", remedy="Make fewer lists.")
    return blocks


def sampled_blocks(
    stimuli: Iterable[Stimulus],
    rng: np.random.Generator,
    *,
    per_paradigm: int,
    n_blocks: int | None = None,
    later: Collection[str] = (),
) -> list[list[Stimulus]]:
    """Distribute items over blocks with ``per_paradigm`` items of each paradigm.

    Notes
    -----
    Each item occurs at most once per block; over all blocks, the numbers of uses of a paradigm's items differ
    by at most one. Each block is passed to :func:`experiments.design.latin_square_lists` or
    :func:`experiments.design.forced_choice_lists`.

    Examples
    --------
    >>> pairs = [Stimulus(str(i), str(i), paradigm="wh_island") for i in range(6)]
    >>> blocks = sampled_blocks(pairs, np.random.default_rng(1), per_paradigm=2)
    >>> [len(block) for block in blocks], len({pair.key for block in blocks for pair in block})
    ([2, 2, 2], 6)
    """
    groups = by_paradigm(stimuli)
    if per_paradigm < 1 or (n_blocks is not None and n_blocks < 1):
        raise BadInput("a list needs at least one item of each paradigm, and a design at least one list.")
    items = {paradigm: sorted({member.item for member in members}) for paradigm, members in groups.items()}
    for paradigm, names in items.items():
        if len(names) < per_paradigm:
            raise BadInput(
                f"paradigm {paradigm!r} has {len(names)} items, but {per_paradigm} per list are requested.",
                remedy=f"Request at most {len(names)}, or add items.",
            )
    most = max((len(names) for names in items.values()), default=0)
    number = n_blocks or -(-most // per_paradigm)
    blocks: list[list[Stimulus]] = [[] for _ in range(number)]
    for paradigm, names in items.items():
        deck = [names[index] for index in rng.permutation(len(names))]
        deck.sort(key=lambda name: name in later)  # stable: each part keeps its random order
        for place, block in enumerate(blocks):
            start = place * per_paradigm
            chosen = {deck[(start + step) % len(deck)] for step in range(per_paradigm)}
            block.extend(group for group in groups[paradigm] if group.item in chosen)
    return blocks
