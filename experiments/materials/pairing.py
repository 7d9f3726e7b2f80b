"""Items in several conditions → minimal pairs: every acceptable × unacceptable sentence of one item."""

from collections.abc import Iterable

import pandas as pd

from experiments.materials.collection import pair_frame
from experiments.materials.schema import ACCEPTABLE, UNACCEPTABLE


def pair_conditions(sentences: pd.DataFrame) -> pd.DataFrame:
    """Pair every acceptable sentence of an item with every unacceptable one.

    Parameters
    ----------
    sentences : DataFrame
        Columns of :data:`experiments.materials.collection.SENTENCE_COLUMNS`. Sentences without an item or an
        expected status take no part.

    Returns
    -------
    DataFrame
        Columns of :data:`experiments.materials.collection.PAIR_COLUMNS`. A pair is named for its item
        where the item gives one pair only, else for the item and the two conditions.

    Notes
    -----
    The sentences of one item are lexically matched by definition; sentences of different items are never
    paired. Order follows the acceptable, then the unacceptable sentences' order in the frame.
    """
    usable = sentences[sentences["item"] != ""]
    good = usable[usable["expected"] == ACCEPTABLE]
    bad = usable[usable["expected"] == UNACCEPTABLE][["item", "sentence_id", "condition"]]
    both = good.merge(bad, on="item", suffixes=("", "_bad"))
    if both.empty:
        return pair_frame()
    alone = ~both["item"].duplicated(keep=False)
    conditions = both["condition"].where(both["condition"] != "", both["sentence_id"])
    conditions_bad = both["condition_bad"].where(both["condition_bad"] != "", both["sentence_id_bad"])
    named = both["item"].where(alone, both["item"] + ":" + conditions + "/" + conditions_bad)
    by_ids = both["item"] + ":" + both["sentence_id"] + "/" + both["sentence_id_bad"]
    named = named.where(~named.duplicated(keep=False), by_ids)  # two sentences in one cell
    return pair_frame(
        pair_id=named.tolist(),
        item=both["item"].tolist(),
        paradigm=both["paradigm"].tolist(),
        phenomenon=both["phenomenon"].tolist(),
        good_id=both["sentence_id"].tolist(),
        bad_id=both["sentence_id_bad"].tolist(),
        file=both["file"].tolist(),
        row=both["row"].tolist(),
    )


def joined_groups(names: Iterable[str], links: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Group names that links join, directly or through others.

    Parameters
    ----------
    names : iterable of str
        In order; the first of a group names it.
    links : iterable of (str, str)
        Pairs of names.

    Returns
    -------
    dict of str to str
        Name → the first name of its group.

    Examples
    --------
    >>> joined_groups(["a", "b", "c", "d"], [("a", "c"), ("d", "c")])
    {'a': 'a', 'b': 'b', 'c': 'a', 'd': 'a'}
    """
    order = {name: position for position, name in enumerate(names)}
    above = {name: name for name in order}

    def head(name: str) -> str:
        while above[name] != name:
            above[name] = above[above[name]]
            name = above[name]
        return name

    for one, other in links:
        first, second = sorted((head(one), head(other)), key=order.__getitem__)
        above[second] = first
    return {name: head(name) for name in order}
