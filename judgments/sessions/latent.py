"""What a simulated participant feels about what a trial shows: a latent acceptability in z units.

Material sets may carry it as the attribute ``acceptability`` of their sentences. Without it, each paradigm
gets a contrast of its own and each sentence a deviation of its own, both drawn from its name, so that the
same materials are felt the same in every study and every run.
"""

import hashlib
from collections.abc import Mapping
from statistics import NormalDist
from typing import Any

from experiments.models import Sentence
from judgments.models import Trial

EASIEST, HARDEST = 4.2, 0.0
ACCEPTABLE, ITEM_SD, CATCH = 0.9, 0.5, 5.0


def felt(trial: Trial, scale: tuple[float | None, float | None]) -> float:
    """Latent z of the sentence shown; for a pair, of the expected member over the other."""
    if trial.pair is not None:
        return acceptability_of(trial.pair.good) - acceptability_of(trial.pair.bad)
    if trial.sentence is not None:
        return acceptability_of(trial.sentence)
    if "option" in trial.correct:
        return CATCH
    if "low" in trial.correct:
        return _intended(trial.correct, scale, modulus=float(trial.shown.get("modulus", 1)))
    return 0.0


def felt_options(trial: Trial) -> dict[str, float]:
    """Latent z of every sentence of a set, by the id of its option."""
    shown = trial.shown.get("options", ())
    materials = trial.session.experiment.materials_id
    keys = [one["sentence_id"] for one in shown if one.get("sentence_id")]
    rows = Sentence.objects.filter(material_set=materials, key__in=keys).select_related("item__paradigm")
    known = {one.key: acceptability_of(one) for one in rows}
    right = trial.correct.get("option")
    return {one["id"]: CATCH * (one["id"] == right) + known.get(one["sentence_id"], 0.0) for one in shown}


def acceptability_of(sentence: Sentence) -> float:
    """Latent z of a stored sentence."""
    known = sentence.attributes.get("acceptability")
    if known is not None:
        return float(known)
    paradigm = sentence.item.paradigm
    name = paradigm.name if paradigm else sentence.condition
    contrast = HARDEST + (EASIEST - HARDEST) * _share("step", name)
    deviation = NormalDist(0, ITEM_SD).inv_cdf(_share("sentence", sentence.key))
    if sentence.expected == Sentence.Expected.UNACCEPTABLE:
        return ACCEPTABLE - contrast + deviation
    if sentence.expected == Sentence.Expected.ACCEPTABLE:
        return ACCEPTABLE + deviation
    return NormalDist().inv_cdf(_share("unknown", sentence.key))


def _intended(
    correct: Mapping[str, Any], scale: tuple[float | None, float | None], *, modulus: float
) -> float:
    """Middle of the right answers, from half the scale (5 z wide) or from the modulus (1 z per doubling)."""
    middle = (float(correct["low"]) + float(correct["high"])) / 2
    low, high = scale
    if low is not None and high is not None:
        return 5 * ((middle - low) / (high - low) - 0.5)
    return 2.0 if middle > modulus else -2.0


def _share(kind: str, name: str) -> float:
    """A number between 0 and 1, exclusive, that the name decides."""
    digest = hashlib.sha256(f"{kind}:{name}".encode()).digest()
    return (int.from_bytes(digest[:6], "big") + 1) / (2**48 + 1)
