"""A short way to participants' addresses: their pages, and their session's plan and answers.

The participant is the token in the address. Login, cookies of researchers, forms' keys and messages, which
other addresses need, would cost as much here as storing an answer does.
"""

from collections.abc import Callable

from csp.constants import HEADER
from django.core.handlers.exception import convert_exception_to_response
from django.http import HttpRequest, HttpResponse
from django.urls import Resolver404, ResolverMatch, URLResolver
from django.urls.resolvers import RegexPattern

from config.content_policy import DATA_POLICY, ContentPolicy

SESSIONS, PAGES = "/api/v1/sessions/", ("/take/", "/s/")
OF_SESSIONS = URLResolver(RegexPattern(rf"^{SESSIONS}"), "judgments.api.session_urls")
OF_PAGES = URLResolver(RegexPattern(r"^/"), "judgments.screens.urls")


class ShortWay:
    """Middleware that answers these addresses itself; stands behind the one that sees to HTTPS."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response
        self.policy = ContentPolicy(get_response)

    def __call__(self, request: HttpRequest) -> HttpResponse:
        found = _found(request.path_info)
        if found is None:
            return self.get_response(request)
        request.resolver_match = found
        response = _answer(request)
        if not response.streaming:
            response.headers["Content-Length"] = str(len(response.content))
        if request.path_info.startswith(SESSIONS):
            return protected(response)
        response.headers["X-Frame-Options"] = "DENY"
        return self.policy.process_response(request, response)


def protected(response: HttpResponse) -> HttpResponse:
    """Data of a session with the headers that protect it."""
    response.headers["X-Frame-Options"] = "DENY"
    response.headers[HEADER] = DATA_POLICY
    return response


def _found(path: str) -> ResolverMatch | None:
    """The view of an address that takes the short way."""
    if path.startswith(SESSIONS):
        addresses = OF_SESSIONS
    elif path.startswith(PAGES):
        addresses = OF_PAGES
    else:
        return None
    try:
        return addresses.resolve(path)
    except Resolver404:
        return None


@convert_exception_to_response
def _answer(request: HttpRequest) -> HttpResponse:
    request.get_host()  # refuses a host that is not ours
    match = request.resolver_match
    return match.func(request, *match.args, **match.kwargs)
