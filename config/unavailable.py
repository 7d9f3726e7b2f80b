"""What broke: the database that does not answer is no fault, and the same request works in a moment."""

import sys
from typing import Any

from django.db import DataError, InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.request import RawPostDataException
from django.shortcuts import render

from config.refusals import bad_request, is_participants, told
from experiments.pages import errors

SECONDS = 5
MOST_FIELDS = 200


def broken(request: HttpRequest) -> HttpResponse:
    """503 and a way to send it again while the database is away; 400 for what it cannot hold; else 500."""
    fault = sys.exc_info()[1]
    if isinstance(fault, DataError):  # PostgreSQL keeps no NUL, in an address or a form
        return bad_request(request, fault)
    if not isinstance(fault, OperationalError | InterfaceError):
        return _our_fault(request)
    answer = _unavailable(request)
    answer["Retry-After"] = str(SECONDS)
    answer["Cache-Control"] = "no-store"
    return answer


def _our_fault(request: HttpRequest) -> HttpResponse:
    """A mistake of ours, with a way to try once more for participants."""
    if not is_participants(request):
        return errors.broken(request)
    return told(request, "unavailable", status=500, again=_again(request))


def _unavailable(request: HttpRequest) -> HttpResponse:
    if request.path.startswith(errors.API):
        message = "The database does not answer; send it again."
        return JsonResponse({"code": "try_again", "message": message}, status=503)
    if is_participants(request):
        return told(request, "unavailable", status=503, again=_again(request))
    return render(request, "503.html", status=503)


def _again(request: HttpRequest) -> dict[str, Any]:
    """The same request as a form; the address alone where what was sent can no longer be read."""
    if request.method == "POST":
        try:
            return {"address": request.get_full_path(), "method": "post", "fields": _fields(request.POST)}
        except (RawPostDataException, OSError):
            return {"address": request.path, "method": "get", "fields": []}
    return {"address": request.get_full_path(), "method": "get", "fields": _fields(request.GET)}


def _fields(sent: Any) -> list[tuple[str, str]]:
    """What was sent, to be sent again: every step of a session may come twice and counts once."""
    return [(name, value) for name, values in sent.lists() for value in values][:MOST_FIELDS]
