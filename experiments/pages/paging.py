"""How many rows a page of a table has."""

from typing import Any

from django.core.paginator import Page, Paginator
from django.http import HttpRequest

ON_A_PHONE = 25  # each row stands as a card there


def page_of(request: HttpRequest, rows: Any, *, most: int) -> Page:
    """The page asked for; a shorter one on a phone."""
    return Paginator(rows, min(most, ON_A_PHONE) if is_phone(request) else most).get_page(
        request.GET.get("page")
    )


def is_phone(request: HttpRequest) -> bool:
    """Whether the browser says so: browsers of phones, and of no other devices, name themselves Mobile."""
    told = request.headers.get("Sec-CH-UA-Mobile")
    return told == "?1" if told else "Mobi" in request.headers.get("User-Agent", "")
