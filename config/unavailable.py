"""What broke: the database that does not answer is no fault, and the same request works in a moment."""

import sys
from typing import Any

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.request import RawPostDataException
from django.shortcuts import render
from django.utils.translation import get_language_from_request

from experiments.languages import interface_language
from experiments.pages import errors
from judgments.screens.page import page

SECONDS = 5
PARTICIPANTS = ("/take/", "/s/")
MOST_FIELDS = 200


def broken(request: HttpRequest) -> HttpResponse:
    """Answer 503 with a way to send the same again while the database is away; else 500."""
    if not isinstance(sys.exc_info()[1], OperationalError | InterfaceError):
        return errors.broken(request)
    answer = _unavailable(request)
    answer["Retry-After"] = str(SECONDS)
    answer["Cache-Control"] = "no-store"
    return answer


def _unavailable(request: HttpRequest) -> HttpResponse:
    if request.path.startswith(errors.API):
        message = "The database does not answer; send it again."
        return JsonResponse({"code": "try_again", "message": message}, status=503)
    again = {"address": request.get_full_path(), "method": "get", "fields": _fields(request.GET)}
    if request.method == "POST":
        try:
            again |= {"method": "post", "fields": _fields(request.POST)}
        except (RawPostDataException, OSError):
            return render(request, "503.html", status=503)
    if request.path.startswith(PARTICIPANTS):
        language = interface_language(get_language_from_request(request))
        return page(request, "unavailable", language=language, status=503, again=again)
    return render(request, "503.html", status=503)


def _fields(sent: Any) -> list[tuple[str, str]]:
    """What was sent, to be sent again: every step of a session may come twice and counts once."""
    return [(name, value) for name, values in sent.lists() for value in values][:MOST_FIELDS]
