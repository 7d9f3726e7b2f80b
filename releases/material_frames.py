"""Stored materials as data frames, in import order."""

from collections.abc import Collection, Sequence
from typing import Any

import pandas as pd
from django.db.models import QuerySet

from analysis.table_forms import media_columns
from experiments.materials.markup import is_marked
from experiments.materials.schema import CONTEXT
from experiments.models import Experiment, MaterialSet, MinimalPair, Sentence
from experiments.stimuli.composition import compose
from releases.models import ScoringRun, SentenceScore, model_names

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
    """One row per sentence, with its text as stored but without inline markup, and its factors.

    A set with fillers has a column ``kind``, one with contexts a column ``context``, their words.
    """
    rows = Sentence.objects.filter(material_set=materials) if materials else Sentence.objects.none()
    fields = {
        **SENTENCE_FIELDS,
        "attributes": "attributes",
        "factors": "factors",
        "is_filler": "kind",
    }
    frame = _frame(rows, fields, marked={"sentence": "attributes"}, keep=True)
    contexts = [_context_words(attributes) for attributes in frame.pop("attributes")]
    if any(contexts):
        frame[CONTEXT] = contexts
    factors, is_filler = frame.pop("factors"), frame.pop("kind").astype(bool)
    if is_filler.any():
        frame["kind"] = is_filler.map({True: "filler", False: "target"})
    for name in materials.levels if materials else {}:
        frame[name] = [cells.get(name) for cells in factors]
    return frame


def _context_words(attributes: dict[str, Any]) -> str:
    if not attributes or not attributes.get(CONTEXT):
        return ""
    frame = compose("", context=str(attributes[CONTEXT]), is_marked=is_marked(attributes)).context
    return frame.words if frame else ""


def score_frame(study: Experiment) -> pd.DataFrame | None:
    """``sentence_id`` and one column per finished scoring run of a study; None without runs."""
    if study.materials_id is None:
        return None
    runs = ScoringRun.objects.of_study(study).done().order_by("pk")
    return score_table(list(runs)) if runs else None


def pair_frame(pairs: QuerySet[MinimalPair] | MaterialSet | None) -> pd.DataFrame:
    """One row per minimal pair of a material set or queryset, with the fields of its source."""
    rows = pairs if isinstance(pairs, QuerySet) else MinimalPair.objects.filter(material_set=pairs)
    members = {"good__attributes": "good_attributes", "bad__attributes": "bad_attributes"}
    marked = {"sentence_good": "good_attributes", "sentence_bad": "bad_attributes"}
    return _frame(rows, {**PAIR_FIELDS, **members}, marked=marked)


def media_of_sentences(materials: MaterialSet | None) -> list[str]:
    """Return the columns of a set's sentences that name files of sound or picture."""
    rows = Sentence.objects.filter(material_set=materials) if materials else Sentence.objects.none()
    return media_columns(pd.DataFrame(list(rows.exclude(attributes={}).values_list("attributes", flat=True))))


def texts(experiment: Experiment) -> dict[str, str]:
    """Text of every sentence of a study by its id, without inline markup."""
    if experiment.materials_id is None:
        return {}
    sentences = Sentence.objects.filter(material_set=experiment.materials_id)
    return {sentence.key: sentence.words for sentence in sentences.only("key", "text", "attributes")}


def member_texts(experiment: Experiment, names: Collection[str]) -> dict[str, list[str]]:
    """The sentences of pairs, sentences and items by name, good member first; a pair's name comes first."""
    if experiment.materials_id is None:
        return {}
    members: dict[str, list[str]] = {}
    of_items = Sentence.objects.filter(material_set=experiment.materials_id, item__key__in=names)
    for name, text in of_items.order_by("pk").values_list("item__key", "text"):
        members.setdefault(name, []).append(text)
    sentences = Sentence.objects.filter(material_set=experiment.materials_id, key__in=names)
    members |= {name: [text] for name, text in sentences.values_list("key", "text")}
    pairs = MinimalPair.objects.filter(material_set=experiment.materials_id, key__in=names)
    rows = pairs.values_list("key", "good__text", "bad__text")
    return members | {name: [good, bad] for name, good, bad in rows}


def _frame(rows: Any, fields: dict[str, str], *, marked: dict[str, str], keep: bool = False) -> pd.DataFrame:
    """Rows by primary key; texts with markup are reduced to plain text, and their attributes left out."""
    columns = list(fields.values())
    frame = pd.DataFrame(list(rows.order_by("pk").values_list(*fields)), columns=columns, dtype=object)
    for text, attributes in marked.items():
        has_markup = (frame[attributes] if keep else frame.pop(attributes)).map(is_marked).astype(bool)
        frame.loc[has_markup, text] = [
            compose(words, is_marked=True).target.words for words in frame.loc[has_markup, text]
        ]
    names = [name for name in ("paradigm", "phenomenon") if name in columns]
    return frame.fillna(dict.fromkeys(names, ""))


def score_table(runs: Sequence[ScoringRun]) -> pd.DataFrame:
    """Return the stored scores of runs: ``sentence_id`` and one column per run."""
    columns = {}
    for label, run in zip(model_names(runs), runs, strict=True):
        rows = SentenceScore.objects.filter(run=run).values_list("sentence__key", "score")
        columns[label] = pd.Series(dict(rows), dtype=float)
    return pd.DataFrame(columns).rename_axis("sentence_id").reset_index()
