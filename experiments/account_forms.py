"""The login form, in the words of these pages."""

from typing import Any

from allauth.account import forms


class LoginForm(forms.LoginForm):
    """Name or address, password, and whether to stay."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["login"].label = "User name or e-mail"
        self.fields["remember"].label = "Keep me logged in on this device"
        for name in ("login", "password"):
            self.fields[name].widget.attrs.pop("placeholder", None)
