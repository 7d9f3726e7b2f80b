"""Accounts: sign-up is closed unless ``OPEN_SIGNUP`` is set; login and second-factor forms with labels; the
time zone of the researchers' pages.
"""

from functools import cache
from typing import Any
from zoneinfo import available_timezones

from allauth.account import forms
from allauth.account.adapter import DefaultAccountAdapter
from allauth.mfa.base import forms as mfa_forms
from allauth.mfa.totp.forms import ActivateTOTPForm
from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_in
from django.dispatch import receiver
from django.forms import Field
from django.http import HttpRequest

from experiments.models import Preferences

TIME_ZONE = "time_zone"  # key in the login session, and name of the cookie that a page's script sets


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]  # allauth has no stubs
    """Sign-up is closed by default; an administrator makes accounts."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Whether anybody may create an account."""
        return settings.OPEN_SIGNUP


class LoginForm(forms.LoginForm):  # type: ignore[misc]  # allauth has no stubs
    """User name or e-mail address, password, and whether to stay logged in."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["login"].label = "User name or e-mail"
        self.fields["remember"].label = "Keep me logged in on this device"
        for name in ("login", "password"):
            self.fields[name].widget.attrs.pop("placeholder", None)


class _LabelledCode:
    """A field for a code of the authenticator app or a recovery code, with our label."""

    code_label = "Six digits of the app, or a recovery code"
    fields: dict[str, Field]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["code"].label = self.code_label
        self.fields["code"].widget.attrs.pop("placeholder", None)


class SecondFactorForm(_LabelledCode, mfa_forms.AuthenticateForm):  # type: ignore[misc]  # allauth has no stubs
    """At the login."""


class SecondFactorAgainForm(_LabelledCode, mfa_forms.ReauthenticateForm):  # type: ignore[misc]  # allauth has no stubs
    """Asked again before a change that affects the account's protection."""


class TurnOnForm(_LabelledCode, ActivateTOTPForm):  # type: ignore[misc]  # allauth has no stubs
    """The first code of a newly configured app."""

    code_label = "Six digits of the app"


@cache
def time_zone_names() -> frozenset[str]:
    """Return the names of the time zone database, apart from administrative ones."""
    hidden = ("Etc/", "SystemV/", "posix", "right/")
    return frozenset(
        name
        for name in available_timezones()
        if name == "UTC" or ("/" in name and not name.startswith(hidden))
    )


def browser_time_zone(request: HttpRequest) -> str:
    """Return the time zone that the browser says; empty where it says none, or an unknown one."""
    name = request.COOKIES.get(TIME_ZONE, "")
    return name if name in time_zone_names() else ""


def choose_time_zone(request: HttpRequest, user: User, name: str) -> None:
    """Store the time zone of a user; empty for the browser's."""
    Preferences.objects.update_or_create(user=user, defaults={"time_zone": name})
    request.session[TIME_ZONE] = name


@receiver(user_logged_in, dispatch_uid="time_zone_of_login")
def _remember_time_zone(request: HttpRequest, user: User, **_: Any) -> None:
    """Copy the preference into the login session, so that no page has to ask the database."""
    stored = Preferences.objects.filter(user=user).values_list("time_zone", flat=True).first()
    if stored:
        request.session[TIME_ZONE] = stored
