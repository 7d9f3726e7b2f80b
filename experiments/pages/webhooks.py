"""Webhooks of a study: the list with a form, and one webhook with its log."""

from collections.abc import Callable
from functools import wraps

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.text import capfirst
from django.views.decorators.http import require_POST

from analysis.errors import BadInput
from experiments.limits import LimitReached
from experiments.models import Experiment, Webhook
from experiments.pages.access import AuthenticatedRequest, get_study, may_edit
from experiments.pages.forms import paginate
from experiments.webhooks import endpoints
from experiments.webhooks.events import EVENTS
from experiments.webhooks.targets import MAX_LENGTH

ONCE = "new_webhook_secret"  # key in the login session: the secret that the next page shows
PER_PAGE = 50


class WebhookForm(forms.Form):
    """Address and events of a webhook."""

    address = forms.CharField(
        label="Address", max_length=MAX_LENGTH, help_text="Such as https://lab.example.org/hook."
    )
    events = forms.MultipleChoiceField(
        label="Events",
        choices=[(name, f"{name}: {text}") for name, text in EVENTS.items()],
        widget=forms.CheckboxSelectMultiple,
    )


def _get_webhook(study: Experiment, number: int) -> Webhook:
    return get_object_or_404(study.webhooks.select_related("experiment"), pk=number)


def _list(
    request: AuthenticatedRequest, study: Experiment, *, form: WebhookForm | None = None, status: int = 200
) -> HttpResponse:
    rows = [(row, endpoints.address_host(row), row.deliveries.first()) for row in study.webhooks.all()]
    context = {
        "study": study,
        "page": "webhooks",
        "rows": rows,
        "form": form or WebhookForm(),
        "may_edit": may_edit(request.user, study),
    }
    return render(request, "experiments/webhooks.html", context, status=status)


@login_required
def webhooks(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """List the webhooks; a form adds one."""
    study = get_study(request.user, slug, editing=request.method == "POST")
    if request.method != "POST":
        return _list(request, study)
    form = WebhookForm(request.POST)
    if form.is_valid():
        try:
            row = endpoints.add(study, **form.cleaned_data, by=request.user)
        except BadInput as error:
            form.add_error(error.column if error.column in form.fields else None, _sentence(error))
        else:
            request.session[ONCE] = {"webhook": row.pk, "secret": row.secret}
            return redirect("study-webhook", slug, row.pk)
    return _list(request, study, form=form, status=422)


@login_required
def webhook(request: AuthenticatedRequest, slug: str, number: int) -> HttpResponse:
    """One webhook: its settings for editors, and what was delivered."""
    study = get_study(request.user, slug, editing=request.method == "POST")
    row = _get_webhook(study, number)
    form = WebhookForm(request.POST or None, initial={"address": row.address, "events": row.events})
    if form.is_bound and form.is_valid():
        try:
            endpoints.change(row, **form.cleaned_data, by=request.user)
        except BadInput as error:
            form.add_error(error.column if error.column in form.fields else None, _sentence(error))
        else:
            messages.success(request, "Saved.")
            return redirect("study-webhook", slug, number)
    return _page(request, row, form, status=422 if form.errors else 200)


def _page(request: AuthenticatedRequest, row: Webhook, form: WebhookForm, *, status: int) -> HttpResponse:
    study = row.experiment
    new = request.session.get(ONCE, {})
    if new.get("webhook") == row.pk:
        del request.session[ONCE]
    else:
        new = {}
    context = {
        "study": study,
        "page": "webhooks",
        "webhook": row,
        "host": endpoints.address_host(row),
        "form": form,
        "new_secret": new.get("secret", ""),
        "page_of_deliveries": paginate(request, row.deliveries.all(), most=PER_PAGE),
        "may_edit": may_edit(request.user, study),
    }
    return render(request, "experiments/webhook.html", context, status=status)


def _action(step: Callable[..., HttpResponse | None]) -> Callable[..., HttpResponse]:
    """Wrap an action of editors on one webhook; bad input becomes a message."""

    @login_required
    @require_POST
    @wraps(step)
    def view_with_webhook(request: AuthenticatedRequest, slug: str, number: int, **more: int) -> HttpResponse:
        row = _get_webhook(get_study(request.user, slug, editing=True), number)
        try:
            response = step(request, row, **more)
        except BadInput as error:
            messages.error(request, _sentence(error))
            response = None
        except LimitReached as error:
            return _too_many(request, row, retry_after_s=error.retry_after_s)
        return response or redirect("study-webhook", slug, number)

    return view_with_webhook


def _too_many(request: AuthenticatedRequest, row: Webhook, *, retry_after_s: int) -> HttpResponse:
    messages.error(
        request,
        f"Nothing was sent: you have sent {endpoints.BY_HAND_PER_MINUTE} within this minute. "
        f"Try again in {retry_after_s} s.",
    )
    form = WebhookForm(initial={"address": row.address, "events": row.events})
    response = _page(request, row, form, status=429)
    response["Retry-After"] = str(retry_after_s)
    return response


@_action
def test(request: AuthenticatedRequest, row: Webhook) -> None:
    """Send a test event."""
    endpoints.test(row, by=request.user)
    messages.success(request, "A test event is on its way: reload this page to see the response.")


@_action
def switch(request: AuthenticatedRequest, row: Webhook) -> None:
    """Disable, or enable again."""
    changed = endpoints.change(row, is_enabled=not row.is_enabled, by=request.user)
    messages.success(request, f"The webhook is {'enabled' if changed.is_enabled else 'disabled'}.")


@_action
def rotate(request: AuthenticatedRequest, row: Webhook) -> None:
    """Make another secret; the next page shows it once."""
    changed = endpoints.rotate_secret(row, by=request.user)
    request.session[ONCE] = {"webhook": changed.pk, "secret": changed.secret}


@_action
def remove(request: AuthenticatedRequest, row: Webhook) -> HttpResponse:
    """Delete the webhook with its log."""
    slug = row.experiment.slug
    endpoints.remove(row, by=request.user)
    messages.success(request, "The webhook is removed.")
    return redirect("study-webhooks", slug)


@_action
def send_again(request: AuthenticatedRequest, row: Webhook, delivery: int) -> None:
    """Repeat one delivery."""
    endpoints.repeat(get_object_or_404(row.deliveries, pk=delivery), by=request.user)
    messages.success(request, "It is on its way again.")


def _sentence(error: BadInput) -> str:
    return str(capfirst(f"{error.message} {error.remedy}".strip()))
