"""What scoring would cost, told before it starts: sentences, what the cache knows, minutes of one process."""

import time
from collections.abc import Sequence
from typing import Any

from analysis.errors import BadInput
from analysis.releases.held_model import model_of
from analysis.releases.model_places import checked_uri, pinned, shown_name
from analysis.releases.models import Release, ScoringRun
from analysis.releases.run_scores import Progress, sentences_of
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
WARM_UP, PROBED = 4, 24


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
    """The estimate for every model; one that cannot be opened is named with the reason."""
    spec = {name: arguments[name] for name in ("device", "release", "study")}
    models = arguments["models"]
    sentences = sentences_of(_run(arguments, models[0], spec))
    rows, refused = [], []
    for place, uri in enumerate(models):
        progress(place, len(models), f"opening {shown_name(uri)}"[:200])
        try:
            found = _of_model(_run(arguments, uri, spec), sentences, arguments["methods"])
            rows.append({"name": shown_name(uri), **found})
        except BadInput as error:
            refused.append({"uri": uri, "error": str(error)})
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


def _of_model(run: ScoringRun, sentences: Sequence[Sentence], methods: Sequence[str]) -> dict[str, Any]:
    model = model_of(run, afresh=True)
    texts = list(dict.fromkeys(sentence.words for sentence in sentences))
    told = {
        "uri": pinned(run.model, model.spec.revision),
        "revision": model.spec.revision,
        "measures": measures_for(run.model, methods),
        "distinct": len(texts),
    }
    if not has_fixed_revision(model.spec):
        unknown = {"sentences_per_s": None, "basis": "", "minutes": None}
        return told | {"cached": 0, "cached_share": 0.0, "left": len(texts), **unknown}
    row = scorer_row(model.spec)
    check_software(row, model, texts)
    row.refresh_from_db()
    cached = known(row, [sentence_sha(text) for text in texts])
    left = [text for text in texts if sentence_sha(text) not in cached]
    rate, basis = row.sentences_per_s, "the last run"
    if left and rate is None:
        rate, n = _probe(row, model, left)
        basis = f"a probe of {n} sentences"
    minutes = 0.0 if not left else len(left) / rate / 60 if rate else None
    return told | {
        "cached": len(texts) - len(left),
        "cached_share": 1 - len(left) / len(texts),
        "left": len(left),
        "sentences_per_s": rate,
        "basis": basis if left else "",
        "minutes": minutes,
    }


def _probe(row: Any, model: Scorer, texts: Sequence[str]) -> tuple[float | None, int]:
    """Sentences a second, seen on a few neighbours of one shard; their scores stay in the cache."""
    places = shard_places(texts, [""] * len(texts))[0][: WARM_UP + PROBED]
    tried = [texts[place] for place in places]
    first, timed = (tried[:WARM_UP], tried[WARM_UP:]) if len(tried) > 2 * WARM_UP else ([], tried)
    if first:
        store(row, first, model.score(first))
    began = time.monotonic()
    found = model.score(timed)
    seconds = time.monotonic() - began
    store(row, timed, found)
    return (len(timed) / seconds if seconds > 0 else None), len(timed)


def _n_pairs(materials: int, sentences: set[int]) -> int:
    pairs = MinimalPair.objects.filter(material_set=materials).values_list("good_id", "bad_id")
    return sum(good in sentences and bad in sentences for good, bad in pairs)
