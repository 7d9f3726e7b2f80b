"""Every participant's page: its language and direction, and never a stored copy."""

from functools import lru_cache
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import add_never_cache_headers
from django.utils.translation import get_language_from_request

from experiments.languages import interface_language, speaking

RIGHT_TO_LEFT = {"ar", "ckb", "dv", "fa", "he", "iw", "ji", "nqo", "ps", "sd", "syr", "ug", "ur", "yi"}
RIGHT_TO_LEFT_SCRIPTS = {"adlm", "arab", "hebr", "nkoo", "rohg", "syrc", "thaa"}
LEFT_TO_RIGHT_SCRIPTS = {"cyrl", "deva", "latn"}


@lru_cache(maxsize=1000)
def direction(language: str) -> str:
    """Writing direction of a BCP 47 tag; a script subtag decides over the language.

    >>> direction("fa"), direction("ku-Arab"), direction("az-Latn"), direction("en-GB")
    ('rtl', 'rtl', 'ltr', 'ltr')
    """
    parts = language.lower().replace("_", "-").split("-")
    if RIGHT_TO_LEFT_SCRIPTS.intersection(parts[1:]):
        return "rtl"
    if LEFT_TO_RIGHT_SCRIPTS.intersection(parts[1:]):
        return "ltr"
    return "rtl" if parts[0] in RIGHT_TO_LEFT else "ltr"


def page(
    request: HttpRequest, template: str, *, language: str, status: int = 200, **context: Any
) -> HttpResponse:
    """Render a screen in the study's language; the browser asks again on back and reload."""
    with speaking(language):
        response = render(
            request,
            f"judgments/{template}.html",
            {
                "language": language,
                "direction": direction(language),
                "has_mistakes": status == 422,
                **context,
            },
            status=status,
        )
    add_never_cache_headers(response)
    return response


def not_found(request: HttpRequest) -> HttpResponse:
    """No study or session at this address: told in the language of the browser."""
    language = interface_language(get_language_from_request(request))
    return page(request, "not_found", language=language, status=404)


def closed(request: HttpRequest, reason: str, *, title: str, language: str) -> HttpResponse:
    """Sorry: full, paused, closed or not yet open."""
    return page(request, "closed", language=language, reason=reason, title=title)
