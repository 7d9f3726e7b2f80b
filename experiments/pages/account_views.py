"""A researcher's own page: token for the API, password, second factor, studies."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST
from rest_framework.authtoken.models import Token

from experiments.models import Membership

ONCE = "new_api_token"


@login_required
def account(request: HttpRequest) -> HttpResponse:
    """Token, password, second factor, studies; a new token is shown this once."""
    context = {
        "section": "account",
        "token": Token.objects.filter(user=request.user).first(),
        "fresh_token": request.session.pop(ONCE, ""),
        "has_second_factor": request.user.authenticator_set.exists(),
        "memberships": Membership.objects.filter(user=request.user).select_related("experiment"),
    }
    response = render(request, "experiments/account.html", context)
    response["Cache-Control"] = "no-store"
    return response


@login_required
@require_POST
def token(request: HttpRequest) -> HttpResponse:
    """Make a token, replacing the old one, or withdraw it."""
    with transaction.atomic():
        Token.objects.filter(user=request.user).delete()
        if request.POST.get("action") == "withdraw":
            messages.success(request, "The token no longer opens anything.")
        else:
            request.session[ONCE] = Token.objects.create(user=request.user).key
    return redirect("account")
