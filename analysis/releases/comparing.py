"""Models beside people on one frozen release: asked for, computed from its own files, stored."""

import io
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd
from django.db import transaction
from django.db.models import QuerySet

from analysis.comparison.criteria import DELTAS
from analysis.comparison.deltas import PairTable, pair_table
from analysis.comparison.depth import depth_report
from analysis.comparison.files import counted_judgments
from analysis.comparison.report import compare_report
from analysis.errors import BadInput, UnknownName
from analysis.gold.writers import rounded
from analysis.releases.models import Comparison, Release, ScoringRun, SentenceScore
from analysis.releases.run_records import run_records
from analysis.releases.storage import read
from analysis.releases.training import run_roster
from experiments.job_runner import enqueue
from experiments.models import AuditEntry, Experiment

COMPARE = "releases.compare"
PARTING = 20
SIGNS = ("strict", "published")
NUMBERS = {"human.csv": ("score", "n", "sd"), "judgments.csv": ("value", "position", "rt_ms")}


@dataclass(frozen=True)
class Options:
    """What a comparison depends on beside its data."""

    deltas: Sequence[float] = DELTAS
    signs: str = "strict"
    already_standardized: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse what cannot be computed before any work."""
        if self.signs not in SIGNS:
            raise UnknownName("treatment of signs", self.signs, SIGNS)
        if not self.deltas or any(not 0 < delta < 1000 for delta in self.deltas):
            raise BadInput("every δ must be above 0.", column="deltas", remedy="Write for example 0.5 1 5.")

    def as_dict(self) -> dict[str, Any]:
        """Plain values, as stored."""
        return asdict(self) | {"deltas": [float(delta) for delta in self.deltas]}


@transaction.atomic
def request_comparison(
    release: Release,
    runs: Iterable[ScoringRun],
    *,
    options: Options | None = None,
    title: str = "",
    user=None,
) -> Comparison:
    """Store a comparison and its job."""
    chosen = list(runs)
    if release.state != Release.State.READY:
        raise BadInput(f"release {release.number} is not ready.", remedy="Wait until it is built.")
    if not chosen:
        raise BadInput("a comparison needs a model.", column="runs", remedy="Score a model first.")
    for run in chosen:
        if run.state != ScoringRun.State.DONE or run.material_set_id != release.experiment.materials_id:
            raise BadInput(
                f"{run} has no scores for the study's sentences.", column="runs", remedy="Score them."
            )
    comparison = Comparison.objects.create(
        release=release, title=title, options=(options or Options()).as_dict(), created_by=user
    )
    comparison.runs.set(chosen)
    arguments = {"comparison": comparison.pk}
    key = f"{COMPARE}-{comparison.pk}"
    comparison.job = enqueue(COMPARE, arguments, user=user, experiment=release.experiment, key=key)
    comparison.save(update_fields=["job"])
    details = {"comparison": comparison.pk, "release": release.number, "models": model_names(chosen)}
    AuditEntry.objects.create(
        experiment=release.experiment, user=user, action="comparison asked for", details=details
    )
    return comparison


def comparisons_of(study: Experiment) -> QuerySet[Comparison]:
    """Comparisons on the study's releases, newest first."""
    rows = Comparison.objects.filter(release__experiment=study)
    return rows.select_related("release__experiment", "job", "created_by").prefetch_related("runs")


def compare(comparison: Comparison) -> dict[str, Any]:
    """The comparison's document, from the release's files and the stored scores alone."""
    options = Options(**comparison.options)
    release = comparison.release
    human, pairs, scores = comparison_frames(comparison)
    runs = list(comparison.runs.order_by("pk"))
    shared: dict[str, Any] = {
        "already_standardized": options.already_standardized,
        "signs": options.signs,
        "deltas": options.deltas,
        "judgments": _judgments(release),
        "seed": options.seed,
    }
    report = compare_report(human, pairs, scores, **shared)
    depth = depth_report(
        human,
        described_pairs(release),
        scores,
        models=run_roster(runs, [str(name) for name in scores.columns[1:]]),
        **shared,
    )
    table = pair_table(human, pairs, scores, already_standardized=options.already_standardized)
    return report | {
        "scoring": run_records(runs, model_names(runs)),
        "parting": parting(table, release_table(release, "sentences.csv")),
        "depth": depth,
    }


def comparison_frames(comparison: Comparison) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """People's scores and the pairs from the release, and the models' scores."""
    release = comparison.release
    runs = list(comparison.runs.order_by("pk"))
    return release_table(release, "human.csv"), release_table(release, "pairs.csv"), score_table(runs)


def release_table(release: Release, name: str) -> pd.DataFrame:
    """A CSV file of a release as a frame: ids and texts as text, numbers as numbers, gaps as gaps."""
    frame = pd.read_csv(io.BytesIO(read(release.storage_key, name)), dtype=str, keep_default_na=False)
    for column in NUMBERS.get(name, ()):
        if column in frame.columns:
            frame[column] = pd.to_numeric(frame[column].replace("", None))
    return frame


def described_pairs(release: Release) -> pd.DataFrame:
    """The pairs with every field that their source gave them: texts, dependency length, attractor."""
    lines = read(release.storage_key, "pairs.jsonl").decode().split("\n")
    return pd.DataFrame([json.loads(line) for line in lines if line])


def score_table(runs: Sequence[ScoringRun]) -> pd.DataFrame:
    """The stored scores of some runs: ``sentence_id`` and one column per run."""
    columns = {}
    for label, run in zip(model_names(runs), runs, strict=True):
        rows = SentenceScore.objects.filter(run=run).values_list("sentence__key", "score")
        columns[label] = pd.Series(dict(rows), dtype=float)
    return pd.DataFrame(columns).rename_axis("sentence_id").reset_index()


def model_names(runs: Sequence[ScoringRun]) -> list[str]:
    """A name for each run; runs of one name are told apart by method, then by number."""
    names = [run.name for run in runs]
    full = [
        name if names.count(name) == 1 else f"{name} ({run.method})"
        for name, run in zip(names, runs, strict=True)
    ]
    return [
        name if full.count(name) == 1 else f"{name}, run {run.pk}"
        for name, run in zip(full, runs, strict=True)
    ]


def parting(table: PairTable, sentences: pd.DataFrame) -> dict[str, list[dict[str, Any]]]:
    """For each model, the pairs on which it and people differ most."""
    text = sentences.set_index("sentence_id")["sentence"]
    found = {}
    for model in table.models:
        gap = (table.human_delta - table.model_delta[model]).abs()
        worst = gap.sort_values(ascending=False, kind="stable").dropna().index[:PARTING]
        rows = table.pairs.loc[worst, ["pair_id", "good_id", "bad_id"]].assign(
            good=lambda frame: frame["good_id"].map(text).fillna(""),
            bad=lambda frame: frame["bad_id"].map(text).fillna(""),
            human_delta=rounded(table.human_delta.loc[worst]),
            model_delta=rounded(table.model_delta[model].loc[worst]),
        )
        found[model] = rows.to_dict("records")
    return found


def _judgments(release: Release) -> pd.DataFrame:
    """The kept judgments by participant, which give the human ceiling."""
    frame = counted_judgments(release_table(release, "judgments.csv"))
    answered = frame["value"].notna() & (frame["sentence_id"] != "")
    return frame[answered].reset_index(drop=True)
