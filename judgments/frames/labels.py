"""Labels of the rows of a judgment frame as categories: participants, lists, items, sentences, pairs.

A label is looked up once by its row in a small table, not once for each judgment.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from django.db.models import Model, QuerySet

from experiments.materials.markup import is_marked, plain
from experiments.models import Experiment, Item, MinimalPair, PlannedTrial, Sentence, TrialKind
from judgments.frames.fetch import Lookup
from judgments.frames.fetch_postgres import Array
from judgments.models import Trial

_TEXT = pd.StringDtype("pyarrow", na_value=np.nan)


def looked_up(rows: Array, table: "pd.Series[Any]", *, only_used: bool = False) -> pd.Categorical:
    """Labels of the given rows of a small table as categories; rows below 0 have none."""
    codes, names = pd.factorize(table.to_numpy(dtype=object), use_na_sentinel=True)
    if only_used:
        in_use = np.bincount(codes[np.unique(rows[rows >= 0])], minlength=len(names)) > 0
        order = np.argsort(names[in_use])
        names = names[in_use][order]
        new_code = np.full(len(in_use), -1)
        new_code[np.flatnonzero(in_use)[order]] = np.arange(len(names))
        codes = np.where(codes < 0, -1, new_code[codes]) if len(codes) else codes
    # the last element serves row −1: a label is missing there
    narrow = np.append(codes, -1).astype(np.min_scalar_type(-len(names) - 1))
    return pd.Categorical.from_codes(narrow[rows], pd.Index(names, dtype=object), validate=False)


def constant(text: str, size: int) -> pd.Categorical:
    """The same label in every row."""
    return pd.Categorical.from_codes(np.zeros(size, dtype=np.int8), pd.Index([text], dtype=object))


def texts(values: Any) -> Any:
    """A column of text that stores characters instead of a Python object for each cell."""
    return pd.arrays.ArrowStringArray(values, dtype=_TEXT)  # type: ignore[call-arg]  # not in the stubs


@dataclass(frozen=True)
class Materials:
    """Items, sentences and pairs of a study and its fillers, by their ids."""

    items: pd.DataFrame
    sentences: pd.DataFrame
    pairs: pd.DataFrame
    levels: dict[str, list[str]]
    """Levels of each factor of the study's own materials, in the researcher's order."""

    @classmethod
    def of(cls, experiment: Experiment, trials: QuerySet[Trial] | None = None) -> "Materials":
        """Fetch them; ``trials`` restricts them to what these show, and to all pairs of the items shown."""
        prefixes = _prefixes(experiment)
        levels = experiment.materials.levels if experiment.materials else {}
        if trials is None:
            return cls(_items(prefixes), _sentences(prefixes, levels), _pairs(prefixes), levels)
        ids = _shown_ids(trials)
        sentences = ids["sentence"] | ids["judgment__chosen"] | ids["pair__good"] | ids["pair__bad"]
        return cls(
            _items(prefixes, pk__in=ids["item"]),
            _sentences(prefixes, levels, pk__in=sentences),
            _pairs(prefixes, good__item__in=ids["pair__good__item"]),
            levels,
        )

    def lookups(self) -> dict[str, Lookup]:
        """Functions from ids to rows of the tables."""
        tables = {
            "item": self.items,
            "sentence": self.sentences,
            "pair": self.pairs,
            "chosen": self.sentences,
        }
        return {name: partial(_rows, table) for name, table in tables.items()}

    def columns(self, answers: dict[str, Any], *, without: Collection[str] = ()) -> dict[str, Any]:
        """Labels by row; for a pair the sentence is the chosen one. Removes the rows from ``answers``."""
        item, rated, pair, chosen = (answers.pop(name) for name in ("item", "sentence", "pair", "chosen"))
        in_pairs = bool((pair >= 0).any())
        if in_pairs:
            rated = np.where(rated >= 0, rated, chosen)
        names = ("key", "condition", "expected")
        columns: dict[str, Any] = {
            column: looked_up(rated, self.sentences[name])
            for column, name in zip(("sentence_id", *names[1:]), names, strict=True)
            if column not in without
        }
        if "condition" not in without:  # a condition is a cell of the factors
            columns |= {
                factor: _in_order(looked_up(rated, self.sentences[factor]), levels)
                for factor, levels in self.levels.items()
            }
        if in_pairs:
            first = None if "shown_first" in without else answers["expected_first"]
            return columns | self._of_pairs(first, pair=pair, item=item)
        return columns | {
            "item": looked_up(item, self.items["key"]),
            "paradigm": looked_up(item, self.items["paradigm"]),
            "phenomenon": looked_up(item, self.items["phenomenon"]),
            "pair_id": constant("", len(item)),
            "shown_first": constant("", len(item)),
        }

    def _of_pairs(self, first: Array | None, *, pair: Array, item: Array) -> dict[str, Any]:
        """Columns of forced choice; where an item has several pairs, each pair is an item of its own."""
        item_keys = pd.concat([self.items["key"], self.pairs["item"]], ignore_index=True)
        columns = {
            "pair_id": looked_up(pair, self.pairs["key"]),
            "item": looked_up(np.where(pair < 0, item, pair + np.int32(len(self.items))), item_keys),
            "paradigm": looked_up(pair, self.pairs["paradigm"]),
            "phenomenon": looked_up(pair, self.pairs["phenomenon"]),
        }
        if first is None:
            return columns
        members = [
            _rows(self.sentences, self.pairs[side].to_numpy(dtype=np.int64)) for side in ("bad", "good")
        ]
        # columns: bad member, good member, neither; ``first`` is 0, 1 or −1 and picks one of them
        first_row = np.column_stack([*members, np.full(len(self.pairs), -1, dtype=np.int32)])[pair, first]
        first_row[pair < 0] = -1
        return columns | {"shown_first": looked_up(first_row, self.sentences["key"])}


def _shown_ids(trials: QuerySet[Trial]) -> dict[str, set[int]]:
    """Ids of the materials that trials show or whose judgments chose them, by field."""
    fields = ("item", "sentence", "judgment__chosen", "pair__good", "pair__bad", "pair__good__item")
    rows = list(trials.values_list(*fields))
    return {field: {row[place] for row in rows} - {None} for place, field in enumerate(fields)}


def _rows(table: pd.DataFrame, keys: Array) -> Array:
    """Row of each key in a table of materials, −1 where there is none."""
    ids = table.index.to_numpy(dtype=np.int64)
    if not len(ids):
        return np.full(len(keys), -1, dtype=np.int32)
    span = int(ids[-1] - ids[0]) + 1  # ids ascend
    if span > 8 * len(ids) + 1_000_000:  # too sparse for an array over the whole span
        return pd.Index(ids).get_indexer(pd.Index(keys)).astype(np.int32)
    row_of = np.full(span + 1, -1, dtype=np.int32)
    row_of[ids - ids[0]] = np.arange(len(ids))
    offset = keys - ids[0]
    offset[(offset < 0) | (offset >= span)] = span  # the last element: no such key
    rows: Array = row_of[offset]
    return rows


def _table(rows: QuerySet[Any], **columns: str) -> pd.DataFrame:
    cells = list(rows.order_by("pk").values_list("pk", *columns.values()))
    frame = pd.DataFrame(cells, columns=["pk", *columns], dtype=object).set_index("pk")
    return frame.where(frame.notna(), "")


def _prefixes(experiment: Experiment) -> dict[int, str]:
    """Prefixes of keys by material set: the study's own has none, a set of fillers its short name."""
    fillers = PlannedTrial.objects.filter(list__experiment=experiment, kind=TrialKind.FILLER).order_by()
    sets = fillers.exclude(item__material_set=experiment.materials_id).values_list(
        "item__material_set", "item__material_set__slug"
    )
    prefixes = {pk: f"{slug}:" for pk, slug in sets.distinct() if pk}
    return {**prefixes, experiment.materials_id: ""} if experiment.materials_id else prefixes


def _add_keys(
    model: type[Model], prefixes: dict[int, str], only: dict[str, Collection[int]], **columns: str
) -> pd.DataFrame:
    """Rows of the study's materials and fillers, with keys that distinguish the sets."""
    rows = model._default_manager.filter(material_set__in=list(prefixes), **only)
    frame = _table(rows, key="key", material_set="material_set", **columns)
    if len(prefixes) > 1:
        prefix = frame["material_set"].map(prefixes)
        for name in {"key", "item"} & set(frame.columns):
            frame[name] = prefix + frame[name]
    return frame


def _items(prefixes: dict[int, str], **only: Collection[int]) -> pd.DataFrame:
    names = {"paradigm": "paradigm__name", "phenomenon": "paradigm__phenomenon__name"}
    return _add_keys(Item, prefixes, only, **names)


def _sentences(
    prefixes: dict[int, str], levels: Mapping[str, Sequence[str]], **only: Collection[int]
) -> pd.DataFrame:
    """Sentences with their condition, expected status and level of each factor, None where it has none."""
    if not levels:
        return _add_keys(Sentence, prefixes, only, condition="condition", expected="expected")
    frame = _add_keys(Sentence, prefixes, only, condition="condition", expected="expected", factors="factors")
    cells = frame.pop("factors")
    for name in levels:
        frame[name] = [(cell or {}).get(name) for cell in cells]
    return frame


def _in_order(cells: pd.Categorical, levels: Sequence[str]) -> pd.Categorical:
    """Order the categories as the researcher does, so that tables and figures follow."""
    return cells.set_categories(list(levels), ordered=True)


def _pairs(prefixes: dict[int, str], **only: Collection[int]) -> pd.DataFrame:
    frame = _add_keys(
        MinimalPair,
        prefixes,
        only,
        good="good_id",
        bad="bad_id",
        item="good__item__key",
        paradigm="paradigm__name",
        phenomenon="paradigm__phenomenon__name",
        item_paradigm="good__item__paradigm__name",
        item_phenomenon="good__item__paradigm__phenomenon__name",
    )
    has_several, has_paradigm = frame["item"].duplicated(keep=False), frame["paradigm"] != ""
    return frame.assign(
        item=frame["item"].where(~has_several, frame["key"]),
        paradigm=frame["paradigm"].where(has_paradigm, frame["item_paradigm"]),
        phenomenon=frame["phenomenon"].where(has_paradigm, frame["item_phenomenon"]),
    )


def material_texts(experiment: Experiment) -> tuple[dict[str, str], dict[str, tuple[str, str]]]:
    """Text of every sentence by its key, and of the good and the bad member by the key of a pair.

    Keys are those of the judgment frame; inline markup is removed.
    """
    prefixes = _prefixes(experiment)
    sentences = _add_keys(Sentence, prefixes, {}, text="text", attributes="attributes")
    has_markup = sentences["attributes"].map(is_marked).astype(bool)
    sentences.loc[has_markup, "text"] = sentences.loc[has_markup, "text"].map(plain)
    text_of = sentences["text"].to_dict()
    pairs = _add_keys(MinimalPair, prefixes, {}, good="good_id", bad="bad_id")
    members = zip(pairs["key"], pairs["good"], pairs["bad"], strict=True)
    return (
        dict(zip(sentences["key"], sentences["text"], strict=True)),
        {key: (text_of[good], text_of[bad]) for key, good, bad in members},
    )
