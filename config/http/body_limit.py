"""Limit the size of request bodies: large ones only to pages that take files, from logged-in users.

A body is read while a view runs, in a thread of the web server; Django's own limits leave out files. Proxies
buffer bodies of up to ``MAX_BODY_BYTES`` whole (docker/proxy), so that slow clients hold no thread. Larger
ones hold one while they are sent, so a process reads ``LARGE_AT_ONCE`` at once and keeps threads for others.
"""

from collections.abc import Callable
from threading import BoundedSemaphore
from typing import Any, TypeVar

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import Resolver404, resolve

MAX_BODY_BYTES = 4_000_000
LARGE_AT_ONCE = 2  # a quarter of the threads of a process (config.serve)
RETRY_AFTER_S = 30
API = "/api/"
View = TypeVar("View", bound=Callable[..., Any])


def takes_large_files(view: View) -> View:
    """Mark a page or an API class whose files may be larger than ``MAX_BODY_BYTES``."""
    view.takes_large_files = True  # type: ignore[attr-defined]
    return view


def is_marked(view: Any) -> bool:
    """Whether a resolved view takes large files."""
    return getattr(getattr(view, "cls", view), "takes_large_files", False)  # the class, of a view of the API


class BodyLimitMiddleware:
    """Refuses large bodies without reading them; placed before all middleware that reads forms."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response
        self.places = BoundedSemaphore(LARGE_AT_ONCE)

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if not _is_large(request):
            return self.get_response(request)
        if not _takes_large_files(request.path_info):
            message = f"Send at most {MAX_BODY_BYTES:,} bytes at once."
            if request.path_info.startswith(API):
                return JsonResponse({"code": "too_large", "message": message}, status=413)
            raise RequestDataTooBig(message)
        try:
            return self.get_response(request)
        finally:
            if getattr(request, "has_place", False):
                self.places.release()

    def process_view(
        self, request: HttpRequest, view: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> HttpResponseBase | None:
        """Send strangers to the login before the check for CSRF reads the body, files included."""
        if not _is_large(request):
            return None
        # Views of the API authenticate before they read.
        if not (hasattr(view, "cls") or request.user.is_authenticated):
            return redirect_to_login(request.get_full_path())
        request.has_place = self.places.acquire(blocking=False)  # type: ignore[attr-defined]
        return None if request.has_place else _busy(request)  # type: ignore[attr-defined]


def _busy(request: HttpRequest) -> HttpResponse:
    """Ask to send the file later; nothing of it was read."""
    message = "This server receives other large files now. Nothing was stored. Send yours again in a minute."
    response: HttpResponse = (
        JsonResponse({"code": "busy", "message": message}, status=429)
        if request.path_info.startswith(API)
        else render(request, "429.html", {"message": message}, status=429)
    )
    response["Retry-After"] = str(RETRY_AFTER_S)
    return response


def _is_large(request: HttpRequest) -> bool:
    length = request.META.get("CONTENT_LENGTH") or "0"  # without it Django reads nothing
    return length.isdigit() and int(length) > MAX_BODY_BYTES


def _takes_large_files(path: str) -> bool:
    try:
        return is_marked(resolve(path).func)
    except Resolver404:
        return False
