"""Shared by the results pages: access to the study, rendering, form choices, downloads and error messages."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any, TypeVar

import pandas as pd
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.forms import Form
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import render

from analysis.errors import BadInput
from analysis.exclusions.plan import Plan
from analysis.gold.writers import csv_bytes
from analysis.text import no_formula
from experiments.models import Experiment
from experiments.pages.access import get_study, may_edit
from judgments.frames.data_source import file_stem, shown_data
from releases.exports.snippets import table_snippets
from releases.gold.plans import current_exclusion
from releases.reports.forms import ExcludeForm
from releases.reports.progress import note_look

RESULTS = {
    "agreement",
    "effects",
    "exclusions",
    "figures",
    "groups",
    "items",
    "multiverse",
    "ordinal",
    "ratings",
    "reliability",
    "sequential",
    "times",
}
#: Pages with a table as CSV, and the column that the snippet beside it summarizes.
TABLES = {"agreement": "individual_agreement", "effects": "estimate", "ratings": "mean"}
View = Callable[..., HttpResponseBase]
BoundForm = TypeVar("BoundForm", bound=ExcludeForm)


def study_page(view: View) -> View:
    """Require login and pass the study: 404 for users without access, 403 for viewers who would change it."""

    @login_required
    @wraps(view)
    def view_with_study(request: HttpRequest, slug: str, **kwargs: Any) -> HttpResponseBase:
        editing = request.method not in {"GET", "HEAD"}
        study = get_study(request.user, slug, editing=editing)
        if not editing:
            study.data = shown_data(request)
        return view(request, study, **kwargs)

    return view_with_study


def page(
    request: HttpRequest,
    study: Experiment,
    name: str,
    *,
    template: str = "",
    status: int = 200,
    **context: Any,
) -> HttpResponse:
    """Render a page of the study's menu; a page of results is recorded as an interim look."""
    if name in RESULTS:
        note_look(study, request.user, where=name)
    values = {"study": study, "page": name, "may_edit": may_edit(request.user, study), **context}
    if name in TABLES and context.get("report"):
        values["file"] = csv_name(study, name, context["plan"])
        values["snippets"] = table_snippets(values["file"], value=TABLES[name])
    return render(request, f"releases/{template or name}.html", values, status=status)


def add_form_error(request: HttpRequest, form: Form, error: BadInput) -> None:
    """Show bad input at its field, or on top of the page."""
    if error.column in form.fields:
        form.add_error(error.column, error.message)
    else:
        messages.error(request, str(error))


def explained_on_top(request: HttpRequest, error: BadInput) -> None:
    """Show bad input on top of a page without a form for it."""
    messages.error(request, str(error))


def valid_or_default(form: Form) -> bool:
    """Validate a form of filters; without a query every filter has its default."""
    if not form.is_bound:
        form.is_bound, form.data = True, {}
    return form.is_valid()


def form_choices(
    request: HttpRequest, study: Experiment, form_class: type[BoundForm]
) -> tuple[BoundForm, dict[str, Any], bool]:
    """The form of the query, its choices, and whether all of them are valid."""
    form = form_class(request.GET or None, experiment=study)
    is_valid = valid_or_default(form)
    return form, form.choices(), is_valid


def explicit_query(request: HttpRequest, study: Experiment) -> str:
    """The query of a page for its figures and downloads, with the plan named where it is the current one.

    Race: the current plan may change between a page and its figures, which browsers also cache.
    """
    query = request.GET.copy()
    exclude = current_exclusion(study)
    if exclude and not query.get("plan") and not query.getlist("steps"):
        query["plan"] = exclude
    return query.urlencode()


def csv_name(study: Experiment, name: str, plan: Plan) -> str:
    """Name of a table of results, with the exclusion plan that it was computed under."""
    label = ""
    if plan.steps:
        label = f"{plan.name}-v{plan.version}" if plan.created_at else re.sub(r"[^\w.]+", "-", plan.name)
    return f"{file_stem(study)}-{name}{'-' if label else ''}{label}.csv"


def attachment(content: bytes, media_type: str, name: str) -> HttpResponse:
    """A file to download."""
    return HttpResponse(
        content, content_type=media_type, headers={"Content-Disposition": f'attachment; filename="{name}"'}
    )


def csv_attachment(rows: Sequence[Mapping[str, Any]], columns: Sequence[str], name: str) -> HttpResponse:
    """Rows as a CSV file to download."""
    table = pd.DataFrame(rows, columns=list(columns), dtype=object).map(no_formula)
    return attachment(csv_bytes(table, tuple(columns)), "text/csv; charset=utf-8", name)


def json_attachment(document: Mapping[str, Any], name: str) -> JsonResponse:
    """A document as a JSON file to download."""
    options = {"ensure_ascii": False, "indent": 2, "allow_nan": False}
    # Dumped twice: keys that are no strings become strings as the commands print them.
    response = JsonResponse(json.loads(json.dumps(document)), json_dumps_params=options)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
