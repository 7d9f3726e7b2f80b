"""Middleware that gives each request an id, counts responses and logs slow ones by their view."""

import re
import secrets
from collections.abc import Callable
from time import perf_counter

import structlog
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from config.http.request_id import REQUEST_ID
from experiments.operation.counters import count_saved, counters

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
        return response
