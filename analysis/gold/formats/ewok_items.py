"""Pairs of a release as items of EWoK, as the BabyLM pipeline reads them; the other pairs with reasons."""

from collections import defaultdict
from collections.abc import Hashable
from typing import Any, NamedTuple

import pandas as pd

from ..writers import csv_bytes, jsonl_bytes

FOLDER = "ewok"
LEFT_OUT_FILE = ("pair_id", "paradigm", "reason")
#: Fields of EWoK that our columns do not have; taken from the source of the pair, else empty.
OTHER_FIELDS = ("ContextType", "ContextDiff", "TargetDiff")
HUMAN_FIELDS = ("human_n", "human_share", "human_label")
NO_CONTEXT = "the sentences have no context: the pair is one of BLiMP's form (pairs.jsonl)"
OTHER_CONTEXT = "the members have different contexts, and EWoK compares two targets after the same context"
SAME_TEXT = "the members are the same text"
NO_COUNTERPART = (
    "no pair of the paradigm has the same two sentences the other way round after another context"
)


class ContextPair(NamedTuple):
    """A pair whose members follow the same context."""

    row: dict[Hashable, Any]
    paradigm: str
    context: str
    good: str
    bad: str


def ewok_files(pairs: pd.DataFrame, sentences: pd.DataFrame) -> dict[str, bytes]:
    """Write the folder ``ewok`` of a release: a row for each pair that EWoK can express, and the other pairs.

    The result has ``ewok/left_out.csv``, and ``ewok/pairs.jsonl`` where a pair can be expressed.

    Notes
    -----
    An item of EWoK has two contexts and two targets: the first target is plausible after the first context,
    the second after the second. So a pair with a context is one only beside its counterpart: a pair of the
    same paradigm with the same two sentences the other way round after another context. Each of both becomes
    a row, whose ``Context1`` and ``Target1`` are its own, since the pipeline compares the two targets after
    ``Context1`` only.

    References
    ----------
    Ivanova et al. (2024), "Elements of World Knowledge (EWoK)", arXiv:2405.09605.
    Charpentier et al. (2025), "BabyLM Turns 3", arXiv:2502.10645 (the evaluation pipeline).
    """
    contexts: dict[str, str] = {}
    if "context" in sentences.columns:
        texts = sentences["context"].fillna("").astype(str).str.strip()
        contexts = dict(zip(sentences["sentence_id"], texts, strict=True))
    reasons: dict[Hashable, str] = {}
    candidates: list[ContextPair] = []
    for row in pairs.astype(object).to_dict("records"):
        good_context, bad_context = (contexts.get(row[name], "") for name in ("good_id", "bad_id"))
        good, bad = (str(row[name]).strip() for name in ("sentence_good", "sentence_bad"))
        if not good_context and not bad_context:
            reasons[row["pair_id"]] = NO_CONTEXT
        elif good_context != bad_context:
            reasons[row["pair_id"]] = OTHER_CONTEXT
        elif good == bad:
            reasons[row["pair_id"]] = SAME_TEXT
        else:
            candidates.append(ContextPair(row, str(row["paradigm"] or ""), good_context, good, bad))
    counterparts = _counterparts(candidates)
    items = []
    for number, pair in enumerate(candidates):
        if number in counterparts:
            items.append(_item(pair, candidates[counterparts[number]]))
        else:
            reasons[pair.row["pair_id"]] = NO_COUNTERPART
    left_out = pd.DataFrame(
        [
            (pair_id, paradigm, reasons[pair_id])
            for pair_id, paradigm in zip(pairs["pair_id"], pairs["paradigm"], strict=True)
            if pair_id in reasons
        ],
        columns=list(LEFT_OUT_FILE),
        dtype=object,
    )
    files = {f"{FOLDER}/left_out.csv": csv_bytes(left_out, LEFT_OUT_FILE)}
    return files | ({f"{FOLDER}/pairs.jsonl": jsonl_bytes(items)} if items else {})


def _counterparts(pairs: list[ContextPair]) -> dict[int, int]:
    """Return the number of each pair's counterpart; each pair has at most one, in the order of the file."""
    waiting: dict[tuple[str, str, str], list[int]] = defaultdict(list)
    matched: dict[int, int] = {}
    for number, pair in enumerate(pairs):
        others = waiting[pair.paradigm, pair.bad, pair.good]
        other = next((n for n in others if pairs[n].context != pair.context), None)
        if other is None:
            waiting[pair.paradigm, pair.good, pair.bad].append(number)
            continue
        others.remove(other)
        matched |= {number: other, other: number}
    return matched


def _item(pair: ContextPair, counterpart: ContextPair) -> dict[str, Any]:
    return {
        "Domain": pair.paradigm or "pairs",
        "Context1": pair.context,
        "Context2": counterpart.context,
        "Target1": pair.good,
        "Target2": pair.bad,
        **{name: pair.row.get(name) or "" for name in OTHER_FIELDS},
        **{name: pair.row[name] for name in ("pair_id", "good_id", "bad_id")},
        "counterpart_id": counterpart.row["pair_id"],
        **{name: pair.row[name] for name in HUMAN_FIELDS},
    }
