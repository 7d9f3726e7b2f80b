"""Pairs of a release for lm-evaluation-harness, from pairs.jsonl in the folder above this one."""

import json
from functools import lru_cache
from pathlib import Path

import datasets

PAIRS = Path(__file__).resolve().parent.parent / "pairs.jsonl"
MEMBERS = ("sentence_good", "sentence_bad", "pair_id", "good_id", "bad_id")
FIELDS = (*MEMBERS, "human_n", "human_share", "human_label")


@lru_cache(maxsize=None)
def pairs_by_paradigm():
    pairs = {}
    with PAIRS.open(encoding="utf-8") as lines:
        for line in lines:
            pair = json.loads(line)
            pairs.setdefault(pair["paradigm"] or "", []).append({name: pair[name] for name in FIELDS})
    return pairs


def of_paradigm(paradigm="", **_):
    return {"test": datasets.Dataset.from_list(pairs_by_paradigm()[paradigm])}
