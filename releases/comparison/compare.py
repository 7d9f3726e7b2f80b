"""Comparisons of models with humans on a frozen release: request, computation, and rows for pages."""

import json
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pandas as pd
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet

from analysis.comparison.ceilings.responses import compared_judgments
from analysis.comparison.criteria import DELTAS
from analysis.comparison.in_depth.report import depth_document
from analysis.comparison.pairs import PairTable, pair_table
from analysis.comparison.report import comparison_document
from analysis.errors import BadInput, StillComputing, UnknownName
from analysis.gold.writers import round_computed
from analysis.scoring.conventions import NOT_HAD
from analysis.scoring.measures import MEASURES
from analysis.scoring.words.contexts import CONTEXT_SLOT
from experiments.models import AuditEntry, Experiment, Sentence
from experiments.operation.job_runner import enqueue
from releases.gold.storage import read, release_table
from releases.gold.study_facts import context_facts
from releases.material_frames import media_of_sentences, score_table
from releases.models import Comparison, Release, ScoringRun, SentenceScore, model_names
from releases.scoring.runs import run_records
from releases.scoring.score_cache import COLUMNS, cached_rows, sentence_sha
from releases.scoring.training_metadata import run_roster

COMPARE = "releases.compare"
LARGEST = 20  # pairs per model
SIGNS = ("strict", "published")


@dataclass(frozen=True)
class Options:
    """Conventions of a comparison."""

    deltas: Sequence[float] = DELTAS
    signs: str = "strict"
    already_standardized: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        """Validate the options before any computation."""
        if self.signs not in SIGNS:
            raise UnknownName("treatment of signs", self.signs, SIGNS)
        if not self.deltas or any(not 0 < delta < 1000 for delta in self.deltas):
            raise BadInput("every δ must be above 0.", column="deltas", remedy="Write for example 0.5 1 5.")

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, as stored."""
        return asdict(self) | {"deltas": [float(delta) for delta in self.deltas]}


@transaction.atomic
def request_comparison(
    release: Release,
    runs: Iterable[ScoringRun],
    *,
    options: Options | None = None,
    title: str = "",
    user: User | None = None,
) -> Comparison:
    """Store a comparison and enqueue its job."""
    chosen = list(runs)
    if release.state == Release.State.BUILDING:
        raise StillComputing(
            f"release {release.number} is being built.", remedy="Ask again when it is ready."
        )
    if release.state != Release.State.READY:
        raise BadInput(f"release {release.number} is not ready.", remedy="Wait until it is built.")
    if not chosen:
        raise BadInput("a comparison needs a model.", column="runs", remedy="Score a model first.")
    for run in chosen:
        if run.state in {ScoringRun.State.QUEUED, ScoringRun.State.RUNNING}:
            message = f"{run} is {run.get_state_display()}."
            raise StillComputing(message, column="runs", remedy="Ask again when it has its scores.")
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
        experiment=release.experiment, user=user, action="comparison started", details=details
    )
    return comparison


def list_comparisons(study: Experiment) -> QuerySet[Comparison]:
    """Return comparisons on the study's releases, newest first."""
    rows = Comparison.objects.filter(release__experiment=study)
    return rows.select_related("release__experiment", "job", "created_by").prefetch_related("runs")


def compare(comparison: Comparison) -> dict[str, Any]:
    """Compute the document of a comparison from the release's files and the stored scores."""
    options = Options(**comparison.options)
    release = comparison.release
    runs = list(comparison.runs.order_by("pk"))
    scores = score_table(runs)
    table = pair_table(
        release_table(release, "human.csv"),
        described_pairs(release),
        scores,
        already_standardized=options.already_standardized,
    )
    conventions: dict[str, Any] = {
        "signs": options.signs,
        "deltas": options.deltas,
        "judgments": compared_judgments(release_table(release, "judgments.csv")),
        "seed": options.seed,
    }
    document = comparison_document(table, **conventions)
    models = run_roster(runs, [str(name) for name in scores.columns[1:]])
    records = run_records(runs, model_names(runs))
    return document | {
        "contexts": _contexts(release, records),
        "media": list(dict.fromkeys([*document["media"], *media_of_sentences(release.experiment.materials)])),
        "scoring": records,
        "parting": largest_differences(table, release_table(release, "sentences.csv")),
        "depth": depth_document(table, models=models, counts=count_table(runs), **conventions),
    }


def _contexts(release: Release, records: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Whether participants saw the contexts, and which models read them; None without contexts."""
    facts = context_facts(release.experiment)
    read = {record["model"]: record["conventions"]["context"] for record in records}
    return facts and {
        **facts,
        "read_by": [name for name, template in read.items() if CONTEXT_SLOT in template],
        "not_read_by": [name for name, template in read.items() if template in (NOT_HAD, "ignore")],
    }


def comparison_frames(comparison: Comparison) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return human scores and pairs of the release, and the models' scores."""
    release = comparison.release
    runs = list(comparison.runs.order_by("pk"))
    return release_table(release, "human.csv"), release_table(release, "pairs.csv"), score_table(runs)


def described_pairs(release: Release) -> pd.DataFrame:
    """Return the pairs with all fields of their source: texts, dependency length, attractor."""
    lines = read(release.storage_key, "pairs.jsonl").decode().split("\n")
    return pd.DataFrame([json.loads(line) for line in lines if line])


def largest_differences(table: PairTable, sentences: pd.DataFrame) -> dict[str, list[dict[Hashable, Any]]]:
    """Return for each model the pairs with the largest distance between it and humans."""
    text = sentences.set_index("sentence_id")["sentence"]
    disagreements = {}
    for model in table.models:
        gap = (table.human_delta - table.model_delta[model]).abs()
        worst = gap.sort_values(ascending=False, kind="stable").dropna().index[:LARGEST]
        rows = table.pairs.loc[worst, ["pair_id", "good_id", "bad_id"]].assign(
            good=lambda frame: frame["good_id"].map(text).fillna(""),
            bad=lambda frame: frame["bad_id"].map(text).fillna(""),
            human_delta=round_computed(table.human_delta.loc[worst]),
            model_delta=round_computed(table.model_delta[model].loc[worst]),
        )
        disagreements[model] = rows.to_dict("records")
    return disagreements


PAIRS, BOTH = "pairs", "pairs, participants"
SKILL, SAMPLE = "skill, r / ceiling", "people, another sample"


def interval_rows(report: dict[str, Any], keys: Sequence[str]) -> list[dict[str, Any]]:
    """Return one row per model and kind of interval; ``cells`` in the order BLiMP, ADC at each δ, r.

    The first row of a model has its name as ``model``, its other rows as ``continues``: over pairs and
    participants, then of skill and of r divided by its ceiling. The last row is of the human ceilings.
    Without judgments by participant there is only the first row.
    """
    rows = []
    for model in report["models"]:
        ends = model["intervals"]
        cells = [ends["blimp"], *(ends["adc"].get(key) for key in keys), ends["pearson_r"]]
        row = {"model": model["model"], "drawn": PAIRS, "cells": [_cell(cell) for cell in cells]}
        rows.append(row | {"status": "too_few" if ends.get("status") == "too_few" else ""})
        joint = ends.get("joint")
        if joint is None:
            continue
        cells = [None, *(joint["adc"].get(key) for key in keys), joint["pearson_r"]]
        status = "" if joint["status"] == "ok" else joint["status"]
        rows.append(
            {
                "continues": model["model"],
                "drawn": BOTH,
                "status": status,
                "cells": [_cell(cell) for cell in cells],
            }
        )
        if not status and "skill" in joint:
            cells = [None, *(joint["skill"].get(key) for key in keys), joint["pearson_r_disattenuated"]]
            rows.append(
                {"continues": model["model"], "drawn": SKILL, "cells": [_cell(cell) for cell in cells]}
            )
    ends = (report["baselines"]["human_ceiling"] or {}).get("intervals")
    if ends and ends["model"]:
        cells = [None, *(ends["adc"].get(key) for key in keys), ends["sample"]]
        rows.append({"model": SAMPLE, "drawn": BOTH, "cells": [_cell(cell) for cell in cells]})
    return rows


def n_resampled_participants(report: dict[str, Any]) -> int | None:
    """Return the number of participants of the joint intervals; None without them."""
    counts = [(model["intervals"].get("joint") or {}).get("participants") for model in report["models"]]
    return next((n for n in counts if n is not None), None)


def _cell(ends: Sequence[float] | None) -> dict[str, Any]:
    low, high = ends or (None, None)
    return {"low": low, "high": high}


DIGITS = 3  # of shares in these tables


def lowest_and_highest(values: Iterable[float | None]) -> tuple[float | None, float | None]:
    """Return minimum and maximum; the maximum is None where both look alike in a table."""
    defined = [value for value in values if value is not None]
    if not defined:
        return None, None
    low, high = min(defined), max(defined)
    return low, None if f"{low:.{DIGITS}f}" == f"{high:.{DIGITS}f}" else high


def count_table(runs: Sequence[ScoringRun]) -> pd.DataFrame:
    """Return log probability, tokens and unigram log probability of the sentences of runs, as they have them.

    ``model`` is the name of the run among these. Unigrams of sentences scored after a context are not cached;
    the words of an uploaded table without tokens are not the model's.
    """
    columns = ["model", "sentence_id", "logprob", "n_tokens", "unigram_logprob"]
    rows = [
        (label, key, logprob, n_tokens if has_tokens else None, unigrams.get(key))
        for label, run in zip(model_names(runs), runs, strict=True)
        if run.method in MEASURES
        for has_tokens, unigrams in [(_has_tokens(run), _cached_unigrams(run))]
        for key, logprob, n_tokens in SentenceScore.objects.filter(run=run).values_list(
            "sentence__key", "logprob", "n_tokens"
        )
    ]
    numbers = dict.fromkeys(columns[2:], float)
    return pd.DataFrame(rows, columns=columns).astype(numbers)


def _has_tokens(run: ScoringRun) -> bool:
    return not run.model.startswith("csv:") or run.spec.get("tokens") == "model"


def _cached_unigrams(run: ScoringRun) -> dict[str, float | None]:
    if run.scorer is None or run.spec.get("in_context"):
        return {}
    place = COLUMNS.index("unigram_logprob")
    shas = {
        sentence.key: sentence_sha(sentence.words)
        for sentence in Sentence.objects.filter(scores__run=run).only("key", "text", "attributes")
    }
    rows = cached_rows(run.scorer, list(shas.values()))
    return {key: rows[sha][place] for key, sha in shas.items() if sha in rows}
