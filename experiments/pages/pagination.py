"""Pages of tables; fewer rows on a phone."""

from typing import Any

from django.core.paginator import Page, Paginator
from django.http import HttpRequest

ON_A_PHONE = 25  # each row is a card there


def page_of(request: HttpRequest, rows: Any, *, most: int) -> "Page[Any]":
    """Return the requested page; a shorter one on a phone."""
    return Paginator(rows, min(most, ON_A_PHONE) if is_phone(request) else most).get_page(
        request.GET.get("page")
    )


def is_phone(request: HttpRequest) -> bool:
    """Whether the browser is on a phone, by its client hint or its user agent."""
    hint = request.headers.get("Sec-CH-UA-Mobile")
    return hint == "?1" if hint else "Mobi" in request.headers.get("User-Agent", "")
