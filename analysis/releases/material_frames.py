"""Stored materials as frames, in the order in which they were imported."""

from typing import Any

import pandas as pd
from django.db.models import QuerySet

from experiments.materials.markup import is_marked, plain
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
    """One row per sentence, its words exactly as stored, without inline markup."""
    rows = Sentence.objects.filter(material_set=materials) if materials else Sentence.objects.none()
    return _frame(rows, {**SENTENCE_FIELDS, "attributes": "attributes"}, marked={"sentence": "attributes"})


def pair_frame(pairs: QuerySet[MinimalPair] | MaterialSet | None) -> pd.DataFrame:
    """One row per minimal pair of a set, or of those given, with the fields of its source."""
    rows = pairs if isinstance(pairs, QuerySet) else MinimalPair.objects.filter(material_set=pairs)
    members = {"good__attributes": "good_attributes", "bad__attributes": "bad_attributes"}
    marked = {"sentence_good": "good_attributes", "sentence_bad": "bad_attributes"}
    return _frame(rows, {**PAIR_FIELDS, **members}, marked=marked)


def texts(experiment: Experiment) -> dict[str, str]:
    """The words of every sentence of a study by its id."""
    if experiment.materials_id is None:
        return {}
    found = Sentence.objects.filter(material_set=experiment.materials_id)
    return {one.key: one.words for one in found.only("key", "text", "attributes")}


def _frame(rows: Any, fields: dict[str, str], *, marked: dict[str, str]) -> pd.DataFrame:
    """Rows in their order; of texts that hold markup, the words."""
    columns = list(fields.values())
    frame = pd.DataFrame(list(rows.order_by("pk").values_list(*fields)), columns=columns, dtype=object)
    for text, attributes in marked.items():
        has_markup = frame.pop(attributes).map(is_marked).astype(bool)
        frame.loc[has_markup, text] = frame.loc[has_markup, text].map(plain)
    names = [name for name in ("paradigm", "phenomenon") if name in columns]
    return frame.fillna(dict.fromkeys(names, ""))
