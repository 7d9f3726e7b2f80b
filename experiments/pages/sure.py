"""Asked once more before something that cannot be taken back."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def is_sure(request: HttpRequest) -> bool:
    """Whether the form came from the page that asks."""
    return "sure" in request.POST


def ask(
    request: HttpRequest, question: str, effect: str, *, yes: str, no: str, back: str, **context: object
) -> HttpResponse:
    """The page that asks: what would happen, a button that does it, and the way back."""
    asked = {"question": question, "effect": effect, "yes": yes, "no": no, "back": back}
    return render(request, "experiments/sure.html", asked | context)
