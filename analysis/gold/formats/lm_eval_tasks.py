"""Tasks of lm-evaluation-harness for a release: one for each paradigm, grouped by phenomenon."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..writers import json_bytes, quoted_yaml

FOLDER = "lm_eval"
LOADER = '''"""Pairs of a release for lm-evaluation-harness, from pairs.jsonl in the folder above this one."""

import hashlib
import json
from functools import lru_cache
from pathlib import Path

import datasets
import pyarrow

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
    pairs = pairs_by_paradigm()[paradigm]
    # With a fingerprint of its own: without one, datasets pickles the table, which fails with pyarrow 26.
    fingerprint = hashlib.sha256(json.dumps(pairs).encode()).hexdigest()[:16]
    return {"test": datasets.Dataset(pyarrow.Table.from_pylist(pairs), fingerprint=fingerprint)}
'''


def task_files(pairs: pd.DataFrame, *, slug: str) -> dict[str, bytes]:
    """Write the folder ``lm_eval`` of a release: the loader, a task for each paradigm and the groups.

    Notes
    -----
    The harness compares whole sentences: the context is empty, and so is the delimiter, which would add a
    space before the first word and change its tokens. Of two equal scores the harness takes the first
    sentence, the good one, as the answer.

    References
    ----------
    Gao et al. (2024), "The Language Model Evaluation Harness", Zenodo.
    """
    if pairs.empty:
        return {}
    names = _Names()
    everything = names.unique(slug)
    paradigm = pairs["paradigm"].fillna("").astype(str)
    tasks: dict[str, list[str]] = {}
    files = {"pairs.py": LOADER.encode()}
    for value, rows in pairs.groupby(paradigm, sort=True):
        task = names.unique(f"{slug}_{value or 'pairs'}")
        phenomenon = str(rows["phenomenon"].iloc[0] or "")
        tasks.setdefault(phenomenon, []).append(task)
        files[f"{task}.yaml"] = _task(task, str(value), phenomenon, rows)
    members = []
    for phenomenon in sorted(tasks):
        if not phenomenon:
            members += tasks[phenomenon]
            continue
        group = names.unique(f"{slug}_{phenomenon}_all")
        files[f"{group}.yaml"] = _group(group, tasks[phenomenon], pairs[pairs["phenomenon"] == phenomenon])
        members.append(group)
    files[f"{everything}.yaml"] = _group(everything, members, pairs)
    return {f"{FOLDER}/{name}": content for name, content in files.items()}


class _Names:
    """Names that are safe as file names and unique also where case does not count."""

    def __init__(self) -> None:
        self.taken: set[str] = set()

    def unique(self, text: str) -> str:
        base = re.sub(r"[^A-Za-z0-9_-]+", "_", text).strip("_") or "task"
        name, number = base, 1
        while name.lower() in self.taken:
            number += 1
            name = f"{base}_{number}"
        self.taken.add(name.lower())
        return name


def ceilings(pairs: pd.DataFrame) -> dict[str, Any]:
    """Summarize what humans did on pairs: the ceilings that models are compared with.

    Examples
    --------
    >>> labels = ["expected", "tie"]
    >>> pairs = pd.DataFrame({"human_n": [4, 4], "human_share": [1.0, 0.5], "human_label": labels})
    >>> ceilings(pairs)["human_individual_agreement"], ceilings(pairs)["human_majority_agreement"]
    (0.75, 0.5)
    """
    decided = pairs["human_label"].isin(("expected", "unexpected", "tie"))
    share = pd.to_numeric(pairs["human_share"]).astype(float)
    return {
        "pairs": len(pairs),
        "pairs_judged": int(decided.sum()),
        "human_n": int(pairs["human_n"].fillna(0).sum()),
        "human_individual_agreement": _mean(share),
        "human_majority_agreement": _mean((pairs["human_label"] == "expected")[decided].astype(float)),
    }


def _mean(values: pd.Series) -> float | None:
    mean = float(np.mean(values.dropna())) if values.notna().any() else None
    return None if mean is None else float(f"{mean:.12g}")


def _task(name: str, paradigm: str, phenomenon: str, pairs: pd.DataFrame) -> bytes:
    lines = [
        f"task: {quoted_yaml(name)}",
        "custom_dataset: !function pairs.of_paradigm",
        "test_split: test",
        "output_type: multiple_choice",
        'doc_to_text: ""',
        'target_delimiter: ""',
        'doc_to_choice: "{{[sentence_good, sentence_bad]}}"',
        "doc_to_target: 0",
        "num_fewshot: 0",
        "metric_list:",
        "  - metric: acc",
        "    aggregation: mean",
        "    higher_is_better: true",
    ]
    described = {"version": 1, "paradigm": paradigm, "phenomenon": phenomenon, **ceilings(pairs)}
    return _with_metadata(lines, described)


def _group(name: str, members: Sequence[str], pairs: pd.DataFrame) -> bytes:
    lines = [
        f"group: {quoted_yaml(name)}",
        "task:",
        *(f"  - {quoted_yaml(member)}" for member in members),
        "aggregate_metric_list:",
        "  - metric: acc",
        "    aggregation: mean",
        "    weight_by_size: true",
    ]
    return _with_metadata(lines, {"version": 1, **ceilings(pairs)})


def _with_metadata(lines: Sequence[str], described: Mapping[str, Any]) -> bytes:
    metadata = [
        f"  {key}: {quoted_yaml(value) if isinstance(value, str) else json_bytes(value).decode().strip()}"
        for key, value in described.items()
    ]
    return ("\n".join([*lines, "metadata:", *metadata]) + "\n").encode()
