"""Confirmation page before an action that cannot be undone."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def is_sure(request: HttpRequest) -> bool:
    """Whether the form was sent from the confirmation page."""
    return "sure" in request.POST


def ask(
    request: HttpRequest, question: str, effect: str, *, yes: str, no: str, back: str, **context: object
) -> HttpResponse:
    """Render the confirmation page: the effect, a button that proceeds, a link that cancels."""
    page = {"question": question, "effect": effect, "yes": yes, "no": no, "back": back}
    return render(request, "experiments/sure.html", page | context)
