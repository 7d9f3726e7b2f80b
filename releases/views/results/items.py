"""Items, with the largest disagreement first."""

from typing import Any

import pandas as pd
from django.http import HttpRequest, HttpResponseBase

from analysis.report.page_findings import items_finding
from experiments.models import Experiment
from experiments.pages.forms import paginate
from experiments.tasks.registry import shown_task
from judgments.frames.data_source import file_stem
from releases.gold.plans import find_plan
from releases.material_frames import member_texts
from releases.reports.forms import ExcludeForm
from releases.reports.report_cache import cached_items, cached_report, items_report
from releases.views.base import explicit_query, form_choices, json_attachment, page, study_page
from releases.views.figures import Figure, registered_figure
from releases.views.large_studies import answered_at_once

PER_PAGE = 50


@study_page
@answered_at_once
def items(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """Every judged item with its count, interval and majority."""
    form, choices, is_valid = form_choices(request, study, ExcludeForm)
    plan = find_plan(study, choices["exclude"])
    table = by_disagreement(cached_items(study, **choices))
    item_page = paginate(request, table.to_dict("records"), most=PER_PAGE)
    item_page.object_list = with_texts(study, list(item_page.object_list))
    query = request.GET.copy()
    query.pop("page", None)
    return page(
        request,
        study,
        "items",
        form=form,
        plan=plan,
        items=item_page,
        finding=items_finding(table),
        figures=item_figures(study, table, query=explicit_query(request, study)),
        keep=query.urlencode(),
        n_items=len(table),
        diagnostics=cached_report(study, "diagnostics", **choices),
        query=explicit_query(request, study),
        has_shares=bool(table["n"].sum()) if len(table) else True,
        has_ratings=bool(table["n_rated"].sum()) if len(table) else False,
        has_sides=shown_task(study.task).shows == "pair",
    )


def item_figures(study: Experiment, table: pd.DataFrame, *, query: str) -> list[Figure]:
    """Sorted intervals of shares as expected, or of mean ratings where there are none."""
    if not len(table):
        return []
    has_shares = bool(table["share"].notna().any())
    if not has_shares and not table["n_rated"].sum():
        return []
    return [registered_figure(study, "items" if has_shares else "sentences", query=query)]


@study_page
def as_json(request: HttpRequest, study: Experiment) -> HttpResponseBase:
    """The table of items and the diagnostics as the command prints them."""
    _, choices, _ = form_choices(request, study, ExcludeForm)
    return json_attachment(items_report(study, **choices), f"{file_stem(study)}-items.json")


def by_disagreement(table: pd.DataFrame) -> pd.DataFrame:
    """Sort items by the distance of their share from one half, then by the spread of their ratings."""
    distance = (table["share"] - 0.5).abs()
    order = table.assign(distance=distance).sort_values(
        ["distance", "spread", "n", "paradigm", "item"],
        ascending=[True, False, False, True, True],
        na_position="last",
    )
    return order.astype(object).where(order.notna(), None)


def with_texts(study: Experiment, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Add the sentences to the items of one page."""
    members = member_texts(study, [row["item"] for row in rows])
    return [{**row, "texts": members.get(row["item"], [""])} for row in rows]
