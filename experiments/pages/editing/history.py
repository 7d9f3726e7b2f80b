"""The history of a study, a lab or of accounts: who changed what, with old and new values."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC
from typing import Any

from django import forms
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.urls import reverse

from analysis.text import no_formula
from experiments.accounts.history import ACCOUNT_DELETED, ACCOUNT_SUBJECTS
from experiments.models import AuditEntry, Lab
from experiments.pages.access import AuthenticatedRequest, get_lab, get_study, may_edit
from experiments.pages.editing.conflicts import marked_changes
from experiments.pages.editing.restore import restorable_values
from experiments.pages.forms import paginate, set_remark
from experiments.studies.history import SETTINGS, SUBJECTS, of_subject, old_and_new
from experiments.teams.members import only_owners
from experiments.teams.roles import manages, owns
from experiments.templatetags.wording import in_words, labels

SHOWN_ENTRIES = 30
SHORT = 100  # characters of an old and a new value that fit one line


@dataclass(frozen=True)
class History:
    """Entries of a study, a lab or of accounts, and how their page is headed."""

    entries: "QuerySet[AuditEntry]"
    subjects: Mapping[str, Sequence[str]] = field(default_factory=lambda: SUBJECTS)
    other: str = SETTINGS  # the subject of entries that none of the subjects describes


@login_required
def study_history(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """Show the history of a study to its members."""
    study = get_study(request.user, slug)
    context = {
        "study": study,
        "page": "settings",
        "title": f"History of {study.title}",
        "back": (reverse("study-settings", args=[slug]), "Task and texts"),
        "csv": reverse("study-history-csv", args=[slug]) if owns(request.user, study) else "",
    }
    return _page(request, History(study.audit.all()), context)


@login_required
def study_history_csv(request: AuthenticatedRequest, slug: str) -> StreamingHttpResponse:
    """Send the history of a study to its owners."""
    study = get_study(request.user, slug)
    only_owners(study, request.user)
    return _csv(request, History(study.audit.all()), name=study.slug)


@login_required
def lab_history(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """Show the history of a lab to its members."""
    lab = get_lab(request.user, slug)
    context = {
        "section": "labs",
        "title": f"History of {lab.name}",
        "back": (reverse("lab", args=[slug]), lab.name),
        "csv": reverse("lab-history-csv", args=[slug]) if manages(request.user, lab) else "",
    }
    return _page(request, _of_lab(lab), context)


@login_required
def lab_history_csv(request: AuthenticatedRequest, slug: str) -> StreamingHttpResponse:
    """Send the history of a lab to its managers."""
    lab = get_lab(request.user, slug, managing=True)
    return _csv(request, _of_lab(lab), name=f"lab-{lab.slug}")


def _of_lab(lab: Lab) -> History:
    return History(lab.audit.all(), {"team": SUBJECTS["team"]})


@login_required
def account_history(request: AuthenticatedRequest) -> HttpResponse:
    """Show the history of the user's own account."""
    context = {
        "section": "account",
        "title": "History of your account",
        "back": (reverse("account"), "Your account"),
        "csv": reverse("account-history-csv"),
    }
    return _page(request, _of_accounts(request.user.audit.all()), context)


@login_required
def account_history_csv(request: AuthenticatedRequest) -> StreamingHttpResponse:
    """Send the history of the user's own account."""
    return _csv(request, _of_accounts(request.user.audit.all()), name="account")


@login_required
def accounts_history(request: AuthenticatedRequest) -> HttpResponse:
    """Show the histories of all accounts to administrators."""
    context = {
        "section": "operation",
        "title": "History of accounts",
        "back": (reverse("operation"), "Operation"),
        "csv": reverse("accounts-history-csv"),
        "names_accounts": True,
    }
    return _page(request, _of_every_account(request), context)


@login_required
def accounts_history_csv(request: AuthenticatedRequest) -> StreamingHttpResponse:
    """Send the histories of all accounts to administrators."""
    return _csv(request, _of_every_account(request), name="accounts")


def _of_every_account(request: AuthenticatedRequest) -> History:
    if not (request.user.is_staff and request.user.has_perm("experiments.view_auditentry")):
        raise PermissionDenied("Administrators who may see the history see that of accounts.")
    is_of_account = Q(account__isnull=False) | Q(action=ACCOUNT_DELETED)
    return _of_accounts(AuditEntry.objects.filter(is_of_account))


def _of_accounts(entries: "QuerySet[AuditEntry]") -> History:
    return History(entries, ACCOUNT_SUBJECTS, other="account")


def _page(request: AuthenticatedRequest, history: History, context: dict[str, Any]) -> HttpResponse:
    """Show the entries that match the filters, newest first."""
    form = HistoryForm(request.GET, history=history)
    entries = paginate(request, form.matching(), most=SHOWN_ENTRIES)
    query, study = _filter_query(request), context.get("study")
    may_restore = study is not None and may_edit(request.user, study)
    context |= {
        "form": form,
        "query": query,
        "keep": query,
        "is_filtered": any(request.GET.get(name) for name in form.fields),
        "page_of": entries,
        "entries": [
            (
                entry,
                changed_values(entry.details),
                bool(study and may_restore and restorable_values(study, entry)),
            )
            for entry in entries
        ],
    }
    return render(request, "experiments/history.html", context)


def _csv(request: AuthenticatedRequest, history: History, *, name: str) -> StreamingHttpResponse:
    """Send the entries that match the filters, a row for each value; times are UTC, no cell is a formula."""
    entries = HistoryForm(request.GET, history=history).matching()
    writer = csv.writer(_Echo())
    lines = (writer.writerow([no_formula(str(cell)) for cell in row]) for row in _rows(entries))
    response = StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}-history.csv"'
    return response


class _Echo:
    """A file whose lines are the values of ``write``."""

    def write(self, line: str) -> str:
        """Return the line."""
        return line


def _rows(entries: QuerySet[AuditEntry]) -> Iterator[tuple[Any, ...]]:
    yield ("at", "user", "action", "name", "old", "new", "details", "account")
    for entry in entries.iterator():
        at = entry.at.astimezone(UTC).isoformat(timespec="seconds")
        about = (at, entry.user.get_username() if entry.user else "", entry.action)
        account = entry.account.get_username() if entry.account else ""
        details = "; ".join(f"{name}: {text}" for name, text in labels(entry.details))
        values = old_and_new(entry.details) or {"": ("", "")}
        for name, (old, new) in values.items():
            yield (*about, name, as_lines(old), as_lines(new), details, account)


def _filter_query(request: HttpRequest) -> str:
    query = request.GET.copy()
    query.pop("page", None)
    return query.urlencode()


class HistoryForm(forms.Form):
    """Narrow the history."""

    who = forms.ChoiceField(required=False, label="Who")
    account = forms.ChoiceField(required=False, label="Account")
    about = forms.ChoiceField(required=False, label="About")
    since = forms.DateField(required=False, label="From", widget=forms.DateInput(attrs={"type": "date"}))
    until = forms.DateField(required=False, label="Until", widget=forms.DateInput(attrs={"type": "date"}))
    q = forms.CharField(required=False, label="Action contains", max_length=60)

    def __init__(self, *args: Any, history: History, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.history = history
        self._offer("who", [("", "everybody"), *self._names("user")])
        self._offer("about", [("", "everything"), *((name, name) for name in self._subjects())])
        accounts = self._names("account")
        if len(accounts) > 1:
            self._offer("account", [("", "all"), *accounts])
        else:
            del self.fields["account"]
        for shown in self.fields.values():
            set_remark(shown, "")

    def _subjects(self) -> tuple[str, ...]:
        return (*self.history.subjects, self.history.other)

    def _names(self, column: str) -> list[tuple[str, str]]:
        ids = self.history.entries.order_by().values(column).distinct()
        names = User.objects.filter(pk__in=ids).order_by("username").values_list("username", flat=True)
        return [(name, name) for name in names]

    def _offer(self, name: str, choices: list[tuple[str, str]]) -> None:
        choice = self.fields[name]
        assert isinstance(choice, forms.ChoiceField)
        choice.choices = choices

    def matching(self) -> QuerySet[AuditEntry]:
        """Entries that match every valid filter."""
        self.is_valid()
        chosen = self.cleaned_data
        entries = self.history.entries.select_related("user", "account")
        if chosen.get("who"):
            entries = entries.filter(user__username=chosen["who"])
        if chosen.get("about"):
            entries = entries.filter(of_subject(chosen["about"], self.history.subjects))
        if chosen.get("account"):
            entries = entries.filter(account__username=chosen["account"])
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
            "is_short": len(old) + len(new) <= SHORT and "\n" not in old + new,
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
