"""Browser token: detects a participant who takes part twice, without fingerprinting or tracking.

A random token is stored in a cookie at consent, sent to ``/take/`` only. Each study stores its own salted
hash of the token, so studies cannot be joined over it and the token cannot be recovered.
"""

import secrets

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import salted_hmac

from experiments.models import Experiment

COOKIE, A_YEAR_S = "device", 365 * 24 * 3600
HASH_LENGTH, MAX_TOKEN_LENGTH = 32, 100


def device_token(request: HttpRequest) -> str:
    """The browser's token, or a new one."""
    token = request.COOKIES.get(COOKIE, "")
    return token if token.isascii() and 0 < len(token) <= MAX_TOKEN_LENGTH else secrets.token_urlsafe(18)


def hash_device(experiment: Experiment, token: str) -> str:
    """The study's salted hash of a token (128 bits)."""
    return salted_hmac(f"device:{experiment.pk}", token, algorithm="sha256").hexdigest()[:HASH_LENGTH]


def set_device_cookie(response: HttpResponse, token: str) -> HttpResponse:
    """Set the cookie with the token."""
    response.set_cookie(
        COOKIE,
        token,
        max_age=A_YEAR_S,
        path="/take/",
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )
    return response
