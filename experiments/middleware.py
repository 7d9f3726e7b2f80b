"""Middleware of researchers' pages."""

from collections.abc import Callable
from zoneinfo import ZoneInfo

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import timezone

from experiments.accounts import TIME_ZONE, browser_time_zone, time_zone_names
from experiments.login_sessions import note_use

DATA = "/api/"  # answers with UTC whoever asks


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
