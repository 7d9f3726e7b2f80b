"""Participants of a study by pseudonym, as page and CSV: progress, signals, exclusion and pay."""

import csv
import io
import json
import secrets
from collections.abc import Iterable, Iterator
from datetime import date
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib.auth.decorators import login_required
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import render

from analysis.power.money import format_money
from analysis.quality.report import LABELS
from analysis.text import no_formula
from experiments.models import AuditEntry, Experiment
from experiments.pages.access import AuthenticatedRequest, get_study, may_edit, may_see_ids
from experiments.pages.forms import paginate, set_remark
from judgments.flags import LONGEST_REASON
from judgments.models import Participant, Payment, PlatformIdentity, Session
from judgments.models.participant import identity_digests
from judgments.monitoring.session_summaries import SessionSummary, with_sessions
from judgments.quality_check import last_check
from judgments.recruitment.payments import undecided_sessions

PER_PAGE = 50
ABOUT_PARTICIPANTS = Q(action__startswith="pay:") | Q(
    action__in=["participant flagged", "flag lifted", "answers deleted"]
)
LAST_ENTRIES = 20
BULK_ACTIONS = {
    "exclude": "exclude from the analysis",
    "include": "include again",
    "approve": "approve pay",
    "not_paid": "do not pay",
    "bonus": "give a bonus",
    "undo": "undo the decision on pay",
}


class FilterForm(forms.Form):
    """Filters of the list."""

    who = forms.CharField(label="Pseudonym, code, label or platform id", required=False, max_length=100)
    status = forms.ChoiceField(choices=[("", "all"), *Session.Status.choices], required=False)
    signal = forms.ChoiceField(choices=[("", "any or none"), *LABELS.items()], required=False)
    pay = forms.ChoiceField(choices=[("", "all"), *Payment.STATES], required=False)
    flagged = forms.BooleanField(label="manually excluded only", required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        set_remark(self.fields["who"], "")  # no "optional" beside it: every filter is optional


@login_required
def participants(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """Newest first, 50 per page, fewer on a phone."""
    study = get_study(request.user, slug)
    form = FilterForm(request.GET)
    filters = form.cleaned_data if form.is_valid() else {}
    matching = filter_participants(study, filters, sees_ids=may_see_ids(request.user, study))
    page = paginate(request, matching, most=PER_PAGE)
    context = {
        "study": study,
        "page": "participants",
        "form": form,
        "page_of_participants": page,
        "participants": with_sessions(list(page)),
        "query": _query(filters),
        "is_filtered": any(filters.values()),
        "n_never_counted": preview_participants(study).count(),
        "return_query": request.GET.urlencode()[:500],
        "may_edit": may_edit(request.user, study),
        "longest_reason": LONGEST_REASON,
        "bulk_actions": bulk_actions(study),
        "shown": ",".join(str(participant.pk) for participant in page),
        "newest": matching.values_list("pk", flat=True).first() or 0,
        "last_check": last_check(study),
        "n_undecided": undecided_sessions(study).count(),
        "purge_date": next_purge_date(study),
        "reward": format_money(study.reward_minor, study.currency),
        "reward_amount": format_money(study.reward_minor, study.currency).split()[0]
        if study.reward_minor
        else "",
        "key": secrets.token_hex(8),
        "entries": AuditEntry.objects.filter(ABOUT_PARTICIPANTS, experiment=study).select_related("user")[
            :LAST_ENTRIES
        ],
    }
    return render(request, "judgments/participants.html", context)


def next_purge_date(study: Experiment) -> date | None:
    """The first day on which platform ids of a closed study are deleted; None without ids or a date."""
    if study.status != Experiment.Status.CLOSED:
        return None
    dated = PlatformIdentity.objects.filter(experiment=study, purge_at__isnull=False)
    return dated.order_by("purge_at").values_list("purge_at", flat=True).first()


def bulk_actions(study: Experiment) -> list[tuple[str, str]]:
    """Return name and label of each action on several participants; pay is approved where it is set."""
    reward = format_money(study.reward_minor, study.currency)
    actions = {**BULK_ACTIONS, "approve": f"approve pay, {reward} each"}
    return [(name, label) for name, label in actions.items() if study.reward_minor or name != "approve"]


def preview_participants(study: Experiment) -> QuerySet[Participant]:
    """Participants of previews, dry runs and the pilot only."""
    sessions = Session.objects.filter(participant=OuterRef("pk"))
    participants = Participant.objects.filter(Exists(sessions), experiment=study)
    return participants.exclude(Exists(sessions.filter(is_test=False)))


def filter_participants(
    study: Experiment, filters: dict[str, Any], *, sees_ids: bool
) -> QuerySet[Participant]:
    """Participants of a study that match the filters; platform ids match only for users who see them."""
    participants = Participant.objects.filter(experiment=study).order_by("-pk")
    if name := filters.get("who"):
        matches = Q(pseudonym=name) | Q(sessions__completion_code__iexact=name)
        matches |= Q(sessions__attributes__label=name)
        if sees_ids:
            matches |= Q(identity__external_digest__in=identity_digests(study.pk, name))
        participants = participants.filter(matches)
    if filters.get("status"):
        participants = participants.filter(sessions__status=filters["status"])
    if filters.get("flagged"):
        participants = participants.filter(flags__lifted_at__isnull=True, flags__isnull=False)
    if filters.get("signal"):
        participants = participants.filter(sessions__signals__name=filters["signal"])
    if filters.get("pay"):
        participants = participants.filter(_has_pay_state(study, filters["pay"]))
    return participants.distinct()


def _has_pay_state(study: Experiment, state: str) -> Exists:
    """Condition on participants: a session in that state of pay."""
    if state == "undecided":
        return Exists(undecided_sessions(study).filter(participant=OuterRef("pk")))
    valid = Payment.objects.filter(session__participant=OuterRef("pk"), reversal__isnull=True)
    if state == "not_paid":
        return Exists(valid.filter(kind=Payment.Kind.NOT_PAID))
    return Exists(valid.filter(kind__in=Payment.Kind.deciding() - {Payment.Kind.NOT_PAID}))


def _query(filters: dict[str, Any]) -> str:
    return urlencode({name: "on" if value is True else value for name, value in filters.items() if value})


FILE_COLUMNS = [
    "participant",
    "session",
    "list",
    "state",
    "is_test",
    "started_at",
    "completed_at",
    "minutes",
    "answered",
    "planned",
    "catch",
    "catch_right",
    "instructions",
    "instructions_right",
    "signals",
    "excluded_by_hand",
    "pay",
    "pay_entries",
    "completion_code",
    "label",
    "closing_answers",
]
FILE_BATCH = 500  # participants per query of the file


@login_required
def download(request: AuthenticatedRequest, slug: str) -> StreamingHttpResponse:
    """One row per session with the filters of the page; for editors only, because it has completion codes."""
    study = get_study(request.user, slug, editing=True)
    form = FilterForm(request.GET)
    filters = form.cleaned_data if form.is_valid() else {}
    matching = filter_participants(study, filters, sees_ids=may_see_ids(request.user, study))
    lines = _csv_lines(matching, questions=_questions(study))
    response = StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{study.slug}-participants.csv"'
    return response


def _questions(study: Experiment) -> list[str]:
    """Names of all answers to the questionnaire and of demographics."""
    backgrounds = Participant.objects.filter(experiment=study).values_list("background", flat=True)
    return sorted({str(name) for answers in backgrounds.iterator() for name in answers})


def _csv_lines(participants: QuerySet[Participant], *, questions: list[str]) -> Iterator[str]:
    yield _csv_line([*FILE_COLUMNS, *(f"background_{name}" for name in questions)])
    keys = list(participants.values_list("pk", flat=True))
    for start in range(0, len(keys), FILE_BATCH):
        batch = Participant.objects.filter(pk__in=keys[start : start + FILE_BATCH]).order_by("-pk")
        for row in with_sessions(list(batch)):
            flags = "; ".join(flag.reason for flag in row["flags"] if flag.lifted_at is None)
            background = row["participant"].background
            answers = [_shown_answer(background.get(name)) for name in questions]
            for summary in row["sessions"]:
                cells = _cells(summary, pseudonym=row["participant"].pseudonym, flags=flags)
                yield _csv_line([*cells, *answers])


def _cells(summary: SessionSummary, *, pseudonym: str, flags: str) -> list[Any]:
    session = summary.session
    valid = [
        entry for entry in summary.entries if not entry.is_undone and entry.kind != Payment.Kind.REVERSAL
    ]
    return [
        pseudonym,
        session.pk,
        session.list.label if session.list else "",
        session.status,
        session.is_test,
        session.started_at.isoformat(timespec="seconds") if session.started_at else "",
        session.completed_at.isoformat(timespec="seconds") if session.completed_at else "",
        "" if summary.minutes is None else f"{summary.minutes:.2f}",
        summary.n_answered,
        summary.n_planned,
        summary.n_catch,
        summary.n_catch_right,
        summary.n_instructions,
        summary.n_instructions_right,
        "; ".join(f"{signal['label']}: {signal['reason']}" for signal in summary.signals),
        flags,
        summary.pay,
        "; ".join(entry.text for entry in valid),
        session.completion_code,
        session.attributes.get("label", ""),
        _closing_answers(session),
    ]


def _shown_answer(value: Any) -> str:
    """An answer to the questionnaire as a cell."""
    text = "|".join(map(str, value)) if isinstance(value, list) else "" if value is None else str(value)
    return str(no_formula(text))


def _closing_answers(session: Session) -> str:
    """The answers to the questions at the end as JSON; the last delivery counts."""
    event = session.events.filter(kind="closing").last()
    return json.dumps(event.details, ensure_ascii=False) if event else ""


def _csv_line(cells: Iterable[Any]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(map(no_formula, cells))
    return line.getvalue()
