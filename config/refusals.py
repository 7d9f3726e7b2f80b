"""What a request that cannot be taken is told: participants in their language, programs in JSON."""

import re
from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, JsonResponse
from django.shortcuts import render
from django.utils.translation import get_language_from_request

from experiments.languages import interface_language
from experiments.pages import errors
from judgments.screens import page as screens

PARTICIPANTS = ("/take/", "/s/")
STUDY = re.compile(r"/studies/[-\w]+/")


def is_participants(request: HttpRequest) -> bool:
    """Whether the address is one that participants open."""
    return request.path.startswith(PARTICIPANTS)


def told(request: HttpRequest, template: str, *, status: int, **context: Any) -> HttpResponse:
    """A participant's page in the language of the browser, where no study says which."""
    language = interface_language(get_language_from_request(request))
    return screens.page(request, template, language=language, status=status, **context)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Too much, or not what a form of ours sends: nothing of it was taken."""
    if request.path.startswith(errors.API):
        message = "The request cannot be read, or is too large."
        return JsonResponse({"code": "bad_request", "message": message}, status=400)
    if is_participants(request):
        return told(request, "bad_request", status=400, address=request.path)
    return render(request, "400.html", status=400)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Nothing at this address, or not for this user: both look the same."""
    return screens.not_found(request) if is_participants(request) else errors.not_found(request, exception)


class WrongMethod:
    """An address that only takes what a button sends, opened as a page: say so and lead back to the study.

    Whoever is asked to log in after pressing a button comes to such an address, and so does a bookmark.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if request.method != "GET" or not isinstance(response, HttpResponseNotAllowed) or response.content:
            return response
        study = STUDY.match(request.path)
        page = render(request, "405.html", {"back": study[0] if study else "/"}, status=405)
        page["Allow"] = response["Allow"]
        return page
