"""The leaderboard of a release: rows of every stored comparison made by the same conventions."""

from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from analysis.comparison.leaderboard import MODEL, leaderboard_rows, ordered, sort_keys
from analysis.errors import UnknownName
from analysis.releases.comparing import model_names
from analysis.releases.models import Comparison, Release, ScoringRun
from analysis.releases.run_records import run_records
from analysis.releases.training import training_of
from experiments.models import Experiment

DEFAULT_SORT = "blimp"


@dataclass(frozen=True)
class Conventions:
    """One way of comparing: δ, signs, standardization, seed."""

    key: str
    options: dict[str, Any]

    @property
    def words(self) -> str:
        """The options as a choice in a list."""
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
    """Every model that was compared on the release by one set of conventions, ready for JSON.

    A model's row depends on the release, its scores and the conventions alone, so rows of different
    comparisons stand in one table; of several comparisons of a run the newest counts.
    """
    done = list(
        Comparison.objects.filter(release=release)
        .exclude(report={})
        .prefetch_related("runs")
        .order_by("-created_at", "-pk")
    )
    offered = _offered(done)
    chosen = _chosen(offered, conventions)
    mine = [one for one in done if chosen and _key(one.options) == chosen.key]
    rows, seen = _rows(mine), {run.pk: run for one in mine for run in one.runs.all()}
    runs = [seen[pk] for pk in sorted(seen)]
    sort = sort if rows else DEFAULT_SORT
    left = [run for run in done_runs(release.experiment) if run.pk not in seen]
    return {
        "release": release.number,
        "sha256": release.sha256,
        "sort": sort,
        "ascending": ascending,
        "sort_keys": sort_keys(rows),
        "rows": ordered(rows, sort, ascending=ascending) if rows else [],
        "conventions": _said(mine, chosen),
        "scoring": run_records(runs, model_names(runs)),
        "offered": [{"key": one.key, "words": one.words} for one in offered],
        "not_compared": [
            {"run": run.pk, "model": run.name, "method": run.method, "state": run.state} for run in left
        ],
    }


def done_runs(study: Experiment) -> QuerySet[ScoringRun]:
    """Runs over the study's sentences that have scores."""
    runs = ScoringRun.objects.filter(material_set=study.materials_id, state=ScoringRun.State.DONE)
    return runs.order_by("name", "pk")


def _rows(comparisons: list[Comparison]) -> list[dict[str, Any]]:
    """Newest first: each run once, then the constant and people of the newest comparison."""
    found: dict[int, dict[str, Any]] = {}
    rest: list[dict[str, Any]] = []
    for place, one in enumerate(comparisons):
        rows = leaderboard_rows(one.report)
        models = [row for row in rows if row["kind"] == MODEL]
        runs = sorted(one.runs.all(), key=lambda run: run.pk)
        for run, row in zip(runs, models, strict=True):
            training = training_of(run)
            found.setdefault(run.pk, {
                **row, "model": run.name, "method": run.method, "run": run.pk, "comparison": one.pk,
                "family": training.family or run.name, "training_tokens": training.training_tokens,
                "seed": training.seed, "corpus": training.corpus, "revision": run.revision,
            })  # fmt: skip
        if place == 0:
            rest = [row for row in rows if row["kind"] != MODEL]
    rows = list(found.values())
    keys = list(rows[0]) if rows else []
    return rows + [{key: row.get(key) for key in keys} for row in rest]


def _said(comparisons: list[Comparison], chosen: Conventions | None) -> dict[str, Any]:
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


def _offered(comparisons: list[Comparison]) -> list[Conventions]:
    found = {_key(one.options): Conventions(_key(one.options), one.options) for one in comparisons}
    return list(found.values())


def _chosen(offered: list[Conventions], wanted: str) -> Conventions | None:
    if not wanted:
        return offered[0] if offered else None
    for one in offered:
        if one.key == wanted:
            return one
    raise UnknownName("set of conventions", wanted, [one.key for one in offered])


def _key(options: dict[str, Any]) -> str:
    """A short name that is the same for the same options: what addresses carry."""
    deltas = "_".join(format(delta, "g") for delta in options["deltas"])
    given = "given" if options["already_standardized"] else "z"
    return f"{deltas}-{options['signs']}-{given}-{options['seed']}"
