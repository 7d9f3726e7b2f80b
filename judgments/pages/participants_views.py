"""The people of a study, as pseudonyms: how far they are, what signals found, analysis and pay."""

import secrets
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_POST

from analysis.errors import BadInput
from analysis.quality.report import LABELS
from experiments.extras import INSTRUCTION
from experiments.models import AuditEntry, Experiment, TrialKind
from experiments.money import written
from experiments.pages.access import get_study, may_edit
from experiments.pages.paging import page_of
from judgments.flags import LONGEST_REASON, lift_flag, raise_flag
from judgments.models import Flag, Judgment, Participant, Payment, Session, Signal, Trial
from judgments.pages.decision_views import back
from judgments.payments import STATES, state_of, undecided
from judgments.quality_check import last_check

PER_PAGE = 50
ABOUT_PEOPLE = Q(action__startswith="pay:") | Q(
    action__in=["participant flagged", "flag lifted", "answers deleted"]
)
LAST_ENTRIES = 20


class FlagForm(forms.Form):
    """Why a participant is flagged."""

    reason = forms.CharField(max_length=LONGEST_REASON)


class FilterForm(forms.Form):
    """Narrow the list of people."""

    who = forms.CharField(label="Pseudonym, code or platform’s id", required=False, max_length=100)
    status = forms.ChoiceField(choices=[("", "all"), *Session.Status.choices], required=False)
    signal = forms.ChoiceField(choices=[("", "any or none"), *LABELS.items()], required=False)
    pay = forms.ChoiceField(choices=[("", "all"), *STATES], required=False)
    flagged = forms.BooleanField(label="excluded by hand only", required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["who"].remark = ""  # like all of them it may stay empty


@dataclass(frozen=True)
class Entry:
    """One row of the ledger, in words."""

    pk: int
    kind: str
    words: str
    at: Any
    by: Any
    is_undone: bool


@dataclass(frozen=True)
class Sitting:
    """One session of a participant, in numbers."""

    session: Session
    n_answered: int
    n_planned: int
    n_catch: int
    n_catch_right: int
    n_instructions: int
    n_instructions_right: int
    signals: list[Any] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)
    pay: str = "undecided"

    @property
    def pay_words(self) -> str:
        """The decision on pay in words; nothing is due before the end."""
        return dict(STATES)[self.pay] if self.is_over or self.pay != "undecided" else "not finished"

    @property
    def is_over(self) -> bool:
        """Whether pay can be decided: the session ended, whichever way, with consent."""
        return self.session.status not in {Session.Status.ACTIVE, Session.Status.REFUSED}

    @property
    def is_waiting(self) -> bool:
        """Whether a bulk approval would take it."""
        is_person = not (self.session.participant.is_simulated or self.session.version.is_preview)
        return is_person and self.pay == "undecided" and self.session.completed_at is not None

    @property
    def minutes(self) -> float | None:
        """From start to end, or as the platform reports."""
        session = self.session
        if session.work_time_s is not None:
            return session.work_time_s / 60
        if session.started_at and session.completed_at:
            return (session.completed_at - session.started_at).total_seconds() / 60
        return None


@login_required
def participants(request: HttpRequest, slug: str) -> HttpResponse:
    """Newest first, fifty to a page, fewer on a phone."""
    study = get_study(request.user, slug)
    form = FilterForm(request.GET)
    chosen = form.cleaned_data if form.is_valid() else {}
    people = people_of(study, chosen, sees_ids=may_edit(request.user, study))
    page = page_of(request, people, most=PER_PAGE)
    context = {
        "study": study,
        "page": "participants",
        "form": form,
        "page_of_people": page,
        "people": with_sittings(list(page)),
        "keep": _query(chosen),
        "is_narrowed": any(chosen.values()),
        "n_never_counted": of_tests(study).count(),
        "here": request.GET.urlencode()[:500],
        "may_edit": may_edit(request.user, study),
        "longest_reason": LONGEST_REASON,
        "checked": last_check(study),
        "n_undecided": undecided(study).count(),
        "usual_words": written(study.reward_minor, study.currency),
        "usual_amount": written(study.reward_minor, study.currency).split()[0] if study.reward_minor else "",
        "key": secrets.token_hex(8),
        "entries": AuditEntry.objects.filter(ABOUT_PEOPLE, experiment=study).select_related("user")[
            :LAST_ENTRIES
        ],
    }
    return render(request, "judgments/participants.html", context)


def of_tests(study: Experiment) -> QuerySet[Participant]:
    """People of previews, dry runs and the pilot alone."""
    sessions = Session.objects.filter(participant=OuterRef("pk"))
    people = Participant.objects.filter(Exists(sessions), experiment=study)
    return people.exclude(Exists(sessions.filter(is_test=False)))


def people_of(study: Experiment, chosen: dict[str, Any], *, sees_ids: bool) -> QuerySet[Participant]:
    people = Participant.objects.filter(experiment=study).order_by("-pk")
    if who := chosen.get("who"):
        named = Q(pseudonym=who) | Q(sessions__completion_code__iexact=who)
        people = people.filter(named | Q(identity__external_id=who) if sees_ids else named)
    if chosen.get("status"):
        people = people.filter(sessions__status=chosen["status"])
    if chosen.get("flagged"):
        people = people.filter(flags__lifted_at__isnull=True, flags__isnull=False)
    if chosen.get("signal"):
        people = people.filter(sessions__signals__name=chosen["signal"])
    if chosen.get("pay"):
        people = people.filter(_paid(study, chosen["pay"]))
    return people.distinct()


def _paid(study: Experiment, state: str) -> Exists:
    """People with a session in that state of pay."""
    if state == "undecided":
        return Exists(undecided(study).filter(participant=OuterRef("pk")))
    standing = Payment.objects.filter(session__participant=OuterRef("pk"), reversal__isnull=True)
    if state == "not_paid":
        return Exists(standing.filter(kind=Payment.Kind.NOT_PAID))
    return Exists(standing.filter(kind__in=Payment.Kind.deciding() - {Payment.Kind.NOT_PAID}))


def _query(chosen: dict[str, Any]) -> str:
    return urlencode({name: "on" if value is True else value for name, value in chosen.items() if value})


def with_sittings(people: list[Participant]) -> list[dict[str, Any]]:
    """Each person with sessions, signals, pay and flags, in six queries whatever their number."""
    sittings: dict[int, list[Sitting]] = {}
    for sitting in _sittings(people):
        sittings.setdefault(sitting.session.participant_id, []).append(sitting)
    flags: dict[int, list[Flag]] = {}
    for flag in Flag.objects.filter(participant__in=people).select_related("raised_by", "lifted_by"):
        flags.setdefault(flag.participant_id, []).append(flag)
    return [
        {
            "person": person,
            "sittings": sittings.get(person.pk, []),
            "flags": flags.get(person.pk, []),
            "standing": any(flag.lifted_at is None for flag in flags.get(person.pk, [])),
        }
        for person in people
    ]


def _sittings(people: list[Participant]) -> list[Sitting]:
    """Sessions with their counts; each count is asked on its own, because joins would multiply them."""
    answered = Judgment.objects.filter(trial__session=OuterRef("pk"), status=Judgment.Status.ANSWERED)
    caught = answered.filter(trial__kind=TrialKind.CATCH, is_correct__isnull=False)
    told = caught.filter(trial__correct__check=INSTRUCTION)
    rows = (
        Session.objects.filter(participant__in=people)
        .select_related("list", "participant", "version")
        .defer("version__snapshot")
        .annotate(
            n_answered=_count(answered),
            n_trials=_count(Trial.objects.filter(session=OuterRef("pk")), of="session"),
            n_catch=_count(caught),
            n_right=_count(caught.filter(is_correct=True)),
            n_told=_count(told),
            n_told_right=_count(told.filter(is_correct=True)),
        )
        .order_by("pk")
    )
    signals: dict[int, list[dict[str, str]]] = {}
    for one in Signal.objects.filter(session__participant__in=people):
        found = {"label": LABELS.get(one.name, one.name), "reason": one.reason}
        signals.setdefault(one.session_id, []).append(found)
    ledger: dict[int, list[Payment]] = {}
    payments = Payment.objects.filter(session__participant__in=people)
    for payment in payments.select_related("decided_by", "reversal"):
        ledger.setdefault(payment.session_id, []).append(payment)
    return [
        Sitting(
            row,
            row.n_answered or 0,
            (row.list.n_trials if row.list else 0) or row.n_trials or 0,
            row.n_catch or 0,
            row.n_right or 0,
            row.n_told or 0,
            row.n_told_right or 0,
            signals.get(row.pk, []),
            [_entry(payment) for payment in ledger.get(row.pk, [])],
            state_of(ledger.get(row.pk, [])),
        )
        for row in rows
    ]


def _entry(payment: Payment) -> Entry:
    amount = f" {written(payment.amount_minor, payment.currency)}" if payment.amount_minor else ""
    reason = f": {payment.reason}" if payment.reason else ""
    return Entry(
        payment.pk,
        payment.kind,
        f"{payment.get_kind_display()}{amount}{reason}",
        payment.at,
        payment.decided_by,
        hasattr(payment, "reversal"),
    )


def _count(rows: QuerySet, *, of: str = "trial__session") -> Subquery:
    return Subquery(rows.order_by().values(of).annotate(n=Count("pk")).values("n"))


@login_required
@require_POST
def flag(request: HttpRequest, slug: str, participant_id: int) -> HttpResponse:
    """Flag a participant by hand."""
    study = get_study(request.user, slug, editing=True)
    person = get_object_or_404(Participant, pk=participant_id, experiment=study)
    try:
        raise_flag(person, request.POST.get("reason", ""), by=request.user)
    except BadInput as error:
        messages.error(request, str(error))
    else:
        messages.success(
            request, f"{person.pseudonym} is flagged. Plans with the step “flagged” leave them out."
        )
    return back(request, study)


@login_required
@require_POST
def lift(request: HttpRequest, slug: str, flag_id: int) -> HttpResponse:
    """Lift a flag."""
    study = get_study(request.user, slug, editing=True)
    found = get_object_or_404(Flag, Q(participant__experiment=study), pk=flag_id)
    lift_flag(found, by=request.user)
    messages.success(request, f"The flag on {found.participant.pseudonym} is lifted.")
    return back(request, study)
