"""What a run asks its model: the words of each sentence, or its critical word after a prefix.

Either is one string, so that cache and shards know it by its bytes.
"""

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import pandas as pd
from django.db.models import Q

from analysis.comparison.prefixes import sentence_regions
from analysis.comparison.roster import PREFIX_METHODS
from analysis.errors import BadInput
from analysis.releases.material_frames import pair_frame
from analysis.scoring import Scorer
from analysis.scoring.critical_words import WordScorer, word_question
from analysis.scoring.measures import MEASURES, measure
from experiments.models import MaterialSet, MinimalPair, Sentence

PAIR_TEXTS = ("good_id", "bad_id", "sentence_good", "sentence_bad")


def reader(method: str, model: Scorer) -> Scorer:
    """The model as a method asks it; a method that it cannot serve is refused before anything is scored."""
    if method in PREFIX_METHODS:
        return WordScorer(model, method)
    if method in MEASURES:
        one = np.ones(1)
        unigram = one if "unigram" in model.capabilities else None
        measure(method, one, n_tokens=one, unigram_logprob=unigram, n_chars=one, n_bytes=one)
    return model


def texts_of(
    method: str, sentences: Sequence[Sentence], *, materials: MaterialSet | None = None
) -> dict[int, str]:
    """What is asked of each sentence, by its id; a prefix method asks nothing of pairs not made for it.

    ``materials`` says that the sentences are those of a whole set; without it their own pairs are looked up.
    """
    if method not in PREFIX_METHODS:
        return {one.pk: one.words for one in sentences}
    pks = [one.pk for one in sentences]
    pairs = (
        MinimalPair.objects.filter(material_set=materials)
        if materials is not None
        else MinimalPair.objects.filter(Q(good__in=pks) | Q(bad__in=pks))
    )
    regions = prefix_regions(pair_frame(pairs), method)
    return {
        one.pk: word_question(*regions[one.key], sentence=one.words)
        for one in sentences
        if one.key in regions
    }


def refuse_without_words(method: str, asked: Collection[Any], *, materials: object) -> None:
    """A prefix method needs pairs made for it."""
    if method in PREFIX_METHODS and not asked:
        raise BadInput(
            f"no pair of {materials} is made for the {method} method.",
            column="method",
            remedy=f"Pairs need the flag {method}_method, or its prefix and words.",
        )


def prefix_regions(pairs: pd.DataFrame, method: str) -> dict[str, tuple[str, str]]:
    """Prefix and critical word of each sentence, from the fields that stored pairs kept of their source."""
    rows = [
        {**(row["fields"] or {}), **{name: row[name] for name in PAIR_TEXTS}}
        for row in pairs.to_dict("records")
    ]
    return sentence_regions(rows, method)
