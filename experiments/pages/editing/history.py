"""The history of a study: who changed what, with old and new values."""

import csv
from collections.abc import Iterator, Mapping
from datetime import UTC
from typing import Any, cast

from django import forms
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render

from experiments.models import AuditEntry, Experiment, Lab
from experiments.pages.access import get_lab, get_study
from experiments.pages.editing.conflicts import marked_changes
from experiments.pages.forms import set_remark
from experiments.pages.pagination import page_of
from experiments.studies.history import SETTINGS, SUBJECTS, of_subject, old_and_new
from experiments.teams.members import only_owners
from experiments.teams.roles import owns
from experiments.templatetags.trail import in_words, labelled

SHOWN_ENTRIES = 30
FORMULAS = ("=", "+", "-", "@", "\t", "\r")


@login_required
def history(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the entries that match the filters, newest first."""
    study = get_study(request.user, slug)
    form = HistoryForm(request.GET, team=study)
    entries = page_of(request, form.matching(), most=SHOWN_ENTRIES)
    context = {
        "study": study,
        "page": "settings",
        "form": form,
        "query": _query_of(request),
        "keep": _query_of(request),
        "is_filtered": any(request.GET.get(name) for name in form.fields),
        "may_download": owns(request.user, study),
        "page_of": entries,
        "entries": [(entry, changed_values(entry.details)) for entry in entries],
    }
    return render(request, "experiments/history.html", context)


@login_required
def history_csv(request: HttpRequest, slug: str) -> StreamingHttpResponse:
    """Send the entries that match the filters, a row for each value, to owners."""
    study = get_study(request.user, slug)
    only_owners(study, cast("User", request.user))
    return csv_of(HistoryForm(request.GET, team=study).matching(), name=study.slug)


@login_required
def lab_history_csv(request: HttpRequest, slug: str) -> StreamingHttpResponse:
    """Send the history of a lab to its managers."""
    lab = get_lab(request.user, slug, managing=True)
    return csv_of(HistoryForm(request.GET, team=lab).matching(), name=f"lab-{lab.slug}")


def csv_of(entries: QuerySet[AuditEntry], *, name: str) -> StreamingHttpResponse:
    """The entries as a file; times are UTC, and no cell is a formula."""
    writer = csv.writer(_Echo())
    lines = (writer.writerow([_plain(cell) for cell in row]) for row in _rows(entries))
    response = StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}-history.csv"'
    return response


class _Echo:
    """A file whose lines are the values of ``write``."""

    def write(self, line: str) -> str:
        """Return the line."""
        return line


def _rows(entries: QuerySet[AuditEntry]) -> Iterator[tuple[Any, ...]]:
    yield ("at", "user", "action", "name", "old", "new", "details")
    for entry in entries.iterator():
        at = entry.at.astimezone(UTC).isoformat(timespec="seconds")
        about = (at, entry.user.get_username() if entry.user else "", entry.action)
        details = "; ".join(f"{name}: {text}" for name, text in labelled(entry.details))
        values = old_and_new(entry.details) or {"": ("", "")}
        for name, (old, new) in values.items():
            yield (*about, name, as_lines(old), as_lines(new), details)


def _plain(cell: Any) -> str:
    """A cell that no spreadsheet takes for a formula."""
    text = str(cell)
    return f"'{text}" if text.lstrip().startswith(FORMULAS) else text


def _query_of(request: HttpRequest) -> str:
    query = request.GET.copy()
    query.pop("page", None)
    return query.urlencode()


class HistoryForm(forms.Form):
    """Narrow the history."""

    who = forms.ChoiceField(required=False, label="Who")
    about = forms.ChoiceField(
        required=False,
        label="About",
        choices=[("", "everything"), *((name, name) for name in (*SUBJECTS, SETTINGS))],
    )
    since = forms.DateField(required=False, label="From", widget=forms.DateInput(attrs={"type": "date"}))
    until = forms.DateField(required=False, label="Until", widget=forms.DateInput(attrs={"type": "date"}))
    q = forms.CharField(required=False, label="Action contains", max_length=60)

    def __init__(self, *args: Any, team: Experiment | Lab, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.team = team
        ids = team.audit.order_by().values("user").distinct()
        names = User.objects.filter(pk__in=ids).order_by("username").values_list("username", flat=True)
        who = self.fields["who"]
        assert isinstance(who, forms.ChoiceField)
        who.choices = [("", "everybody"), *((name, name) for name in names)]
        for field in self.fields.values():
            set_remark(field, "")

    def matching(self) -> QuerySet[AuditEntry]:
        """Entries that match every valid filter."""
        self.is_valid()
        chosen = self.cleaned_data
        entries = self.team.audit.select_related("user")
        if chosen.get("who"):
            entries = entries.filter(user__username=chosen["who"])
        if chosen.get("about"):
            entries = entries.filter(of_subject(chosen["about"]))
        if chosen.get("since"):
            entries = entries.filter(at__date__gte=chosen["since"])
        if chosen.get("until"):
            entries = entries.filter(at__date__lte=chosen["until"])
        if chosen.get("q"):
            entries = entries.filter(action__icontains=chosen["q"])
        return entries


def changed_values(details: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return old and new values of an entry as text, and the change marked; none for entries without."""
    return [
        {
            "name": name.replace("_", " "),
            "old": (old := as_lines(stored_old)),
            "new": (new := as_lines(stored_new)),
            "marked": marked_changes(old, new),
        }
        for name, (stored_old, stored_new) in old_and_new(details).items()
    ]


def as_lines(value: Any) -> str:
    """Return a stored value as text, a list with one entry in each line.

    >>> as_lines([{"text": "A cat.", "correct": 7}]), as_lines(None)
    ('text A cat., correct 7', '')
    """
    if isinstance(value, list):
        return "\n".join(in_words(entry) for entry in value)
    return in_words(value)
