"""Stored judgments of a study, as its pages and the API list them."""

from collections.abc import Iterable
from math import isnan
from typing import Any

from django.db.models import Count, QuerySet

from analysis.undecided import ANSWERS, TREATMENTS
from experiments.models import Experiment, MinimalPair
from judgments.declared import treatment_of
from judgments.models import Judgment, Session


def judgments_of(study: Experiment) -> QuerySet[Judgment]:
    """Judgments that count: no previews, no pilots, nobody who withdrew."""
    rows = Judgment.objects.filter(trial__session__experiment=study, trial__session__is_test=False)
    return rows.exclude(trial__session__status=Session.Status.WITHDRAWN).select_related(
        "chosen",
        "trial__session__participant",
        "trial__session__list",
        "trial__item__paradigm",
        "trial__sentence",
        "trial__pair__paradigm",
        "trial__pair__good",
        "trial__pair__bad",
    )


def items_with_several_pairs(study: Experiment) -> set[int]:
    """Items of which each pair is an item of its own."""
    pairs = MinimalPair.objects.filter(material_set=study.materials_id).order_by()
    counted = pairs.values("good__item").annotate(n=Count("pk")).filter(n__gt=1)
    return set(counted.values_list("good__item", flat=True))


def as_rows(study: Experiment, judgments: Iterable[Judgment]) -> list[dict[str, Any]]:
    """Judgments under the names of :mod:`analysis.columns`, as the frames have them."""
    several = items_with_several_pairs(study) if study.materials_id else set()
    rows = [_row(study, judgment, several=several) for judgment in judgments]
    if treatment := treatment_of(study):
        for row in rows:
            if row["response"] in ANSWERS:
                counted = TREATMENTS[treatment].value
                row["value"] = None if isnan(counted) else counted
    return rows


def _row(study: Experiment, judgment: Judgment, *, several: set[int]) -> dict[str, Any]:
    trial, session = judgment.trial, judgment.trial.session
    pair, rated = trial.pair, trial.sentence or judgment.chosen
    item = pair.key if pair and trial.item_id in several else trial.item.key if trial.item else None
    paradigm = (pair and pair.paradigm) or (trial.item and trial.item.paradigm)
    return {
        "participant": session.participant.pseudonym,
        "session": str(session.pk),
        "item": item,
        "condition": rated.condition if rated else None,
        "sentence_id": rated.key if rated else None,
        "trial": str(trial.pk),
        "task": study.task,
        "response": judgment.response,
        "value": judgment.value,
        "rt_ms": judgment.rt_ms,
        "position": trial.position,
        "shown_first": _shown_first(trial),
        "kind": trial.kind,
        "status": judgment.status,
        "correct": judgment.is_correct,
        "list": session.list.label if session.list else None,
        "round": session.list.round if session.list else 1,
        "paradigm": paradigm.name if paradigm else None,
        "pair_id": pair.key if pair else None,
    }


def _shown_first(trial: Any) -> str | None:
    if trial.pair is None or trial.expected_first is None:
        return None
    return (trial.pair.good if trial.expected_first else trial.pair.bad).key
