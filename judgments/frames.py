"""Rows become frames here and nowhere else: one row per judgment, under the names of :mod:`analysis.columns`.

Narrow facts (ids and answers) are fetched in blocks; what repeats (names of people, lists, items,
sentences) is
fetched once and joined as categories, so that memory and time grow slowly with the number of judgments.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from django.db import connection
from django.db.models import Count, Exists, OuterRef, Q

from analysis.columns import JUDGMENT_COLUMNS
from analysis.undecided import treated
from experiments.models import Experiment, Item, MinimalPair, PlannedTrial, Sentence, TrialKind
from judgments.declared import moduli_of, treatment_of
from judgments.models import Flag, Judgment, Participant, Session
from judgments.sets import row_per_sentence
from judgments.tasks.registry import shown_task

BLOCK = 100_000
_FACTS = {
    "trial": "trial_id",
    "session": "trial__session_id",
    "position": "trial__position",
    "kind": "trial__kind",
    "item": "trial__item_id",
    "sentence": "trial__sentence_id",
    "pair": "trial__pair_id",
    "expected_first": "trial__expected_first",
    "chosen": "chosen_id",
    "status": "status",
    "response": "response",
    "value": "value",
    "scale_low": "scale_low",
    "scale_high": "scale_high",
    "correct": "is_correct",
    "rt_ms": "rt_ms",
}
_CATEGORIES = ("kind", "status", "response")
_FLAGS = ("expected_first", "correct")
_FLOATS = ("value", "scale_low", "scale_high", "rt_ms")


def judgment_frame(
    experiment: Experiment, *, kinds: Sequence[str] | None = None, include_tests: bool = False
) -> pd.DataFrame:
    """Every judgment of a study, ordered by session and position; people who withdrew are left out.

    In forced choice ``item`` is the pair's item (the pair itself where the item has several pairs),
    ``sentence_id`` the chosen member, ``value`` 1 where that is the expected one; a judged set has a row for
    each of its sentences. ``session`` and ``trial`` are numbers as text.
    """
    people = participant_frame(experiment, include_tests=include_tests)
    sittings = session_frame(experiment, include_tests=include_tests)
    facts = _facts(experiment, kinds=kinds, include_tests=include_tests)
    frame = pd.DataFrame(index=facts.index)
    frame["session"] = _text_of_numbers(facts["session"])
    frame["trial"] = facts["trial"].astype(str).astype(object)
    sitting = sittings.set_index("pk")
    for name in ("participant", "list", "session_status", "submission_status"):
        frame[name] = _looked_up(facts["session"], sitting[name])
    native = people.set_index("participant")["native"]
    frame["native"] = _looked_up(facts["session"], sitting["participant"].map(native))
    frame["flagged"] = facts["session"].map(sitting["flagged"]).astype(bool)
    frame["round"] = facts["session"].map(sitting["round"]).astype("int64")
    frame["n_planned"] = facts["session"].map(sitting["n_planned"]).astype("int64")
    frame["task"] = _constant(experiment.task, frame.index)
    frame["modulus"] = moduli_of(experiment, facts["session"])
    for name in (
        "position",
        "kind",
        "response",
        "value",
        "scale_low",
        "scale_high",
        "status",
        "rt_ms",
        *_FLAGS,
    ):
        frame[name] = facts[name]
    frame = frame.assign(**_material_columns(experiment, facts))
    if treatment := treatment_of(experiment):
        frame["value"] = treated(frame, treatment)
    if shown_task(experiment.task).shows == "set":
        frame = row_per_sentence(frame, experiment)
    return frame[list(JUDGMENT_COLUMNS)]


def participant_frame(experiment: Experiment, *, include_tests: bool = False) -> pd.DataFrame:
    """Every participant of a study: pseudonym, background, flags; never a platform's id.

    Who took part in tests only is left out unless asked for.
    """
    rows = Participant.objects.filter(experiment=experiment).order_by("pk")
    if not include_tests:
        sittings = Session.objects.filter(participant=OuterRef("pk"))
        rows = rows.exclude(Exists(sittings) & ~Exists(sittings.filter(is_test=False)))
    flagged = set(
        _standing_flags(experiment).filter(session__isnull=True).values_list("participant_id", flat=True)
    )
    found = list(rows.values_list("pk", "pseudonym", "is_native", "is_simulated", "background"))
    return pd.DataFrame(
        {
            "participant": [pseudonym for _, pseudonym, *_ in found],
            "native": pd.array([native for _, _, native, *_ in found], dtype=object),
            "simulated": [simulated for *_, simulated, _ in found],
            "flagged": [pk in flagged for pk, *_ in found],
            "background": [background for *_, background in found],
        }
    )


def session_frame(experiment: Experiment, *, include_tests: bool = False) -> pd.DataFrame:
    """Every session of a study that was not withdrawn: participant, list, states, times, trials planned."""
    rows = _sessions(experiment, include_tests).annotate(n_trials=Count("trials")).order_by("pk")
    flags = _standing_flags(experiment)
    people = set(flags.filter(session__isnull=True).values_list("participant_id", flat=True))
    sittings = set(flags.values_list("session_id", flat=True))
    fields = (
        "pk",
        "participant_id",
        "participant__pseudonym",
        "list__label",
        "list__round",
        "list__n_trials",
        "n_trials",
        "status",
    )
    times = ("submission_status", "started_at", "completed_at", "work_time_s")
    found = pd.DataFrame(list(rows.values_list(*fields, *times)), columns=[*fields, *times], dtype=object)
    planned = found["list__n_trials"].where(found["list__n_trials"].fillna(0).astype(bool), found["n_trials"])
    flagged = found["participant_id"].isin(people) | found["pk"].isin(sittings)
    return pd.DataFrame(
        {
            "pk": found["pk"].astype("int64"),
            "session": found["pk"].astype(str).astype(object),
            "participant": found["participant__pseudonym"],
            "list": found["list__label"].fillna(""),
            "round": found["list__round"].fillna(1).astype("int64"),
            "session_status": found["status"],
            **{name: found[name] for name in times},
            "n_planned": planned.astype("int64"),
            "flagged": flagged.astype(bool),
        }
    )


def _standing_flags(experiment: Experiment) -> Any:
    return Flag.objects.filter(participant__experiment=experiment, lifted_at__isnull=True)


def _sessions(experiment: Experiment, include_tests: bool) -> Any:
    rows = Session.objects.filter(experiment=experiment).exclude(status=Session.Status.WITHDRAWN)
    return rows if include_tests else rows.filter(is_test=False)


def _facts(experiment: Experiment, *, kinds: Sequence[str] | None, include_tests: bool) -> pd.DataFrame:
    wanted = Q(trial__session__experiment=experiment)
    if not include_tests:
        wanted &= Q(trial__session__is_test=False)
    if kinds is not None:
        wanted &= Q(trial__kind__in=list(kinds))
    rows = Judgment.objects.filter(wanted).exclude(trial__session__status=Session.Status.WITHDRAWN)
    ordered = rows.order_by("trial__session_id", "trial__position").values_list(*_FACTS.values())
    blocks = [_typed(block) for block in _blocks(*ordered.query.sql_with_params())]
    if not blocks:
        return _typed([])
    for name in _CATEGORIES:
        union = pd.api.types.union_categoricals([block[name].array for block in blocks], sort_categories=True)
        starts = np.cumsum([0, *(len(block) for block in blocks)])
        for block, start, end in zip(blocks, starts, starts[1:], strict=False):
            block[name] = union[start:end]
    return pd.concat(blocks, ignore_index=True)


def _blocks(sql: str, parameters: Sequence[Any]) -> Iterator[list[tuple]]:
    """Fetch rows without making model values of them; every column is a plain number, text or flag."""
    with connection.chunked_cursor() as cursor:
        cursor.execute(sql, parameters)
        while block := cursor.fetchmany(BLOCK):
            yield block


def _typed(block: Iterable[tuple]) -> pd.DataFrame:
    frame = pd.DataFrame(list(block), columns=list(_FACTS), dtype=object)
    for name in ("trial", "session", "position"):
        frame[name] = frame[name].astype("int64")
    for name in ("item", "sentence", "pair", "chosen"):
        frame[name] = pd.to_numeric(frame[name]).fillna(-1).astype("int64")
    for name in _FLOATS:
        frame[name] = pd.to_numeric(frame[name]).astype("float64")
    for name in _CATEGORIES:
        frame[name] = frame[name].astype("category")
    for name in _FLAGS:
        said = [None if flag is None else bool(flag) for flag in frame[name]]
        frame[name] = pd.array(said, dtype="boolean")
    return frame


def _looked_up(keys: pd.Series, table: pd.Series) -> pd.Categorical:
    """Join a column of a small table as categories."""
    codes, names = pd.factorize(table.to_numpy(dtype=object), use_na_sentinel=True)
    places = pd.Index(table.index).get_indexer(keys.to_numpy())
    taken = np.where(places < 0, -1, codes[places] if len(codes) else -1)
    return pd.Categorical.from_codes(taken, pd.Index(names, dtype=object))


def _text_of_numbers(numbers: pd.Series) -> pd.Categorical:
    codes, known = pd.factorize(numbers)
    return pd.Categorical.from_codes(codes, pd.Index([str(number) for number in known], dtype=object))


def _constant(text: str, index: pd.Index) -> pd.Categorical:
    return pd.Categorical.from_codes(np.zeros(len(index), dtype=np.int8), pd.Index([text], dtype=object))


def _material_columns(experiment: Experiment, facts: pd.DataFrame) -> dict[str, Any]:
    """Names of items, sentences and pairs; for a pair the sentence is the chosen one."""
    items, sentences, pairs = _items(experiment), _sentences(experiment), _pairs(experiment)
    in_pairs = bool((facts["pair"] >= 0).any())
    rated = (
        facts["sentence"].where(facts["sentence"] >= 0, facts["chosen"]) if in_pairs else facts["sentence"]
    )
    item = _looked_up(facts["item"], items["key"])
    columns: dict[str, Any] = {
        "item": item,
        "paradigm": _looked_up(facts["item"], items["paradigm"]),
        "phenomenon": _looked_up(facts["item"], items["phenomenon"]),
        "sentence_id": _looked_up(rated, sentences["key"]),
        "condition": _looked_up(rated, sentences["condition"]),
        "expected": _looked_up(rated, sentences["expected"]),
        "pair_id": _constant("", facts.index),
        "shown_first": _constant("", facts.index),
    }
    if in_pairs:
        columns |= _pair_columns(facts, pairs, sentences, item)
    return columns


def _pair_columns(
    facts: pd.DataFrame, pairs: pd.DataFrame, sentences: pd.DataFrame, item: pd.Categorical
) -> dict[str, Any]:
    """Columns of forced choice; where an item has several pairs, each pair is an item of its own."""
    good, bad = (facts["pair"].map(pairs[side]) for side in ("good", "bad"))
    first = facts["expected_first"]
    shown = (
        good.where(first.fillna(False).astype(bool), bad).where(first.notna(), -1).fillna(-1).astype("int64")
    )
    pair = _looked_up(facts["pair"], pairs["key"])
    named = (
        pd.Series(item).astype(object).where(facts["pair"].to_numpy() < 0, facts["pair"].map(pairs["item"]))
    )
    return {
        "pair_id": pair,
        "shown_first": _looked_up(shown, sentences["key"]),
        "item": named.astype("category").array,
        "paradigm": _looked_up(facts["pair"], pairs["paradigm"]),
        "phenomenon": _looked_up(facts["pair"], pairs["phenomenon"]),
    }


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
