"""The leaderboard of a release: rows of all stored comparisons with the same conventions."""

from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from analysis.comparison.leaderboard import MODEL, leaderboard_rows, ordered, sort_keys
from analysis.errors import UnknownName
from experiments.models import Experiment
from releases.models import Comparison, Release, ScoringRun, model_names
from releases.scoring.runs import run_records
from releases.scoring.training_metadata import training_of

DEFAULT_SORT = "blimp"


@dataclass(frozen=True)
class Conventions:
    """Conventions of a comparison: δ, signs, standardization, seed."""

    key: str
    options: dict[str, Any]

    @property
    def words(self) -> str:
        """Label of the options in a list of choices."""
        deltas = ", ".join(format(delta, "g") for delta in self.options["deltas"])
        scores = "scores as given" if self.options["already_standardized"] else "scores standardized"
        return f"δ {deltas} · signs {self.options['signs']} · {scores} · seed {self.options['seed']}"


def leaderboard(
    release: Release,
    *,
    sort: str = DEFAULT_SORT,
    ascending: bool | None = None,
    conventions: str = "",
) -> dict[str, Any]:
    """Return every model compared on the release with one set of conventions, as a JSON document.

    A model's row depends on the release, its scores and the conventions only, so rows of different
    comparisons can share one table; of several comparisons of a run the newest is used.
    """
    comparisons = list(
        Comparison.objects.filter(release=release)
        .exclude(report={})
        .prefetch_related("runs")
        .order_by("-created_at", "-pk")
    )
    offered = _distinct_conventions(comparisons)
    selected = _select(offered, conventions)
    matching = [row for row in comparisons if selected and _key(row.options) == selected.key]
    rows, compared_runs = _rows(matching), {run.pk: run for row in matching for run in row.runs.all()}
    runs = [compared_runs[pk] for pk in sorted(compared_runs)]
    sort = sort if rows else DEFAULT_SORT
    uncompared = [run for run in done_runs(release.experiment) if run.pk not in compared_runs]
    return {
        "release": release.number,
        "sha256": release.sha256,
        "sort": sort,
        "ascending": ascending,
        "sort_keys": sort_keys(rows),
        "rows": ordered(rows, sort, ascending=ascending) if rows else [],
        "conventions": _conventions(matching, selected),
        "scoring": run_records(runs, model_names(runs)),
        "offered": [{"key": item.key, "words": item.words} for item in offered],
        "not_compared": [
            {"run": run.pk, "model": run.name, "method": run.method, "state": run.state} for run in uncompared
        ],
    }


def done_runs(study: Experiment) -> QuerySet[ScoringRun]:
    """Return finished runs over the study's sentences."""
    runs = ScoringRun.objects.filter(material_set=study.materials_id, state=ScoringRun.State.DONE)
    return runs.order_by("name", "pk")


def _rows(comparisons: list[Comparison]) -> list[dict[str, Any]]:
    """Return each run once, newest comparison first, then the newest constant and people."""
    by_run: dict[int, dict[str, Any]] = {}
    baselines: list[dict[str, Any]] = []
    for place, comparison in enumerate(comparisons):
        rows = leaderboard_rows(comparison.report)
        models = [row for row in rows if row["kind"] == MODEL]
        runs = sorted(comparison.runs.all(), key=lambda run: run.pk)
        for run, row in zip(runs, models, strict=True):
            training = training_of(run)
            by_run.setdefault(run.pk, {
                **row, "model": run.name, "method": run.method, "run": run.pk, "comparison": comparison.pk,
                "family": training.family or run.name, "training_tokens": training.training_tokens,
                "seed": training.seed, "corpus": training.corpus, "revision": run.revision,
            })  # fmt: skip
        if place == 0:
            baselines = [row for row in rows if row["kind"] != MODEL]
    rows = list(by_run.values())
    keys = list(rows[0]) if rows else []
    return rows + [{key: row.get(key) for key in keys} for row in baselines]


def _conventions(comparisons: list[Comparison], chosen: Conventions | None) -> dict[str, Any]:
    if not comparisons or chosen is None:
        return {}
    report = comparisons[0].report
    return {
        "key": chosen.key,
        **chosen.options,
        "standardization": report["standardization"],
        **report["conventions"],
        "pairs": report["pairs"],
        "labeled_pairs": report["labeled_pairs"],
    }


def _distinct_conventions(comparisons: list[Comparison]) -> list[Conventions]:
    distinct = {
        _key(comparison.options): Conventions(_key(comparison.options), comparison.options)
        for comparison in comparisons
    }
    return list(distinct.values())


def _select(offered: list[Conventions], key: str) -> Conventions | None:
    if not key:
        return offered[0] if offered else None
    for conventions in offered:
        if conventions.key == key:
            return conventions
    raise UnknownName("set of conventions", key, [conventions.key for conventions in offered])


def _key(options: dict[str, Any]) -> str:
    """Return a short key of the options, for URLs."""
    deltas = "_".join(format(delta, "g") for delta in options["deltas"])
    scale = "given" if options["already_standardized"] else "z"
    return f"{deltas}-{options['signs']}-{scale}-{options['seed']}"
