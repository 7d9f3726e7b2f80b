"""A researcher's own page: token for the API, password, second factor, logins, time zone, studies."""

import secrets
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from allauth.mfa.models import Authenticator
from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST

from analysis.text import plural
from experiments.accounts.adapters import TIME_ZONE, browser_time_zone, choose_time_zone, time_zone_names
from experiments.accounts.history import record, record_token_made, revoke_tokens
from experiments.accounts.login_sessions import end_sessions, live_sessions, public_id
from experiments.models import ApiToken, LabMembership, Membership
from experiments.models.access import token_digest
from experiments.pages.access import AuthenticatedRequest

ONCE = "new_api_token"
SHOWN_ENTRIES = 10


@login_required
def account(request: AuthenticatedRequest) -> HttpResponse:
    """Token, password, second factor, studies; a new token is shown this once."""
    context = {
        "section": "account",
        "tokens": ApiToken.objects.filter(user=request.user),
        "token_form": TokenForm(),
        "now": timezone.now(),
        "fresh_token": request.session.pop(ONCE, ""),
        "has_second_factor": Authenticator.objects.filter(user=request.user).exists(),
        "sessions": [
            {"row": row, "id": public_id(row), "is_this": row.session_key == request.session.session_key}
            for row in live_sessions(request.user)
        ],
        "time_zone": request.session.get(TIME_ZONE, ""),
        "browser_time_zone": browser_time_zone(request),
        "time_zones": sorted(time_zone_names()),
        "memberships": Membership.objects.filter(user=request.user).select_related("experiment"),
        "entries": request.user.audit.select_related("user")[:SHOWN_ENTRIES],
        "lab_memberships": LabMembership.objects.filter(user=request.user).select_related("lab"),
    }
    response = render(request, "experiments/account.html", context)
    response["Cache-Control"] = "no-store"
    return response


class TokenForm(forms.Form):
    """A new token: its name, what it may do and for how long."""

    name = forms.CharField(max_length=60, initial="API token", help_text="Such as the program that uses it.")
    scopes = forms.MultipleChoiceField(
        label="It may",
        choices=ApiToken.Scope.choices,
        initial=[ApiToken.Scope.READ, ApiToken.Scope.WRITE, ApiToken.Scope.PEOPLE],
        widget=forms.CheckboxSelectMultiple,
    )
    days = forms.TypedChoiceField(
        label="Valid for",
        choices=[(30, "30 days"), (90, "90 days"), (365, "a year")],
        initial=90,
        coerce=int,
    )


@login_required
@require_POST
def token(request: AuthenticatedRequest) -> HttpResponse:
    """Make a token, replacing one of the same name, or withdraw one or all."""
    own = ApiToken.objects.filter(user=request.user)
    if request.POST.get("action") == "withdraw":
        number = request.POST.get("token", "")
        revoke_tokens(own.filter(pk=number) if number.isdecimal() and len(number) < 19 else own)
        messages.success(request, "The token no longer opens anything.")
        return redirect("account")
    defaults = {"name": "API token", "days": "90", "scopes": ["read", "write", "people"]}
    sent = request.POST if "name" in request.POST else defaults  # a form of before had no fields
    form = TokenForm(sent)
    if not form.is_valid():
        for field, errors in form.errors.items():
            messages.error(request, f"{form.fields[field].label or field.capitalize()}: {errors[0]}")
        return redirect("account")
    request.session[ONCE] = make_token(request.user, **form.cleaned_data)
    return redirect("account")


@transaction.atomic
def make_token(user: User, *, name: str, scopes: Sequence[str], days: int) -> str:
    """Store the hash of a new token and return the token, which is not stored."""
    key = secrets.token_hex(20)
    revoke_tokens(ApiToken.objects.filter(user=user, name=name), action="token replaced")
    token = ApiToken.objects.create(
        user=user,
        name=name,
        digest=token_digest(key),
        hint=key[-4:],
        scopes=list(scopes),
        expires_at=timezone.now() + timedelta(days=days),
    )
    record_token_made(token)
    return key


@login_required
@require_POST
def sessions(request: AuthenticatedRequest) -> HttpResponse:
    """End one login of the user, or all but the one that asks."""
    own_key = request.session.session_key
    if wanted := request.POST.get("session", ""):
        rows = live_sessions(request.user).exclude(session_key=own_key)
        for row in rows:
            if public_id(row) == wanted:
                row.delete()
                record(request.user, "login ended", browser=row.browser, began_at=_minute(row.began_at))
                messages.success(request, f"The login in {row.browser or 'that browser'} is ended.")
        return redirect("account")
    n_ended = end_sessions(request.user, keep=own_key)
    record(request.user, "logged out everywhere else", logins_ended=n_ended)
    messages.success(
        request,
        f"{plural(n_ended, 'other login')} ended: this browser alone is logged in."
        if n_ended
        else "There was no other login.",
    )
    return redirect("account")


def _minute(at: datetime | None) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC") if at else ""


@login_required
@require_POST
def time_zone(request: AuthenticatedRequest) -> HttpResponse:
    """Store the time zone of the researcher's pages; empty for the browser's."""
    name = request.POST.get("time_zone", "")
    if name and name not in time_zone_names():
        messages.error(request, f"There is no time zone {name[:64]!r}.")
    else:
        choose_time_zone(request, request.user, name)
        messages.success(
            request, f"Times are shown in {name}." if name else "Times are shown as this browser says."
        )
    return redirect("account")
