"""A researcher's own page: token for the API, password, second factor, time zone, studies."""

from allauth.mfa.models import Authenticator
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST
from rest_framework.authtoken.models import Token

from experiments.accounts import TIME_ZONE, browser_time_zone, choose_time_zone, time_zone_names
from experiments.models import Membership
from experiments.pages.access import AuthenticatedRequest

ONCE = "new_api_token"


@login_required
def account(request: AuthenticatedRequest) -> HttpResponse:
    """Token, password, second factor, studies; a new token is shown this once."""
    context = {
        "section": "account",
        "token": Token.objects.filter(user=request.user).first(),
        "fresh_token": request.session.pop(ONCE, ""),
        "has_second_factor": Authenticator.objects.filter(user=request.user).exists(),
        "time_zone": request.session.get(TIME_ZONE, ""),
        "browser_time_zone": browser_time_zone(request),
        "time_zones": sorted(time_zone_names()),
        "memberships": Membership.objects.filter(user=request.user).select_related("experiment"),
    }
    response = render(request, "experiments/account.html", context)
    response["Cache-Control"] = "no-store"
    return response


@login_required
@require_POST
def token(request: AuthenticatedRequest) -> HttpResponse:
    """Make a token, replacing the old one, or withdraw it."""
    with transaction.atomic():
        Token.objects.filter(user=request.user).delete()
        if request.POST.get("action") == "withdraw":
            messages.success(request, "The token no longer opens anything.")
        else:
            request.session[ONCE] = Token.objects.create(user=request.user).key
    return redirect("account")


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
