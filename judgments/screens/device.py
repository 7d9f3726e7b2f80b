"""One random token in a browser, so that one person twice can be noticed: no fingerprint, no tracking.

The token is drawn when somebody consents and lies in a cookie that only arrivals are sent. A study keeps
a salted hash of it, another one in every study, so that studies cannot be joined over it and nobody
can tell the token from what is stored.
"""

import secrets

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import salted_hmac

from experiments.models import Experiment

COOKIE, A_YEAR_S = "device", 365 * 24 * 3600
LENGTH, LONGEST = 32, 100


def device_token(request: HttpRequest) -> str:
    """The browser's token, or a new one."""
    known = request.COOKIES.get(COOKIE, "")
    return known if known.isascii() and 0 < len(known) <= LONGEST else secrets.token_urlsafe(18)


def device_of(experiment: Experiment, token: str) -> str:
    """What a study may know of a token: 128 bits that say nothing elsewhere."""
    return salted_hmac(f"device:{experiment.pk}", token, algorithm="sha256").hexdigest()[:LENGTH]


def mark_device(response: HttpResponse, token: str) -> HttpResponse:
    """Leave the token in the browser."""
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
