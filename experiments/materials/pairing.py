"""Minimal pairs of items in several conditions: every acceptable × unacceptable sentence of one item."""

from collections.abc import Iterable

import pandas as pd

from experiments.materials.collection import pair_frame
from experiments.materials.schema import ACCEPTABLE, UNACCEPTABLE


def pair_conditions(sentences: pd.DataFrame) -> pd.DataFrame:
    """Pair every acceptable sentence of an item with every unacceptable one.

    Notes
    -----
    A pair is named after its item where the item has one pair only, else after the item and the two
    conditions. Sentences of one item are lexically matched by definition; sentences of different items are
    never paired, and fillers form no pairs. Pairs are ordered by the acceptable, then the unacceptable
    sentence's order in the frame.
    """
    usable = sentences[(sentences["item"] != "") & ~sentences["is_filler"].astype(bool)]
    good = usable[usable["expected"] == ACCEPTABLE]
    bad = usable[usable["expected"] == UNACCEPTABLE][["item", "sentence_id", "condition"]]
    pairs = good.merge(bad, on="item", suffixes=("", "_bad"))
    if pairs.empty:
        return pair_frame()
    alone = ~pairs["item"].duplicated(keep=False)
    conditions = pairs["condition"].where(pairs["condition"] != "", pairs["sentence_id"])
    conditions_bad = pairs["condition_bad"].where(pairs["condition_bad"] != "", pairs["sentence_id_bad"])
    names = pairs["item"].where(alone, pairs["item"] + ":" + conditions + "/" + conditions_bad)
    by_ids = pairs["item"] + ":" + pairs["sentence_id"] + "/" + pairs["sentence_id_bad"]
    names = names.where(~names.duplicated(keep=False), by_ids)  # two sentences in one cell
    return pair_frame(
        pair_id=names.tolist(),
        item=pairs["item"].tolist(),
        paradigm=pairs["paradigm"].tolist(),
        phenomenon=pairs["phenomenon"].tolist(),
        good_id=pairs["sentence_id"].tolist(),
        bad_id=pairs["sentence_id_bad"].tolist(),
        file=pairs["file"].tolist(),
        row=pairs["row"].tolist(),
    )


def joined_groups(names: Iterable[str], links: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Map each name to the first name of its connected component.

    Examples
    --------
    >>> joined_groups(["a", "b", "c", "d"], [("a", "c"), ("d", "c")])
    {'a': 'a', 'b': 'b', 'c': 'a', 'd': 'a'}
    """
    order = {name: position for position, name in enumerate(names)}
    parent = {name: name for name in order}

    def root(name: str) -> str:
        while parent[name] != name:
            parent[name] = parent[parent[name]]  # path halving
            name = parent[name]
        return name

    for left, right in links:
        first, second = sorted((root(left), root(right)), key=order.__getitem__)
        parent[second] = first
    return {name: root(name) for name in order}
