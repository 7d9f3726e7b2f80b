"""Error responses: localized pages for participants, JSON for API clients, and a retry after 503."""

import errno
import sys
from typing import Any

from django.db import DataError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.request import RawPostDataException
from django.shortcuts import render
from django.utils.translation import get_language_from_request

from analysis.plugins.registry import PluginFailure
from config.http.unavailable import is_of_a_store, is_unavailable
from experiments.pages import errors
from experiments.studies.languages import interface_language
from judgments.screens import shared_pages as screens

PARTICIPANTS = ("/take/", "/s/")


def is_participants(request: HttpRequest) -> bool:
    """Whether the address belongs to participants' pages."""
    return request.path.startswith(PARTICIPANTS)


def participant_page(request: HttpRequest, template: str, *, status: int, **context: Any) -> HttpResponse:
    """Render an error page in the language of the browser, with the contact of the study where it is known.

    The database is not queried while it is unavailable: each query would wait for a connection.
    """
    language = interface_language(get_language_from_request(request))
    context |= screens.study_contact(request, may_query=status != 503)
    return screens.page(request, template, language=language, status=status, **context)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Response 400: the request is too large or malformed, and nothing was stored."""
    if request.path.startswith(errors.API):
        message = "The request cannot be read, or is too large."
        return JsonResponse({"code": "bad_request", "message": message}, status=400)
    if is_participants(request):
        return participant_page(request, "bad_request", status=400, address=request.path)
    return render(request, "400.html", status=400)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Response 404; the same for missing pages and those without permission."""
    return screens.not_found(request) if is_participants(request) else errors.not_found(request, exception)


RETRY_AFTER_S = 5
MAX_FIELDS = 200


def server_error(request: HttpRequest) -> HttpResponse:
    """Response 503 without database or storage, or after a plugin failed; 507: disk full; 400; else 500."""
    error = sys.exc_info()[1]
    if isinstance(error, PluginFailure):
        return _plugin_failed(request, error)
    if isinstance(error, DataError):  # for example a NUL character, which PostgreSQL does not store
        return bad_request(request, error)
    if isinstance(error, OSError) and error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return _disk_full(request)
    if is_unavailable(error):
        missing = "database"
    elif is_of_a_store(error):
        missing = "shared storage"
    else:
        return _internal_error(request)
    response = _unavailable(request, missing)
    response["Retry-After"] = str(RETRY_AFTER_S)
    response["Cache-Control"] = "no-store"
    return response


def _disk_full(request: HttpRequest) -> HttpResponse:
    """Response 507: a large upload, for example, is stored in a temporary file while it is received."""
    if request.path.startswith(errors.API):
        message = "The disk of the server is full; nothing was stored."
        return JsonResponse({"code": "disk_full", "message": message}, status=507)
    if is_participants(request):
        return participant_page(request, "unavailable", status=507, retry=_retry_form(request))
    return render(request, "507.html", status=507)


def _plugin_failed(request: HttpRequest, failure: PluginFailure) -> HttpResponse:
    """Response 503: researchers see which package failed, participants keep their place and try again."""
    if not is_participants(request):
        return errors.plugin_failed(request, failure)
    return participant_page(request, "unavailable", status=503, retry=_retry_form(request))


def _internal_error(request: HttpRequest) -> HttpResponse:
    """Response 500; participants can send the request again."""
    if not is_participants(request):
        return errors.broken(request)
    return participant_page(request, "unavailable", status=500, retry=_retry_form(request))


def _unavailable(request: HttpRequest, missing: str) -> HttpResponse:
    if request.path.startswith(errors.API):
        message = f"The {missing} does not answer; send it again."
        return JsonResponse({"code": "try_again", "message": message}, status=503)
    if is_participants(request):
        return participant_page(request, "unavailable", status=503, retry=_retry_form(request))
    return render(request, "503.html", {"missing": missing}, status=503)


def _retry_form(request: HttpRequest) -> dict[str, Any]:
    """The request as a form; only its address if the body cannot be read any more."""
    if request.method == "POST":
        try:
            return {"address": request.get_full_path(), "method": "post", "fields": _fields(request.POST)}
        except (RawPostDataException, OSError):
            return {"address": request.path, "method": "get", "fields": []}
    return {"address": request.get_full_path(), "method": "get", "fields": _fields(request.GET)}


def _fields(sent: Any) -> list[tuple[str, str]]:
    """The submitted fields; every step of a session is idempotent, so sending them again is safe."""
    return [(name, value) for name, values in sent.lists() for value in values][:MAX_FIELDS]
