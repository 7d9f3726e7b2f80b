"""Items, those first on which people disagree most."""

from typing import Any

import pandas as pd
from django.http import HttpRequest, HttpResponseBase

from analysis.releases import reading
from analysis.releases.forms import ExcludeForm
from analysis.releases.plans import find_plan
from analysis.releases.views.agreement import json_attachment
from analysis.releases.views.pages import page, study_page, valid_or_default
from experiments.models import Experiment, MinimalPair, Sentence
from experiments.pages.paging import page_of
from judgments.tasks.registry import shown_task

PER_PAGE = 50


@study_page
def items(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """Every judged item with its count, interval and majority."""
    form = ExcludeForm(request.GET or None, experiment=study)
    plan = find_plan(study, form.exclude() if valid_or_default(form) else "")
    counted = by_disagreement(reading.items(study, exclude=form.exclude()))
    shown = page_of(request, counted.to_dict("records"), most=PER_PAGE)
    shown.object_list = with_texts(study, list(shown.object_list))
    query = request.GET.copy()
    query.pop("page", None)
    return page(
        request,
        study,
        "items",
        form=form,
        plan=plan,
        items=shown,
        keep=query.urlencode(),
        n_items=len(counted),
        diagnostics=reading.diagnostics(study, exclude=form.exclude()),
        query=query.urlencode(),
        has_shares=bool(counted["n"].sum()) if len(counted) else True,
        has_ratings=bool(counted["n_rated"].sum()) if len(counted) else False,
        has_sides=shown_task(study.task).shows == "pair",
    )


@study_page
def as_json(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """The table of items and the diagnostics as the command prints them."""
    form = ExcludeForm(request.GET or None, experiment=study)
    valid_or_default(form)
    return json_attachment(reading.items_report(study, exclude=form.exclude()), f"{study.slug}-items.json")


def by_disagreement(counted: pd.DataFrame) -> pd.DataFrame:
    """Items whose share is nearest to one half first, then those whose ratings lie farthest apart."""
    distance = (counted["share"] - 0.5).abs()
    order = counted.assign(distance=distance).sort_values(
        ["distance", "spread", "n", "paradigm", "item"],
        ascending=[True, False, False, True, True],
        na_position="last",
    )
    return order.astype(object).where(order.notna(), None)


def with_texts(study: Experiment, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Put the sentences beside the items of one page."""
    keys = [row["item"] for row in rows]
    pairs = MinimalPair.objects.filter(material_set=study.materials_id, key__in=keys)
    members = {key: [good, bad] for key, good, bad in pairs.values_list("key", "good__text", "bad__text")}
    sentences = dict(
        Sentence.objects.filter(material_set=study.materials_id, key__in=keys).values_list("key", "text")
    )
    for sentence in Sentence.objects.filter(
        material_set=study.materials_id, item__key__in=keys
    ).select_related("item"):
        if sentence.item.key not in members and sentence.item.key not in sentences:
            members.setdefault(f"item {sentence.item.key}", []).append(sentence.text)
    return [
        {
            **row,
            "texts": members.get(row["item"])
            or members.get(f"item {row['item']}")
            or [sentences.get(row["item"], "")],
        }
        for row in rows
    ]
