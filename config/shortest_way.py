"""The shortest way of all, for what the server does most: the next answer of a running session comes in.

It is stored and acknowledged before a request object, middleware and signals, which together would cost what
storing it costs. Whatever is not just that (another address or host, several answers, one that is not the
next, a database that does not answer) goes the usual way, with the same body, as if nothing had been tried;
the acknowledgement is the one that the usual way gives, header by header.
"""

import json
import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from io import BytesIO
from typing import Any

from django.core.exceptions import DisallowedHost
from django.core.handlers.wsgi import WSGIRequest, get_script_name
from django.db import connection
from django.http import JsonResponse
from django.middleware.security import SecurityMiddleware

from config.short_way import SESSIONS, protected
from judgments.api.session_views import MOST_BYTES, stored_next

Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]
Headers = tuple[tuple[str, str], ...]
ADDRESS = re.compile(rf"{SESSIONS}([-\w]{{1,64}})/judgments/", re.ASCII)
WHENCE = (
    "HTTP_HOST",
    "SERVER_NAME",
    "SERVER_PORT",
    "SCRIPT_NAME",
    "wsgi.url_scheme",
    "HTTP_X_FORWARDED_PROTO",
    "HTTP_X_FORWARDED_HOST",
)


class ShortestWay:
    """Stands before the application."""

    def __init__(self, application: Application) -> None:
        self.application = application

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        found = ADDRESS.fullmatch(environ["PATH_INFO"]) if environ["REQUEST_METHOD"] == "POST" else None
        headers = usual_headers(*map(environ.get, WHENCE)) if found else None
        told = _stored(found[1], environ) if found and headers else None
        if told is None or headers is None:
            return self.application(environ, start_response)
        start_response("200 OK", [*headers, ("Content-Length", str(len(told)))])
        return [told]


def _stored(token: str, environ: dict[str, Any]) -> bytes | None:
    """The acknowledgement of an answer stored just now; None leaves the request as it came."""
    length = environ.get("CONTENT_LENGTH") or ""
    if not length.isdecimal() or int(length) > MOST_BYTES:
        return None
    body = environ["wsgi.input"].read(int(length))
    environ["wsgi.input"] = BytesIO(body)
    try:
        told = stored_next(token, body)
    except Exception:  # the usual way meets it as well, and sees to it
        return None
    finally:
        connection.close_if_unusable_or_obsolete()
    return None if told is None else json.dumps(told).encode()


@lru_cache(maxsize=256)
def usual_headers(*whence: str | None) -> Headers | None:
    """What an acknowledgement carries but its length; None for what is refused here or sent elsewhere."""
    said = {name: value for name, value in zip(WHENCE, whence, strict=True) if value is not None}
    request = WSGIRequest({"REQUEST_METHOD": "POST", "PATH_INFO": SESSIONS, "wsgi.input": BytesIO(), **said})
    response = JsonResponse({})
    response["Cache-Control"] = "no-store"
    security = SecurityMiddleware(lambda _: protected(response))
    try:
        request.get_host()
    except DisallowedHost:
        return None
    if get_script_name(request.environ):
        return None  # addresses begin with it
    given = security(request)
    return tuple(given.items()) if given is response else None
