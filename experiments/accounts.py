"""Who may make an account: nobody without an invitation, unless OPEN_SIGNUP says so."""

from allauth.account.adapter import DefaultAccountAdapter
from django.conf import settings
from django.http import HttpRequest


class AccountAdapter(DefaultAccountAdapter):
    """Sign-up is closed by default; an administrator makes accounts."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Whether strangers may make accounts."""
        return settings.OPEN_SIGNUP
