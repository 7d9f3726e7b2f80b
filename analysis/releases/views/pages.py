"""What every concluding page needs: the study, the user's part in it, and BadInput as a message."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.forms import Form
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render

from analysis.errors import BadInput
from analysis.releases.looks import note_look
from analysis.releases.storage import MANIFEST
from experiments.models import Experiment
from experiments.pages.access import get_study, may_edit

RESULTS = {"agreement", "effects", "exclusions", "figures", "items", "ordinal", "ratings", "reliability"}
View = Callable[..., HttpResponseBase]
__all__ = ["MANIFEST", "explained", "explained_on_top", "page", "study_page", "valid_or_default"]


def study_page(view: View) -> View:
    """Give the view its study: login first, 404 for strangers, 403 for viewers who would change something."""

    @login_required
    @wraps(view)
    def guarded(request: HttpRequest, slug: str, **kwargs: Any) -> HttpResponseBase:
        editing = request.method not in {"GET", "HEAD"}
        return view(request, get_study(request.user, slug, editing=editing), **kwargs)

    return guarded


def page(
    request: HttpRequest,
    study: Experiment,
    name: str,
    *,
    template: str = "",
    status: int = 200,
    **context: Any,
) -> HttpResponse:
    """Render a page of the study's menu; a page of results is a look at them."""
    if name in RESULTS:
        note_look(study, request.user, where=name)
    given = {"study": study, "page": name, "may_edit": may_edit(request.user, study), **context}
    return render(request, f"releases/{template or name}.html", given, status=status)


def explained(request: HttpRequest, form: Form, error: BadInput) -> None:
    """Put bad input beside its field, or on top of the page."""
    if error.column in form.fields:
        form.add_error(error.column, error.message)
    else:
        messages.error(request, str(error))


def explained_on_top(request: HttpRequest, error: BadInput) -> None:
    """Put bad input on top of a page that has no form for it."""
    messages.error(request, str(error))


def valid_or_default(form: Form) -> bool:
    """Clean a form of filters; with nothing sent, every filter has its default."""
    if not form.is_bound:
        form.is_bound, form.data = True, {}
    return form.is_valid()
