"""Names for the rows of a judgment frame, as categories: people, lists, items, sentences, pairs.

A name is looked up by its row in a small table, never by a value for each judgment.
"""

from collections.abc import Collection
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from experiments.models import Experiment, Item, MinimalPair, PlannedTrial, Sentence, TrialKind
from judgments.facts import Lookup

_TEXT = pd.StringDtype("pyarrow", na_value=np.nan)


def looked_up(rows: np.ndarray, table: pd.Series, *, only_used: bool = False) -> pd.Categorical:
    """Give the name in each row of a small table as categories; rows below 0 have none."""
    codes, names = pd.factorize(table.to_numpy(dtype=object), use_na_sentinel=True)
    if only_used:
        used = np.bincount(codes[np.unique(rows[rows >= 0])], minlength=len(names)) > 0
        order = np.argsort(names[used])
        names = names[used][order]
        place = np.full(len(used), -1)
        place[np.flatnonzero(used)[order]] = np.arange(len(names))
        codes = np.where(codes < 0, -1, place[codes]) if len(codes) else codes
    narrow = np.append(codes, -1).astype(np.min_scalar_type(-len(names) - 1))
    return pd.Categorical.from_codes(narrow[rows], pd.Index(names, dtype=object), validate=False)


def constant(text: str, size: int) -> pd.Categorical:
    """Give the same word in every row."""
    return pd.Categorical.from_codes(np.zeros(size, dtype=np.int8), pd.Index([text], dtype=object))


def texts(values: Any) -> Any:
    """Give a column of text that holds the characters, not a Python object for each."""
    return pd.arrays.ArrowStringArray(values, dtype=_TEXT)


@dataclass(frozen=True)
class Materials:
    """Items, sentences and pairs of a study and its fillers, by their ids."""

    items: pd.DataFrame
    sentences: pd.DataFrame
    pairs: pd.DataFrame

    @classmethod
    def of(cls, experiment: Experiment) -> "Materials":
        """Fetch them."""
        return cls(_items(experiment), _sentences(experiment), _pairs(experiment))

    def lookups(self) -> dict[str, Lookup]:
        """Functions that give the rows of ids."""
        tables = {
            "item": self.items,
            "sentence": self.sentences,
            "pair": self.pairs,
            "chosen": self.sentences,
        }
        return {name: partial(_rows, table) for name, table in tables.items()}

    def columns(self, facts: dict[str, Any], *, without: Collection[str] = ()) -> dict[str, Any]:
        """Names by row; for a pair the sentence is the chosen one. Takes the rows out of ``facts``."""
        item, rated, pair, chosen = (facts.pop(name) for name in ("item", "sentence", "pair", "chosen"))
        in_pairs = bool((pair >= 0).any())
        if in_pairs:
            rated = np.where(rated >= 0, rated, chosen)
        names = ("key", "condition", "expected")
        columns: dict[str, Any] = {
            column: looked_up(rated, self.sentences[name])
            for column, name in zip(("sentence_id", *names[1:]), names, strict=True)
            if column not in without
        }
        if in_pairs:
            first = None if "shown_first" in without else facts["expected_first"]
            return columns | self._of_pairs(first, pair=pair, item=item)
        return columns | {
            "item": looked_up(item, self.items["key"]),
            "paradigm": looked_up(item, self.items["paradigm"]),
            "phenomenon": looked_up(item, self.items["phenomenon"]),
            "pair_id": constant("", len(item)),
            "shown_first": constant("", len(item)),
        }

    def _of_pairs(self, first: np.ndarray | None, *, pair: np.ndarray, item: np.ndarray) -> dict[str, Any]:
        """Columns of forced choice; where an item has several pairs, each pair is an item of its own."""
        both = pd.concat([self.items["key"], self.pairs["item"]], ignore_index=True)
        found = {
            "pair_id": looked_up(pair, self.pairs["key"]),
            "item": looked_up(np.where(pair < 0, item, pair + np.int32(len(self.items))), both),
            "paradigm": looked_up(pair, self.pairs["paradigm"]),
            "phenomenon": looked_up(pair, self.pairs["phenomenon"]),
        }
        if first is None:
            return found
        members = [
            _rows(self.sentences, self.pairs[side].to_numpy(dtype=np.int64)) for side in ("bad", "good")
        ]
        shown = np.column_stack([*members, np.full(len(self.pairs), -1, dtype=np.int32)])[pair, first]
        shown[pair < 0] = -1
        return found | {"shown_first": looked_up(shown, self.sentences["key"])}


def _rows(table: pd.DataFrame, keys: np.ndarray) -> np.ndarray:
    """Row of each key in a table of materials, −1 where there is none."""
    known = table.index.to_numpy(dtype=np.int64)
    if not len(known):
        return np.full(len(keys), -1, dtype=np.int32)
    span = int(known[-1] - known[0]) + 1  # keys ascend
    if span > 8 * len(known) + 1_000_000:
        return pd.Index(known).get_indexer(keys).astype(np.int32)
    place = np.full(span + 1, -1, dtype=np.int32)
    place[known - known[0]] = np.arange(len(known))
    moved = keys - known[0]
    moved[(moved < 0) | (moved >= span)] = span
    found: np.ndarray = place[moved]
    return found


def _table(rows: Any, **columns: str) -> pd.DataFrame:
    found = list(rows.order_by("pk").values_list("pk", *columns.values()))
    frame = pd.DataFrame(found, columns=["pk", *columns], dtype=object).set_index("pk")
    return frame.where(frame.notna(), "")


def _prefixes(experiment: Experiment) -> dict[int, str]:
    """The study's material set, and the sets of its fillers: their keys get the set's short name in front."""
    fillers = PlannedTrial.objects.filter(list__experiment=experiment, kind=TrialKind.FILLER).order_by()
    sets = fillers.exclude(item__material_set=experiment.materials_id).values_list(
        "item__material_set", "item__material_set__slug"
    )
    found = {pk: f"{slug}:" for pk, slug in sets.distinct() if pk}
    return {**found, experiment.materials_id: ""} if experiment.materials_id else found


def _keyed(model: Any, experiment: Experiment, **columns: str) -> pd.DataFrame:
    """Rows of the study's materials and fillers, with keys that tell the sets apart."""
    prefixes = _prefixes(experiment)
    rows = model.objects.filter(material_set__in=list(prefixes))
    frame = _table(rows, key="key", material_set="material_set", **columns)
    if len(prefixes) > 1:
        prefix = frame["material_set"].map(prefixes)
        for name in {"key", "item"} & set(frame.columns):
            frame[name] = prefix + frame[name]
    return frame


def _items(experiment: Experiment) -> pd.DataFrame:
    return _keyed(Item, experiment, paradigm="paradigm__name", phenomenon="paradigm__phenomenon__name")


def _sentences(experiment: Experiment) -> pd.DataFrame:
    return _keyed(Sentence, experiment, condition="condition", expected="expected")


def _pairs(experiment: Experiment) -> pd.DataFrame:
    frame = _keyed(
        MinimalPair,
        experiment,
        good="good_id",
        bad="bad_id",
        item="good__item__key",
        paradigm="paradigm__name",
        phenomenon="paradigm__phenomenon__name",
        item_paradigm="good__item__paradigm__name",
        item_phenomenon="good__item__paradigm__phenomenon__name",
    )
    several, own = frame["item"].duplicated(keep=False), frame["paradigm"] != ""
    return frame.assign(
        item=frame["item"].where(~several, frame["key"]),
        paradigm=frame["paradigm"].where(own, frame["item_paradigm"]),
        phenomenon=frame["phenomenon"].where(own, frame["item_phenomenon"]),
    )
