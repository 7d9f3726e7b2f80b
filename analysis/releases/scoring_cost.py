"""What scoring would cost, told before it starts: sentences, what the cache knows, minutes of one process."""

import time
from collections.abc import Sequence
from typing import Any

from analysis.errors import BadInput
from analysis.releases.held_model import model_of
from analysis.releases.model_places import checked_uri, pinned, shown_name
from analysis.releases.models import Release, ScoringRun
from analysis.releases.run_scores import Progress, sentences_of
from analysis.releases.run_texts import reader, refuse_without_words, texts_of
from analysis.releases.score_cache import (
    check_software,
    has_fixed_revision,
    known,
    scorer_row,
    sentence_sha,
    store,
)
from analysis.releases.scoring import measures_for, said_of
from analysis.scoring import Scorer
from analysis.scoring.shards import shard_places
from experiments.job_runner import enqueue
from experiments.models import Experiment, Job, MinimalPair, Sentence

COST = "releases.scoring_cost"
WARM_UP, FIRST, TIMES, ENOUGH_S = 8, 16, 4, 1.0  # of the probe: sentences, sentences, growth, seconds


def request_cost(
    experiment: Experiment,
    models: Sequence[str],
    *,
    methods: Sequence[str],
    release: Release | None = None,
    device: str = "",
    user=None,
) -> Job:
    """Queue the estimate; a worker opens each model for it."""
    if experiment.materials is None:
        raise BadInput("the study has no materials to score.", remedy="Choose materials first.")
    said = said_of(experiment, release, device)
    arguments = {
        **said,
        "queue": said["device"],
        "materials": experiment.materials.pk,
        "models": [checked_uri(uri) for uri in models],
        "methods": list(methods),
    }
    return enqueue(COST, arguments, user=user, experiment=experiment)


def cost_of(arguments: dict[str, Any], *, progress: Progress) -> dict[str, Any]:
    """The estimate for every model; what cannot be opened or measured is named with the reason."""
    spec = {name: arguments[name] for name in ("device", "release", "study")}
    models = arguments["models"]
    sentences = sentences_of(_run(arguments, models[0], spec))
    rows, refused = [], []
    for place, uri in enumerate(models):
        progress(place, len(models), f"opening {shown_name(uri)}"[:200])
        try:
            found, lacks = _of_model(_run(arguments, uri, spec), sentences, arguments["methods"])
            refused += lacks
            if found["measures"]:
                rows.append({"name": shown_name(uri), **found})
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
    """A run that is not stored: what a model is opened for."""
    return ScoringRun(material_set_id=arguments["materials"], model=uri, spec=dict(spec))


def _of_model(
    run: ScoringRun, sentences: Sequence[Sentence], methods: Sequence[str]
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The model's row, and the measures that it cannot give; what is scored for several counts once."""
    model = model_of(run, afresh=True)
    measures, refused = [], []
    asked: dict[str, tuple[Scorer, list[str]]] = {}
    for method in measures_for(run.model, methods):
        try:
            one = reader(method, model)
            texts = texts_of(method, sentences, materials=run.material_set)
            refuse_without_words(method, texts, materials=run.material_set)
        except BadInput as error:
            refused.append({"uri": run.model, "measure": method, "error": str(error)})
            continue
        measures.append(method)
        asked[one.spec.spec_id] = (one, list(dict.fromkeys(texts.values())))
    parts = [_part(one, texts) for one, texts in asked.values()]
    n = sum(part["distinct"] for part in parts)
    cached, minutes = sum(part["cached"] for part in parts), [part["minutes"] for part in parts]
    rates = [part["sentences_per_s"] for part in parts if part["left"]] or [None]
    told = {
        "uri": pinned(run.model, model.spec.revision),
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
    return told, refused


def _part(model: Scorer, texts: list[str]) -> dict[str, Any]:
    """What one way of asking the model costs: whole sentences, or critical words."""
    if not has_fixed_revision(model.spec):
        unknown = {"sentences_per_s": None, "basis": "", "minutes": None}
        return {"distinct": len(texts), "cached": 0, "left": len(texts), **unknown}
    row = scorer_row(model.spec)
    check_software(row, model, texts)
    row.refresh_from_db()
    cached = known(row, [sentence_sha(text) for text in texts])
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


def _probe(row: Any, model: Scorer, texts: Sequence[str]) -> tuple[float | None, int]:
    """Sentences a second, seen on batches of one shard that grow until one takes a second.

    What a model does once, and again for a longer sentence than any before (it chooses its way), is done
    first, with the longest sentence of all: it belongs to no sentence. Scores stay in the cache.
    """
    shard = [texts[place] for place in shard_places(texts, [""] * len(texts))[0]]
    if len(shard) > 2 * WARM_UP:
        longest = max(texts, key=len)
        rest = [text for text in shard if text != longest]
        first, shard = [longest, *rest[: WARM_UP - 1]], rest[WARM_UP - 1 :]
        store(row, first, model.score(first))
    rate, n, size = None, 0, FIRST
    while shard and (rate is None or 2 * len(shard) >= size):
        timed, shard = shard[:size], shard[size:]
        began = time.monotonic()
        store(row, timed, model.score(timed))
        seconds = time.monotonic() - began
        rate, n, size = len(timed) / seconds if seconds > 0 else None, len(timed), TIMES * size
        if seconds >= ENOUGH_S:
            break
    return rate, n


def _n_pairs(materials: int, sentences: set[int]) -> int:
    pairs = MinimalPair.objects.filter(material_set=materials).values_list("good_id", "bad_id")
    return sum(good in sentences and bad in sentences for good, bad in pairs)
