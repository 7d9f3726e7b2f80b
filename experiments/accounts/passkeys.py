"""The form of a new passkey, apart from the other forms: its library takes a tenth of a second to load."""

from typing import Any

from allauth.mfa.webauthn.forms import AddWebAuthnForm


class PasskeyForm(AddWebAuthnForm):  # type: ignore[misc]  # allauth has no stubs
    """A new passkey: its name, and whether it replaces the password."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["name"].help_text = "Such as the device, or the password manager that stores it."
        self.fields["passwordless"].label = "It logs in by itself, without the password"
        self.fields["passwordless"].initial = True
        self.fields["passwordless"].help_text = "Older keys cannot: they are asked for after the password."
