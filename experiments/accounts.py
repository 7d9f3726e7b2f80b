"""Accounts: sign-up is closed unless ``OPEN_SIGNUP`` is set or somebody is invited; login and second-factor
forms with labels; the time zone of the researchers' pages.
"""

from functools import cache
from typing import Any
from zoneinfo import available_timezones

import structlog
from allauth.account import forms
from allauth.account.adapter import DefaultAccountAdapter
from allauth.core import context
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.core.ratelimit import respond_429
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.base import forms as mfa_forms
from allauth.mfa.totp.forms import ActivateTOTPForm
from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import MinimumLengthValidator
from django.contrib.auth.signals import user_logged_in
from django.core.exceptions import ImproperlyConfigured, PermissionDenied, ValidationError
from django.dispatch import receiver
from django.forms import Field
from django.http import HttpRequest

from experiments.encryption import SECOND_FACTOR, decrypt_text, encrypt_text
from experiments.models import ApiToken, Preferences
from experiments.teams.invitations import find_invitation

log = structlog.get_logger(__name__)
INVITATION = "invitation"  # key in the login session: the token of an opened invitation
TIME_ZONE = "time_zone"  # key in the login session, and name of the cookie that a page's script sets


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]  # allauth has no stubs
    """Sign-up is closed by default; an administrator makes accounts."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Whether anybody may create an account, or this visitor with an invitation."""
        return settings.OPEN_SIGNUP or find_invitation(request.session.get(INVITATION, "")) is not None

    def get_client_ip(self, request: HttpRequest) -> str:
        """The address that limits count; nothing stores it."""
        try:
            address: str = super().get_client_ip(request)
        except (ImproperlyConfigured, PermissionDenied):
            # Fewer proxies than TRUSTED_PROXY_COUNT added their address, or none is an address.
            return request.META.get("REMOTE_ADDR") or "unknown"
        return address

    def validation_error(self, code: str, *args: Any) -> ValidationError:
        """An error of a form; a reached limit is a page of its own, with status 429."""
        if code == "too_many_login_attempts":
            raise ImmediateHttpResponse(respond_429(context.request))
        error: ValidationError = super().validation_error(code, *args)
        return error

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Send a message; where none leaves this machine, its links are not written into the log either."""
        if not sends_mail() and not settings.DEBUG:
            log.warning("message not sent, because EMAIL_BACKEND is not set", kind=template_prefix)
            return
        super().send_mail(template_prefix, email, context)


def sends_mail() -> bool:
    """Whether messages leave this machine; the default of the setting writes them to the server's output."""
    return not settings.EMAIL_BACKEND.endswith(("console.EmailBackend", "dummy.EmailBackend"))


class SecondFactorAdapter(DefaultMFAAdapter):  # type: ignore[misc]  # allauth has no stubs
    """Stores the secrets of second factors encrypted."""

    def encrypt(self, text: str) -> str:
        """Encrypt for the database."""
        return encrypt_text(text, purpose=SECOND_FACTOR)

    def decrypt(self, encrypted_text: str) -> str:
        """Decrypt; a secret from before the encryption is returned as it is."""
        return decrypt_text(encrypted_text, purpose=SECOND_FACTOR)


class PasswordLength(MinimumLengthValidator):
    """Least length of passwords; a changed password, wherever it is changed, ends the user's API tokens."""

    def password_changed(self, password: str, user: User) -> None:
        """Revoke the tokens. Django calls this after a change, but not when it only hashes anew."""
        ApiToken.objects.filter(user=user).delete()


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
