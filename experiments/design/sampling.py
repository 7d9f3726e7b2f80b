"""k items of n per list, as BLiMP's validation showed 5 pairs of each session's paradigms."""

from collections.abc import Collection, Iterable

import numpy as np

from analysis.errors import BadInput
from experiments.design.trials import Stimulus, by_paradigm


def sampled_blocks(
    stimuli: Iterable[Stimulus],
    rng: np.random.Generator,
    *,
    per_paradigm: int,
    n_blocks: int | None = None,
    later: Collection[str] = (),
) -> list[list[Stimulus]]:
    """Deal items into blocks that hold ``per_paradigm`` items of each paradigm.

    Parameters
    ----------
    stimuli : iterable of Stimulus
        Sentences or pairs; all stimuli of one item stay together.
    rng : numpy Generator
        Shuffles the items of each paradigm before dealing.
    per_paradigm : int
        Items of each paradigm in one block; at most the number of items of the smallest paradigm.
    n_blocks : int, optional
        As many as show every item at least once, when left out.
    later : collection of str
        Items dealt only after all others of their paradigm, such as those of an earlier round.

    Returns
    -------
    list of lists of Stimulus
        Each item at most once per block; over the blocks, the items of a paradigm are used equally
        often, give or take one. Give each block to :func:`experiments.design.latin_square_lists` or
        :func:`experiments.design.forced_choice_lists`.

    Raises
    ------
    BadInput
        If a paradigm has fewer items than are asked for, or a number is below 1.

    Examples
    --------
    >>> pairs = [Stimulus(str(i), str(i), paradigm="wh_island") for i in range(6)]
    >>> blocks = sampled_blocks(pairs, np.random.default_rng(1), per_paradigm=2)
    >>> [len(block) for block in blocks], len({one.key for block in blocks for one in block})
    ([2, 2, 2], 6)
    """
    groups = by_paradigm(stimuli)
    if per_paradigm < 1 or (n_blocks is not None and n_blocks < 1):
        raise BadInput("a list needs at least one item of each paradigm, and a design at least one list.")
    items = {paradigm: sorted({one.item for one in members}) for paradigm, members in groups.items()}
    for paradigm, names in items.items():
        if len(names) < per_paradigm:
            raise BadInput(
                f"paradigm {paradigm!r} has {len(names)} items; {per_paradigm} per list were asked for.",
                remedy=f"Ask for at most {len(names)} or add items.",
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
            block.extend(one for one in groups[paradigm] if one.item in chosen)
    return blocks
