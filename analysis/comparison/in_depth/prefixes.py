"""One- and two-prefix methods: critical words and prefixes, and accuracy compared with whole sentences."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ...aggregation.proportions import wilson_interval
from ...errors import BadInput, UnknownName
from ...multiple_tests import with_adjusted
from ..criteria import FloatArray
from ..model_differences import cluster_flip_p, least_flip_p, mcnemar_p
from ..pairs import PairTable
from .models import PREFIX_METHODS

WHOLE = ("lp", "meanlp", "penlp", "normlp", "slor")
ALL = "all"
_MARKS = ".,;:!?\"'…»«”“)("


class Region(NamedTuple):
    """The critical word and its prefix in both members of a pair."""

    prefix_good: str
    word_good: str
    prefix_bad: str
    word_bad: str
    is_given: bool


def critical_region(pair: Mapping[str, Any], method: str) -> Region | None:
    """Return the word to score and its prefix in both members of a pair.

    None where the pair is not built for the method. ``is_given`` is False where the region is derived from
    the members: their shared first words, or the word after the last difference.

    References
    ----------
    Linzen et al. (2016), TACL 4; Wilcox et al. (2019), NAACL; Warstadt et al. (2020), TACL 8, section 6.4.

    Examples
    --------
    >>> pair = {"sentence_good": "The cat eats mice.", "sentence_bad": "The cats eats mice."}
    >>> critical_region({**pair, "two_prefix_method": True}, "two_prefix")[:4]
    ('The cat', 'eats', 'The cats', 'eats')
    """
    if method not in PREFIX_METHODS:
        raise UnknownName("prefix method", method, PREFIX_METHODS)
    if method == "one_prefix":
        prefix, good, bad = (
            _text(pair, f"one_prefix_{part}") for part in ("prefix", "word_good", "word_bad")
        )
        if prefix and good and bad:
            return Region(prefix, good, prefix, bad, True)
    else:
        first, other, word = (
            _text(pair, f"two_prefix_{part}") for part in ("prefix_good", "prefix_bad", "word")
        )
        if first and other and word:
            return Region(first, word, other, word, True)
    if not _flag(pair.get(f"{method}_method")):
        return None
    return _read_off(_text(pair, "sentence_good"), _text(pair, "sentence_bad"), method=method)


def sentence_regions(pairs: Sequence[Mapping[str, Any]], method: str) -> dict[str, tuple[str, str]]:
    """Return prefix and scored word of each sentence.

    Prefix and word by ``sentence_id``; sentences of other pairs are not in it.

    References
    ----------
    Warstadt et al. (2020), "BLiMP", TACL 8. §6.4.
    """
    regions: dict[str, tuple[str, str]] = {}
    for pair in pairs:
        region = critical_region(pair, method)
        if region is None:
            continue
        for sentence, prefix, word in (
            (str(pair["good_id"]), region.prefix_good, region.word_good),
            (str(pair["bad_id"]), region.prefix_bad, region.word_bad),
        ):
            if regions.setdefault(sentence, (prefix, word)) != (prefix, word):
                raise BadInput(
                    f"sentence {sentence!r} is in two pairs with different critical words.",
                    remedy="Give each pair sentences of its own, or score it by whole sentences.",
                )
    return regions


def prefix_methods(
    table: PairTable, models: pd.DataFrame, *, rng: np.random.Generator
) -> list[dict[str, Any]]:
    """Compare each model's prefix methods with its whole-sentence method, on the same pairs.

    The result has ``name``, ``method``, ``whole`` (its method), ``group`` (``all``, then phenomena),
    ``pairs``, ``accuracy``, ``ci_low``, ``ci_high`` (Wilson), ``whole_accuracy``, ``difference``, ``p``
    (families flipped), ``p_holm`` and ``p_bh`` (over the rows of ``all``) and ``p_mcnemar``. Empty where no
    model has both.

    Notes
    -----
    Accuracy: the criterion holds when the score of the acceptable member is higher. The methods are never
    mixed: a row compares two methods on the pairs that both scored.

    References
    ----------
    Warstadt et al. (2020), "BLiMP", TACL 8. One- and two-prefix methods: §6.4.
    """
    rows: list[dict[str, Any]] = []
    for name, members in models.groupby("name", sort=False):
        sentence_model = _whole(members)
        for method in PREFIX_METHODS:
            prefix_models = members.loc[members["method"] == method, "model"]
            if sentence_model is None or prefix_models.empty:
                continue
            prefix_model, whole_model = str(prefix_models.iloc[0]), sentence_model[0]
            about = {"name": str(name), "method": method, "whole": sentence_model[1]}
            rows += [{**about, **row} for row in _prefix_rows(table, prefix_model, whole_model, rng=rng)]
    overall = [row for row in rows if row["group"] == ALL]
    for row, corrected in zip(overall, with_adjusted(overall, [row["p"] for row in overall]), strict=True):
        row |= {name: corrected[name] for name in ("p_holm", "p_bh")}
    return rows


def _prefix_rows(
    table: PairTable, prefix_model: str, sentence_model: str, *, rng: np.random.Generator
) -> list[dict[str, Any]]:
    first = table.prefers_good[prefix_model].to_numpy(dtype=float)
    second = table.prefers_good[sentence_model].to_numpy(dtype=float)
    complete = ~(np.isnan(first) | np.isnan(second))
    if not complete.any():
        return []
    rows = [_row(ALL, first, second, complete)]
    rows[0] |= {
        "p": cluster_flip_p(first, second, table.clusters, rng=rng),
        "p_least": least_flip_p(first, second, table.clusters),
        "p_mcnemar": mcnemar_p(first, second),
    }
    unit = next((name for name in ("phenomenon", "paradigm") if name in table.pairs.columns), None)
    if unit is not None:
        names = table.pairs[unit].astype(str).to_numpy()
        for name in np.unique(names[complete]):
            rows.append(_row(str(name), first, second, complete & (names == name)))
    return rows


def _row(group: str, first: FloatArray, second: FloatArray, in_group: np.ndarray) -> dict[str, Any]:
    right, n = int(first[in_group].sum()), int(in_group.sum())
    low, high = wilson_interval(np.array([right]), np.array([n]))
    sentence_accuracy = float(second[in_group].mean())
    return {
        "group": group, "pairs": n, "accuracy": right / n, "ci_low": float(low[0]), "ci_high": float(high[0]),
        "whole_accuracy": sentence_accuracy, "difference": right / n - sentence_accuracy,
        "p": None, "p_least": None, "p_holm": None, "p_bh": None, "p_mcnemar": None,
    }  # fmt: skip


def _whole(members: pd.DataFrame) -> tuple[str, str] | None:
    for method in WHOLE:
        models = members.loc[members["method"] == method, "model"]
        if len(models):
            return str(models.iloc[0]), method
    return None


def _read_off(good: str, bad: str, *, method: str) -> Region | None:
    first, other = good.split(), bad.split()
    if method == "one_prefix":
        shared = _n_shared(first, other)
        if not 0 < shared < min(len(first), len(other)):
            return None
        prefix = " ".join(first[:shared])
        return Region(prefix, first[shared].rstrip(_MARKS), prefix, other[shared].rstrip(_MARKS), False)
    bare = [[word.strip(_MARKS) for word in words] for words in (first, other)]
    shared = _n_shared(bare[0][::-1], bare[1][::-1])
    if not 0 < shared < min(len(first), len(other)):
        return None
    word = bare[0][len(first) - shared]
    return Region(" ".join(first[:-shared]), word, " ".join(other[:-shared]), word, False)


def _n_shared(first: list[str], other: list[str]) -> int:
    """Count the equal entries at the start of two lists."""
    different = (place for place, (a, b) in enumerate(zip(first, other, strict=False)) if a != b)
    return next(different, min(len(first), len(other)))


def _text(pair: Mapping[str, Any], name: str) -> str:
    value = pair.get(name)
    return value.strip() if isinstance(value, str) else ""


def _flag(value: Any) -> bool:
    return value is True or str(value).strip().lower() in ("true", "1", "1.0", "yes")
