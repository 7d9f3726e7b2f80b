"""Stored materials as frames, in the order in which they were imported."""

from typing import Any

import pandas as pd

from experiments.models import Experiment, MaterialSet, MinimalPair, Sentence

SENTENCE_FIELDS = {
    "key": "sentence_id",
    "item__key": "item",
    "condition": "condition",
    "item__paradigm__name": "paradigm",
    "item__paradigm__phenomenon__name": "phenomenon",
    "expected": "expected",
    "text": "sentence",
}
PAIR_FIELDS = {
    "key": "pair_id",
    "good__key": "good_id",
    "bad__key": "bad_id",
    "paradigm__name": "paradigm",
    "paradigm__phenomenon__name": "phenomenon",
    "good__text": "sentence_good",
    "bad__text": "sentence_bad",
    "fields": "fields",
    "discard": "discard",
}


def sentence_frame(materials: MaterialSet | None) -> pd.DataFrame:
    """One row per sentence, its text exactly as stored."""
    rows = Sentence.objects.filter(material_set=materials) if materials else Sentence.objects.none()
    return _frame(rows.order_by("pk").values_list(*SENTENCE_FIELDS), list(SENTENCE_FIELDS.values()))


def pair_frame(materials: MaterialSet | None) -> pd.DataFrame:
    """One row per minimal pair, with the fields of its source."""
    rows = MinimalPair.objects.filter(material_set=materials) if materials else MinimalPair.objects.none()
    return _frame(rows.order_by("pk").values_list(*PAIR_FIELDS), list(PAIR_FIELDS.values()))


def texts(experiment: Experiment) -> dict[str, str]:
    """The text of every sentence of a study by its id."""
    if experiment.materials_id is None:
        return {}
    return dict(Sentence.objects.filter(material_set=experiment.materials_id).values_list("key", "text"))


def _frame(rows: Any, columns: list[str]) -> pd.DataFrame:
    frame = pd.DataFrame(list(rows), columns=columns, dtype=object)
    names = [name for name in ("paradigm", "phenomenon") if name in columns]
    return frame.fillna(dict.fromkeys(names, ""))
