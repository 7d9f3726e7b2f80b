"""The words of a set of materials beside their frequency in a corpus."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from ...errors import NotEnoughData


def vocabulary_frequencies(words: Iterable[str], frequencies: Mapping[str, float]) -> pd.DataFrame:
    """Look up the words of a vocabulary in the frequency list of a corpus.

    Parameters
    ----------
    words : iterable of str
        The vocabulary; a word counts once.
    frequencies : mapping of str to float
        Frequency of each word of the corpus, such as occurrences per million.

    Returns
    -------
    DataFrame, one row per word
        ``word``, ``frequency`` and ``rank`` (1 is the most frequent word of the corpus, equal ones share the
        lowest), missing where the corpus does not have the word; the most frequent first.

    Examples
    --------
    >>> vocabulary_frequencies(["cat", "yak"], {"the": 9.0, "cat": 2.0}).to_numpy().tolist()
    [['cat', 2.0, 2.0], ['yak', nan, nan]]
    """
    listed = pd.Series(dict(frequencies), dtype=float)
    if listed.empty:
        raise NotEnoughData("the frequency list is empty.")
    ranks = listed.rank(method="min", ascending=False)
    names = list(dict.fromkeys(words))
    table = pd.DataFrame({
        "word": names, "frequency": listed.reindex(names).to_numpy(), "rank": ranks.reindex(names).to_numpy()
    })  # fmt: skip
    return table.sort_values("rank", kind="stable", na_position="last", ignore_index=True)


def coverage(table: pd.DataFrame, *, tops: Sequence[int] = (1_000, 5_000, 20_000)) -> list[dict[str, Any]]:
    """Count the words of a vocabulary among the most frequent of the corpus.

    ``table`` is from :func:`vocabulary_frequencies`; a row per number in ``tops`` has ``top``, ``words`` and
    ``share`` of the vocabulary.

    Examples
    --------
    >>> coverage(vocabulary_frequencies(["cat", "yak"], {"the": 9.0, "cat": 2.0}), tops=[2])
    [{'top': 2, 'words': 1, 'share': 0.5}]
    """
    counts = [int((table["rank"] <= top).sum()) for top in tops]
    return [
        {"top": top, "words": count, "share": count / len(table)}
        for top, count in zip(tops, counts, strict=True)
    ]


def joint_agreement(by_dataset: Mapping[str, Mapping[str, float]]) -> pd.DataFrame:
    """Put people's agreement with several data sets beside each other, by the phenomena that all have.

    Parameters
    ----------
    by_dataset : mapping of str to mapping of str to float
        Agreement by phenomenon of each data set; names of phenomena must be the same.

    Returns
    -------
    DataFrame, one row per phenomenon of all data sets
        ``phenomenon``, a column for each data set, and for two data sets ``difference`` (the second minus the
        first).

    References
    ----------
    Xiang et al. (2021), "CLiMP", EACL, section 3.5.

    Examples
    --------
    >>> joint_agreement({"BLiMP": {"binding": 0.87}, "CLiMP": {"binding": 0.99, "passive": 0.91}}).shape
    (1, 4)
    """
    columns = {name: pd.Series(dict(shares), dtype=float) for name, shares in by_dataset.items()}
    table = pd.DataFrame(columns).dropna()
    if len(columns) == 2:
        first, second = columns
        table["difference"] = table[second] - table[first]
    return table.rename_axis("phenomenon").reset_index()
