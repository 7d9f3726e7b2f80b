"""Estimate of the cost of scoring before it starts: sentences, cached scores, minutes of one process."""

import time
from collections.abc import Sequence
from typing import Any

from django.contrib.auth.models import User

from analysis.errors import BadInput
from analysis.scoring import Scorer
from analysis.scoring.shards import shard_places
from experiments.models import Experiment, Job, MinimalPair, Sentence
from experiments.operation.job_runner import enqueue
from releases.models import Release, ScorerSpec, ScoringRun
from releases.scoring.execution import Progress, run_sentences
from releases.scoring.loaded_model import load_model
from releases.scoring.model_registry import checked_uris, pin_revision, shown_name
from releases.scoring.runs import measures_for, run_names, shared_settings, study_materials
from releases.scoring.score_cache import (
    cached_rows,
    check_software,
    has_fixed_revision,
    scorer_row,
    sentence_sha,
    store,
)
from releases.scoring.texts import are_in_context, reader, refuse_without_words, scored_texts

COST = "releases.scoring_cost"
# A probe scores batches of 16, 64, 256 ... sentences until one takes a second: less measures overhead.
WARM_UP, FIRST, TIMES, ENOUGH_S = 8, 16, 4, 1.0


def request_cost(
    experiment: Experiment,
    models: Sequence[str],
    *,
    methods: Sequence[str],
    release: Release | None = None,
    device: str = "",
    user: User | None = None,
) -> Job:
    """Enqueue the estimate; a worker opens each model for it."""
    materials = study_materials(experiment)
    run_settings = shared_settings(experiment, release, device)
    arguments = {
        **run_settings,
        "queue": run_settings["device"],
        "materials": materials.pk,
        "models": [uri for text in models for uri in checked_uris(text)],
        "methods": list(methods),
    }
    return enqueue(COST, arguments, user=user, experiment=experiment)


def compute_cost(arguments: dict[str, Any], *, progress: Progress) -> dict[str, Any]:
    """Return the estimate of every model; models and measures that fail are listed with the reason."""
    spec = {name: arguments[name] for name in ("device", "release", "study")}
    models = arguments["models"]
    sentences = run_sentences(_run(arguments, models[0], spec))
    rows, refused = [], []
    names = run_names(models)
    for position, uri in enumerate(models):
        progress(position, len(models), f"opening {shown_name(uri)}"[:200])
        try:
            estimate, unavailable = _estimate(_run(arguments, uri, spec), sentences, arguments["methods"])
            refused += unavailable
            if estimate["measures"]:
                rows.append({"name": names[uri], **estimate})
        except BadInput as error:
            refused.append({"uri": uri, "measure": "", "error": str(error)})
    pks = [sentence.pk for sentence in sentences]
    minutes = [row["minutes"] for row in rows]
    return {
        "sentences": len(sentences),
        "pairs": _n_pairs(arguments["materials"], set(pks)),
        "models": rows,
        "refused": refused,
        "minutes": None if None in minutes else sum(minutes),
        "can_start": bool(rows),
    }


def _run(arguments: dict[str, Any], uri: str, spec: dict[str, Any]) -> ScoringRun:
    """Return an unsaved run, as the argument of functions that open a model."""
    return ScoringRun(material_set_id=arguments["materials"], model=uri, spec=dict(spec))


def _estimate(
    run: ScoringRun, sentences: Sequence[Sentence], methods: Sequence[str]
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the row of a model and its unavailable measures; texts of several measures count once."""
    model = load_model(run, afresh=True)
    is_in_context = are_in_context(model, run.material_set)
    measures, refused = [], []
    by_scorer: dict[str, tuple[Scorer, list[str]]] = {}
    for method in measures_for(run.model, methods):
        try:
            scorer = reader(method, model, is_in_context=is_in_context)
            texts = scored_texts(
                method,
                sentences,
                model=model,
                is_in_context=is_in_context,
                materials=run.material_set,
            )
            refuse_without_words(method, texts, materials=run.material_set)
        except BadInput as error:
            refused.append({"uri": run.model, "measure": method, "error": str(error)})
            continue
        measures.append(method)
        by_scorer[scorer.spec.spec_id] = (scorer, list(dict.fromkeys(texts.values())))
    parts = [_scorer_cost(scorer, texts) for scorer, texts in by_scorer.values()]
    n = sum(part["distinct"] for part in parts)
    cached, minutes = sum(part["cached"] for part in parts), [part["minutes"] for part in parts]
    rates = [part["sentences_per_s"] for part in parts if part["left"]] or [None]
    estimate = {
        "uri": pin_revision(run.model, model.spec.revision),
        "revision": model.spec.revision,
        "measures": measures,
        "distinct": n,
        "cached": cached,
        "cached_share": cached / n if n else 0.0,
        "left": n - cached,
        "sentences_per_s": None if None in rates else min(rates),
        "basis": next((part["basis"] for part in parts if part["left"]), ""),
        "minutes": None if None in minutes else sum(minutes),
    }
    return estimate, refused


def _scorer_cost(model: Scorer, texts: list[str]) -> dict[str, Any]:
    """Return the cost of one kind of text: whole sentences, or critical words after their prefixes."""
    if not has_fixed_revision(model.spec):
        # Scores of a served model are not cached across runs, so there is no rate to store either.
        unknown = {"sentences_per_s": None, "basis": "", "minutes": None}
        return {"distinct": len(texts), "cached": 0, "left": len(texts), **unknown}
    row = scorer_row(model.spec)
    check_software(row, model, texts)
    row.refresh_from_db()
    cached = cached_rows(row, [sentence_sha(text) for text in texts])
    left = [text for text in texts if sentence_sha(text) not in cached]
    rate, basis = row.sentences_per_s, "the last run"
    if left and rate is None:
        rate, n = _probe(row, model, left)
        basis = f"a probe of {n} sentences"
    return {
        "distinct": len(texts),
        "cached": len(texts) - len(left),
        "left": len(left),
        "sentences_per_s": rate,
        "basis": basis,
        "minutes": 0.0 if not left else len(left) / rate / 60 if rate else None,
    }


def _probe(row: ScorerSpec, model: Scorer, texts: Sequence[str]) -> tuple[float | None, int]:
    """Return sentences per second and the size of the timed batch; all scores are cached."""
    shard = [texts[place] for place in shard_places(texts, [""] * len(texts))[0]]
    if len(shard) > 2 * WARM_UP:
        # A model selects its code path on the first call and again for a longer sentence than any before.
        # The warm-up contains the longest sentence, so that this time is attributed to no batch.
        longest = max(texts, key=len)
        shorter = [text for text in shard if text != longest]
        warm_up, shard = [longest, *shorter[: WARM_UP - 1]], shorter[WARM_UP - 1 :]
        store(row, warm_up, model.score(warm_up))
    rate, n, size = None, 0, FIRST
    while shard and (rate is None or 2 * len(shard) >= size):
        batch, shard = shard[:size], shard[size:]
        start = time.monotonic()
        store(row, batch, model.score(batch))
        seconds = time.monotonic() - start
        rate, n, size = len(batch) / seconds if seconds > 0 else None, len(batch), TIMES * size
        if seconds >= ENOUGH_S:
            break
    return rate, n


def _n_pairs(materials: int, sentences: set[int]) -> int:
    pairs = MinimalPair.objects.filter(material_set=materials).values_list("good_id", "bad_id")
    return sum(good in sentences and bad in sentences for good, bad in pairs)
