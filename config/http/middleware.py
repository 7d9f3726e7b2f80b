"""Middleware: request log and id, time zone and use of logins, and the page of responses 405."""

import re
import secrets
from collections.abc import Callable
from time import perf_counter
from zoneinfo import ZoneInfo

import structlog
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils import timezone

from config.http.request_id import REQUEST_ID
from experiments.accounts.adapters import TIME_ZONE, browser_time_zone, time_zone_names
from experiments.accounts.login_sessions import note_use
from experiments.operation.counters import count_saved, counters


class MethodNotAllowedMiddleware:
    """Adds a page with a link back to responses 405 of addresses that accept POST only.

    A GET reaches these by a bookmark, or by the redirect after a login that a button required.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.method == "TRACE":  # echoes headers where a server implements it; no page needs it
            return HttpResponseNotAllowed(["GET", "POST"])
        response = self.get_response(request)
        if request.method != "GET" or not isinstance(response, HttpResponseNotAllowed) or response.content:
            return response
        study = STUDY.match(request.path)
        page = render(request, "405.html", {"back": study[0] if study else "/"}, status=405)
        page["Allow"] = response["Allow"]
        return page


STUDY = re.compile(r"/studies/[-\w]+/")


log = structlog.get_logger(__name__)
HEADER = "X-Request-ID"
USABLE_ID = re.compile(r"[\w-]{8,64}", re.ASCII)
SLOW_S = 2.0
ANSWERS = "/judgments/"  # end of the address that takes a session's answers


class RequestLogMiddleware:
    """The first middleware: its id is in every line that the request logs, and in the response."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        start = perf_counter()
        proposed = request.META.get("HTTP_X_REQUEST_ID", "")  # set by a proxy
        request_id = proposed if USABLE_ID.fullmatch(proposed) else secrets.token_hex(8)
        # Until the response is closed, because Django logs its status after this middleware.
        REQUEST_ID.set(request_id)
        response = self.get_response(request)
        seconds = perf_counter() - start
        if seconds > SLOW_S:
            match = request.resolver_match
            # The view, because some addresses hold tokens.
            log.warning("slow request", view=match.view_name if match else "", seconds=round(seconds, 3))
        counters.add((f"responses_{response.status_code // 100}xx_total", 1))
        if request.method == "POST" and request.path_info.endswith(ANSWERS) and response.status_code == 200:
            count_saved(seconds)
        response.headers[HEADER] = request_id
        # Else a shared computer would show pages and files with participants by Back after the logout.
        response.setdefault("Cache-Control", "no-store")
        return response


DATA = "/api/"  # always returns UTC


class TimeZoneMiddleware:
    """Shows times in the researcher's zone: the one chosen on the account page, else the browser's, else UTC.

    The API, downloads and stored values keep UTC.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if request.path_info.startswith(DATA):
            return self.get_response(request)
        name = request.session.get(TIME_ZONE) or browser_time_zone(request)
        with timezone.override(ZoneInfo(name) if name in time_zone_names() else None):
            return self.get_response(request)


class LoginUseMiddleware:
    """Stores once a day that a login is in use, for the list of sessions on the account's page."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if not request.path_info.startswith(DATA):
            note_use(request.session)
        return self.get_response(request)
