"""The history of a study: who changed what, with old and new values."""

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from experiments.pages.access import get_study
from experiments.pages.editing.conflicts import marked_changes
from experiments.pages.pagination import page_of
from experiments.templatetags.trail import in_words

SHOWN_ENTRIES = 30


@login_required
def history(request: HttpRequest, slug: str) -> HttpResponse:
    """Show every entry, newest first."""
    study = get_study(request.user, slug)
    entries = page_of(request, study.audit.select_related("user"), most=SHOWN_ENTRIES)
    context = {
        "study": study,
        "page": "settings",
        "page_of": entries,
        "entries": [(entry, changed_values(entry.details)) for entry in entries],
    }
    return render(request, "experiments/history.html", context)


def changed_values(details: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return old and new values of an entry as text, and the change marked; none for entries without."""
    changes = details.get("changes")
    if not isinstance(changes, dict):
        return []
    return [
        {
            "name": name.replace("_", " "),
            "old": (old := as_lines(change.get("old"))),
            "new": (new := as_lines(change.get("new"))),
            "marked": marked_changes(old, new),
        }
        for name, change in changes.items()
    ]


def as_lines(value: Any) -> str:
    """Return a stored value as text, a list with one entry in each line.

    >>> as_lines([{"text": "A cat.", "correct": 7}]), as_lines(None)
    ('text A cat., correct 7', '')
    """
    if isinstance(value, list):
        return "\n".join(in_words(entry) for entry in value)
    return in_words(value)
