"""Compute all numbers of a report, exclusion counts included, from the files of a release."""

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..agreement.report import agreement_report, included_paradigms
from ..comparison.ceilings.responses import compared_judgments
from ..comparison.in_depth.linking import linking_functions
from ..comparison.in_depth.models import roster
from ..comparison.in_depth.surprisal import surprisal_models
from ..comparison.pairs import pair_table
from ..comparison.report import comparison_document
from ..effects.conditions import condition_report, scale_use
from ..effects.report import effects_report
from ..effects.response_times import time_report
from ..errors import BadInput
from ..exclusions.criteria import is_analysed
from ..exclusions.multiverse import NOTHING, Universe, multiverse_report
from ..exclusions.report import removed_by_group
from ..exclusions.sensitivity import headline
from ..gold.writers import json_bytes
from ..power.report import pilot_report
from ..reliability.report import reliability_report
from ..rows import RATING_TASKS, Flags, column_or_blank, is_kind, numbers, tasks
from .released import Released

KINDS = ("target", "filler", "catch", "practice", "anchor")
UNITS = ("participants", "sessions", "judgments")


def kept_rows(released: Released) -> pd.DataFrame:
    """Return the rows that no exclusion step removes."""
    return released.judgments[_is_kept(released, _names(released))]


def exclusion_counts(released: Released, *, transform: str = "z") -> dict[str, Any]:
    """Recompute flow, marginal counts, groups and sensitivity of the exclusion plan of a release.

    Notes
    -----
    Some steps read data that no release publishes (flags, browser events). The release contains their
    decision for each row instead, so that all counts can be reproduced.
    """
    rows, names = released.judgments, _names(released)
    verdicts = {name: _is_removed(released, name) for name in names}
    return {
        "flow": _flow(rows, verdicts),
        "marginal": [{"step": name, **_counts(rows, removed)} for name, removed in verdicts.items()],
        "groups": _groups(released),
        "sensitivity": [
            {
                "recipe": recipe,
                "step": step,
                **headline(rows[_is_kept(released, steps)], transform=transform),
            }
            for recipe, step, steps in _recipes(names)
        ],
    }


def _names(released: Released) -> list[str]:
    return [str(step["name"]) for step in released.steps]


def _is_removed(released: Released, name: str) -> Flags:
    trials = released.removed.loc[released.removed["step"] == name, "trial"]
    return released.judgments["trial"].isin(trials).to_numpy(dtype=bool)


def _is_kept(released: Released, names: Sequence[str]) -> Flags:
    removed = np.zeros(len(released.judgments), dtype=bool)
    for name in names:
        removed |= _is_removed(released, name)
    return ~removed


def _flow(rows: pd.DataFrame, verdicts: dict[str, Flags]) -> list[dict[str, Any]]:
    left = np.ones(len(rows), dtype=bool)
    before = _counts(rows, left)
    steps: list[dict[str, Any]] = [_step("all", before, before)]
    for name, removed in verdicts.items():
        left = left & ~removed
        after = _counts(rows, left)
        steps.append(_step(name, before, after))
        before = after
    return steps


def _step(name: str, before: dict[str, int], after: dict[str, int]) -> dict[str, Any]:
    removed = {f"{unit}_removed": before[unit] - after[unit] for unit in UNITS}
    return {"step": name, **removed, **{f"{unit}_left": after[unit] for unit in UNITS}}


def _counts(rows: pd.DataFrame, chosen: Flags) -> dict[str, int]:
    part = rows[chosen]
    return {
        "participants": int(part["participant"].nunique()),
        "sessions": int(part["session"].nunique()),
        "judgments": int((is_analysed(rows) & chosen).sum()),
    }


def _groups(released: Released) -> list[dict[str, Any]]:
    if not released.steps:
        return []
    return removed_by_group(released.judgments, kept_rows(released), background=released.background)


def _recipes(names: Sequence[str]) -> Iterator[tuple[str, str, list[str]]]:
    yield "none", "", []
    if names:
        yield "plan", "", list(names)
    for left_out in names:
        yield "without", left_out, [name for name in names if name != left_out]


FORMAT = "obelus-report/1"
SIZES = (10, 15, 20, 25, 30, 40, 50, 75, 100, 150, 200, 300)


def report_numbers(
    released: Released, *, progress: Callable[[int, int, str], None] | None = None
) -> dict[str, Any]:
    """Compute all numbers of a report.

    Notes
    -----
    Called by the report and by ``analyse.py`` of its replication package, on the same files. Contrasts are
    phenomena, or paradigms where the materials define no phenomena.
    """
    judgments, options = kept_rows(released), released.options
    by, task = contrast_column(released), str(released.manifest["task"])
    seed = int(options["seed"])
    names = released.participants
    simulated = set(names.loc[names["simulated"] == "true", "participant"]) if "simulated" in names else set()
    counts = study_counts(released.judgments, judgments, simulated=simulated)
    document: dict[str, Any] = {"format": FORMAT, "by": by, "task": task, "counts": counts}
    parts: dict[str, Callable[[], dict[str, Any]]] = {
        "exclusions": lambda: exclusion_counts(released),
        "agreement": lambda: agreement_report(
            judgments,
            rule=options["rule"] or None,
            ties=options["ties"],
            experiment=str(released.manifest["experiment"]),
            seed=seed,
            n_min=int(options["n_min"]),
            before=released.judgments,
            undecided=str(released.study.get("undecided", "")),
        ),
        "reliability": lambda: reliability_report(
            judgments, seed=seed, included=included_paradigms(document["agreement"])
        ),
        "effects": lambda: effects_report(
            judgments,
            by=by,
            factors=released.factors,
            correction=options.get("correction", "holm"),
            sesoi=options.get("sesoi"),
            scores=released.scores,
            sentences=released.sentences,
        ),
        "conditions": lambda: condition_report(judgments) if task in RATING_TASKS else {},
        "times": lambda: time_report(judgments, by=by, outliers=options.get("outliers", "")),
        "power": lambda: pilot_report(judgments, by=by, participants=SIZES, seed=seed),
    }
    if released.scores is not None and released.pairs is not None:
        scores, pairs = released.scores, released.pairs
        parts["models"] = lambda: model_numbers(released, scores, pairs, seed=seed)
    if options.get("multiverse"):
        parts["multiverse"] = lambda: _multiverse(released, by=by)
    for n_done, (name, make) in enumerate(parts.items()):
        if progress is not None:
            progress(n_done, len(parts), name)
        try:
            document[name] = make()
        except BadInput as error:
            document[name] = {"refused": error.message}
    return document


def model_numbers(
    released: Released, scores: pd.DataFrame, pairs: pd.DataFrame, *, seed: int
) -> dict[str, Any]:
    """Compare the scored models with participants, and link their probabilities to judgments.

    Notes
    -----
    The document of :func:`obelus.comparison.report.compare_report`, with ``depth``: the parts ``linking`` and
    ``surprisal`` of :func:`obelus.comparison.in_depth.report.depth_report`.
    """
    judgments = compared_judgments(released.judgments)
    table = pair_table(released.human, pairs, scores)
    models = roster(table.models, released.roster)
    return comparison_document(table, judgments=judgments, seed=seed) | {
        "depth": {
            "linking": linking_functions(table, models, released.counts),
            "surprisal": surprisal_models(table, models, judgments, released.counts),
        }
    }


def _multiverse(released: Released, *, by: str) -> dict[str, Any]:
    """Compute the multiverse over the plan of the release and its variants."""
    names = _names(released)
    plan = str(released.manifest["plan"]["name"])
    words = {"none": NOTHING, "plan": plan}
    universes = [
        Universe(words.get(recipe, f"{plan} without {step}"), released.judgments[_is_kept(released, steps)])
        for recipe, step, steps in _recipes(names)
    ]
    exclusion = plan if names else NOTHING
    return multiverse_report(universes, by=by, exclusion=exclusion, factors=released.factors)


def numbers_bytes(document: dict[str, Any]) -> bytes:
    """Serialize the numbers as JSON with sorted keys and null for undefined numbers."""
    return json_bytes(document)


def contrast_column(released: Released) -> str:
    """Return the column that defines contrasts: phenomenon, or paradigm if no phenomenon is named."""
    names = set(column_or_blank(released.judgments, "phenomenon").astype(str).unique())
    return "phenomenon" if names - {"", "nan"} else "paradigm"


def collection_numbers(
    rows: pd.DataFrame, remaining: pd.DataFrame, *, task: str, simulated: Collection[str]
) -> dict[str, Any]:
    """Count what a methods paragraph states: trials, ranges, and ratings that have no z-score."""
    return {
        "task": task,
        "counts": study_counts(rows, remaining, simulated=simulated),
        "conditions": scale_use(remaining) if task in RATING_TASKS else {},
    }


def study_counts(
    rows: pd.DataFrame, remaining: pd.DataFrame, *, simulated: Collection[str]
) -> dict[str, Any]:
    """Count participants, sessions, answered trials of each kind, judged items, and judgments of each.

    Notes
    -----
    ``per_session`` and ``judgments_per_item`` are ranges; the latter is of the kept judgments of each pair in
    forced choice, of each sentence otherwise.
    """
    answered = ~(numbers(rows) != numbers(rows))  # NaN differs from itself
    of_kind = {kind: is_kind(rows, (kind,)) & answered for kind in KINDS}
    targets = rows[is_kind(rows, ("target",))]
    names = column_or_blank(rows, "participant").astype(str)
    return {
        "participants": int(rows["participant"].nunique()),
        "simulated_participants": int(names[names.isin(list(simulated))].nunique()),
        "sessions": int(rows["session"].nunique()),
        **{f"{kind}_trials": int(chosen.sum()) for kind, chosen in of_kind.items()},
        "items_judged": int(targets[["paradigm", "item"]].astype(str).drop_duplicates().shape[0]),
        "paradigms_judged": int(column_or_blank(targets, "paradigm").astype(str).nunique()),
        "phenomena_judged": len(set(column_or_blank(targets, "phenomenon").astype(str)) - {"", "nan"}),
        "per_session": {
            kind: _range(rows[is_kind(rows, (kind,))].groupby("session", observed=True).size())
            for kind in KINDS
        },
        "judgments_per_item": _judgments_per_item(remaining),
    }


def _judgments_per_item(remaining: pd.DataFrame) -> list[int]:
    """Return the fewest and the most kept judgments of a pair or sentence."""
    rows = remaining[is_kind(remaining, ("target",)) & ~np.isnan(numbers(remaining))]
    is_choice = (tasks(rows) == "forced_choice").any()
    name = "pair_id" if is_choice else "sentence_id"
    items = column_or_blank(rows, name).astype(str)
    if not items.ne("").all():  # imported choices without pairs are told apart by their items
        items = (
            column_or_blank(rows, "paradigm").astype(str) + "/" + column_or_blank(rows, "item").astype(str)
        )
    return _range(items.value_counts())


def _range(counts: pd.Series) -> list[int]:
    return [int(counts.min()), int(counts.max())] if len(counts) else [0, 0]
