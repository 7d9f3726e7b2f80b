"""Logins of other services (OpenID Connect)."""

from collections.abc import Callable
from typing import Any

import structlog
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialLogin
from allauth.socialaccount.providers.openid_connect import views
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from requests import RequestException

log = structlog.get_logger(__name__)
NAMES = ("name", "given_name", "family_name", "preferred_username")


class OtherLoginAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]  # allauth has no stubs
    """A login of another service opens the account that it was connected with, never one by its address."""

    def is_open_for_signup(self, request: HttpRequest, sociallogin: SocialLogin) -> bool:
        """Whether a login that is connected with no account makes one."""
        return settings.OIDC_SIGNUP or settings.OPEN_SIGNUP

    def can_authenticate_by_email(self, login: SocialLogin, email: str) -> bool:
        """Never: who may name an address there would take over the account that has it here."""
        return False

    def populate_user(self, request: HttpRequest, sociallogin: SocialLogin, data: dict[str, Any]) -> Any:
        """Fill in a new account; of what the service says, the id and the name are stored."""
        user = super().populate_user(request, sociallogin, data)
        claims = sociallogin.account.extra_data
        claims = claims.get("userinfo") or claims.get("id_token") or {}
        sociallogin.account.extra_data = {
            "userinfo": {key: claims[key] for key in ("sub", *NAMES) if key in claims}
        }
        return user


def leave(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Go to the other service, over a page of ours.

    The content policy lets forms lead to this site only, and browsers apply it to redirects of a form too.
    """
    response = _call_provider(views.login, request, provider_id)
    if response.status_code != 302 or response["Location"].startswith("/"):
        return response
    page = render(request, "socialaccount/leave.html", {"address": response["Location"]})
    page["Cache-Control"] = "no-store"
    return page


def come_back(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Come back from the other service, logged in or with what it says instead."""
    return _call_provider(views.callback, request, provider_id)


def _call_provider(view: Callable[..., HttpResponse], request: HttpRequest, provider_id: str) -> HttpResponse:
    """The response of a view that asks the other service; a page where it does not answer."""
    try:
        return view(request, provider_id)
    except RequestException as error:
        log.warning("other login does not answer", service=provider_id, reason=type(error).__name__)
        return render(request, "socialaccount/authentication_error.html", status=503)
