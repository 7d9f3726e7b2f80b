"""The forms of login and second factor, in the words of these pages."""

from typing import Any

from allauth.account import forms
from allauth.mfa.base import forms as mfa_forms
from allauth.mfa.totp.forms import ActivateTOTPForm


class LoginForm(forms.LoginForm):
    """Name or address, password, and whether to stay."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["login"].label = "User name or e-mail"
        self.fields["remember"].label = "Keep me logged in on this device"
        for name in ("login", "password"):
            self.fields[name].widget.attrs.pop("placeholder", None)


class _InOurWords:
    """A code of the app or a recovery code, asked for in the words of these pages."""

    asked = "Six digits of the app, or a recovery code"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["code"].label = self.asked
        self.fields["code"].widget.attrs.pop("placeholder", None)


class SecondFactorForm(_InOurWords, mfa_forms.AuthenticateForm):
    """At the login."""


class SecondFactorAgainForm(_InOurWords, mfa_forms.ReauthenticateForm):
    """Before something that protects the account is changed."""


class TurnOnForm(_InOurWords, ActivateTOTPForm):
    """The first digits of a newly set up app."""

    asked = "Six digits of the app"
