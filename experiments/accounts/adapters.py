"""Accounts: sign-up, login and second-factor forms, and time zones."""

import functools
from collections.abc import Mapping
from typing import Any, ClassVar
from zoneinfo import available_timezones

import structlog
from allauth.account import forms
from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.models import EmailAddress
from allauth.account.stages import EmailVerificationStage
from allauth.core import context
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.core.internal.cryptokit import normalize_user_code
from allauth.core.ratelimit import respond_429
from allauth.mfa import app_settings as mfa_settings
from allauth.mfa.adapter import DefaultMFAAdapter, get_adapter
from allauth.mfa.base import forms as mfa_forms
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.forms import ActivateTOTPForm
from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import MinimumLengthValidator
from django.contrib.auth.signals import user_logged_in
from django.core.cache import cache
from django.core.exceptions import ImproperlyConfigured, PermissionDenied, ValidationError
from django.dispatch import receiver
from django.forms import Field
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from experiments.accounts.history import record, revoke_tokens
from experiments.accounts.login_sessions import describe, end_sessions
from experiments.encryption import SECOND_FACTOR, decrypt_text, encrypt_text
from experiments.models import ApiToken, Preferences
from experiments.teams.invitations import find_invitation

log = structlog.get_logger(__name__)
INVITATION = "invitation"  # key in the login session: the token of an opened invitation
#: Messages without which the visitor cannot go on; others only tell of a change that is made already.
NEEDED_MESSAGES = ("/password_reset_key", "/email_confirmation", "/email_confirmation_signup")
CODE_VALID_S = (2 * mfa_settings.TOTP_TOLERANCE + 1) * mfa_settings.TOTP_PERIOD
CODE_LABEL = "Six digits of the app, or a recovery code"
TIME_ZONE = "time_zone"  # key in the login session, and name of the cookie that a page's script sets


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]  # allauth has no stubs
    """Sign-up is closed by default; an administrator makes accounts."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Whether anybody may create an account, or this visitor with an invitation."""
        return settings.OPEN_SIGNUP or find_invitation(request.session.get(INVITATION, "")) is not None

    def get_login_stages(self) -> list[str]:
        """Return the stages of a login after the password."""
        ours = {"allauth.account.stages.EmailVerificationStage": f"{__name__}.ConfirmedAddressStage"}
        return [ours.get(stage, stage) for stage in super().get_login_stages()]

    def get_reauthentication_methods(self, user: User) -> list[dict[str, Any]]:
        """Ways to prove again who it is, in our words."""
        words = {
            "reauthenticate": "type the password",
            "mfa_reauthenticate": "type a code",
            "mfa_reauthenticate:webauthn": "use a passkey",
        }
        methods: list[dict[str, Any]] = super().get_reauthentication_methods(user)
        return [{**method, "description": words[method["id"]]} for method in methods]

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
        try:
            super().send_mail(template_prefix, email, context)
        except OSError as error:  # of smtplib as well: refused, or no answer
            log.warning("message not sent", kind=template_prefix, reason=type(error).__name__)
            if template_prefix.endswith(NEEDED_MESSAGES):
                page = render(self.request, "account/mail_failed.html", status=503)
                raise ImmediateHttpResponse(page) from error


def sends_mail() -> bool:
    """Whether messages leave this machine; the default of the setting writes them to the server's output."""
    return not settings.EMAIL_BACKEND.endswith(("console.EmailBackend", "dummy.EmailBackend"))


class ConfirmedAddressStage(EmailVerificationStage):  # type: ignore[misc]  # allauth has no stubs
    """Asks at the login for a confirmed address, where mail leaves and the account has an address.

    An address that an administrator gave the account is trusted, as is the account itself; it is the one
    without a row of its own, which sign-up and the page of addresses create.
    """

    def handle(self) -> tuple[HttpResponse | None, bool]:
        """Go on, or send the message and show where to look for it."""
        user = self.login.user
        if user is not None and not EmailAddress.objects.filter(user=user).exists():
            if not user.email:
                return None, True
            address = EmailAddress(user=user, email=user.email.lower(), primary=True)
            address.verified = address.can_set_verified()
            address.save()
        step: tuple[HttpResponse | None, bool] = super().handle()
        return step


class SecondFactorAdapter(DefaultMFAAdapter):  # type: ignore[misc]  # allauth has no stubs
    """Stores the secrets of second factors encrypted."""

    def encrypt(self, text: str) -> str:
        """Encrypt for the database."""
        return encrypt_text(text, purpose=SECOND_FACTOR)

    def decrypt(self, encrypted_text: str) -> str:
        """Decrypt; a secret from before the encryption is returned as it is."""
        return decrypt_text(encrypted_text, purpose=SECOND_FACTOR)

    def generate_authenticator_name(self, user: User, type: Authenticator.Type) -> str:
        """Name of a new passkey, which its owner may change."""
        return f"Passkey {Authenticator.objects.filter(user=user, type=type).count() + 1}"


class PasswordLength(MinimumLengthValidator):
    """Least length of passwords; one changed anywhere ends the user's API tokens and other logins."""

    def password_changed(self, password: str, user: User) -> None:
        """Revoke the tokens. Django calls this after a change, but not when it only rehashes."""
        n_tokens = revoke_tokens(ApiToken.objects.filter(user=user), action="token ended by a new password")
        # The session in which it is changed goes on; elsewhere the user has to log in again.
        n_logins = end_sessions(user, keep=context.request.session.session_key if context.request else None)
        record(user, "password changed", tokens_ended=n_tokens, other_logins_ended=n_logins)


class _Labelled:
    """A form with our labels, which placeholders would only repeat."""

    labels: ClassVar[Mapping[str, str]] = {}
    fields: dict[str, Field]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, field in self.fields.items():
            field.label = self.labels.get(name, field.label)
            field.widget.attrs.pop("placeholder", None)


class LoginForm(_Labelled, forms.LoginForm):  # type: ignore[misc]  # allauth has no stubs
    """User name or e-mail address, password, and whether to stay logged in."""

    labels = {"login": "User name or e-mail", "remember": "Keep me logged in on this device"}


class SignupForm(_Labelled, forms.SignupForm):  # type: ignore[misc]  # allauth has no stubs
    """User name, e-mail address and password of a new account."""

    labels = {
        "username": "User name",
        "email": "E-mail address",
        "password1": "Password",
        "password2": "Password again",
    }


class AddressForm(_Labelled, forms.AddEmailForm):  # type: ignore[misc]  # allauth has no stubs
    """Another address."""

    labels = {"email": "E-mail address"}


class NewPasswordForm(_Labelled, forms.ChangePasswordForm):  # type: ignore[misc]  # allauth has no stubs
    """A new password instead of the current one."""

    labels = {
        "oldpassword": "Current password",
        "password1": "New password",
        "password2": "New password again",
    }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["oldpassword"].help_text = ""  # the link for a forgotten one is below the form


class ForgottenPasswordForm(_Labelled, forms.ResetPasswordKeyForm):  # type: ignore[misc]  # allauth has no stubs
    """A new password, by the link of a message."""

    labels = {"password1": "New password", "password2": "New password again"}


class _EachCodeOnce:
    """Refuses a code of the app that was used before.

    allauth forgets used codes after one period of 30 seconds, but accepts a code for ``MFA_TOTP_TOLERANCE``
    periods before and after its own.
    """

    user: User

    def clean_code(self) -> str:
        """Check the code, then mark it as used for as long as it is valid."""
        code: str = super().clean_code()  # type: ignore[misc]  # of the forms of allauth
        key = f"second-factor-used-{self.user.pk}-{normalize_user_code(code)}"
        if not cache.add(key, True, timeout=CODE_VALID_S):
            raise get_adapter().validation_error("incorrect_code")
        return code


class SecondFactorForm(_Labelled, _EachCodeOnce, mfa_forms.AuthenticateForm):  # type: ignore[misc]  # allauth has no stubs
    """At the login."""

    labels = {"code": CODE_LABEL}


class SecondFactorAgainForm(_Labelled, _EachCodeOnce, mfa_forms.ReauthenticateForm):  # type: ignore[misc]  # allauth has no stubs
    """Asked again before a change that affects the account's protection."""

    labels = {"code": CODE_LABEL}


class TurnOnForm(_Labelled, _EachCodeOnce, ActivateTOTPForm):  # type: ignore[misc]  # allauth has no stubs
    """The first code of a newly configured app."""

    labels = {"code": "Six digits of the app"}


@functools.cache
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


@receiver(user_logged_in, dispatch_uid="description_of_login")
def _describe_login(request: HttpRequest, **_: Any) -> None:
    """Store when and in which browser a login began."""
    describe(request.session, request.META.get("HTTP_USER_AGENT", ""))
