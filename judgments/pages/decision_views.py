"""Decisions about participants: pay for one session or many, flags, and deletion on request."""

import secrets
from collections.abc import Callable, Sequence
from functools import wraps

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import HttpResponse, JsonResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from analysis.errors import BadInput
from analysis.power.money import format_money, minor_units
from analysis.text import plural
from experiments.models import Experiment
from experiments.pages.access import AuthenticatedRequest, get_study, may_see_ids
from judgments.flags import lift_flag, lift_flags, raise_flag, raise_flags
from judgments.models import Flag, Participant, Payment, Session
from judgments.pages.participants_views import PER_PAGE, FilterForm, filter_participants
from judgments.privacy.person import export_person, forget
from judgments.quality_check import request_check
from judgments.recruitment.payments import (
    approve,
    approve_many,
    give_bonus,
    give_bonuses,
    refuse,
    refuse_many,
    undo,
    undo_many,
)
from judgments.sessions.removal import ON_REQUEST, erase

View = Callable[..., str]
MOST_TICKED = 10 * PER_PAGE


class EraseForm(forms.Form):
    """Scope of the deletion."""

    forget = forms.BooleanField(
        required=False,
        label="Delete the platform id as well",
        help_text="Afterwards a payment cannot be traced to a person. Decide on pay first.",
    )


def decision(view: View) -> Callable[..., HttpResponse]:
    """Wrap a view for editors: POST only, the result as a message, then back to the list."""

    @login_required
    @require_POST
    @wraps(view)
    def view_with_study(request: AuthenticatedRequest, slug: str, **kwargs: int) -> HttpResponse:
        study = get_study(request.user, slug, editing=True)
        try:
            messages.success(request, view(request, study, **kwargs))
        except BadInput as error:
            field = f"{error.column.capitalize()}: " if error.column else ""
            text = f"{field}{error.message} {error.remedy}".strip()
            messages.error(request, text[:1].upper() + text[1:])
        return back(request, study)

    return view_with_study


def back(request: AuthenticatedRequest, study: Experiment) -> HttpResponse:
    """Redirect to the participants page with its filters and page number."""
    query = QueryDict(request.POST.get("return_query", "")[:500]).urlencode()
    return redirect(reverse("study-participants", args=[study.slug]) + (f"?{query}" if query else ""))


def find(study: Experiment, session_id: int) -> Session:
    """A session of the study, or 404."""
    sessions = Session.objects.select_related("participant", "experiment")
    return get_object_or_404(sessions, pk=session_id, experiment=study)


@decision
def pay(request: AuthenticatedRequest, study: Experiment, *, session_id: int) -> str:
    """Approve, give a bonus or decide not to pay, by the button that was pressed."""
    session, choice = find(study, session_id), request.POST.get("decision", "")
    reason, name = request.POST.get("reason", ""), session.participant.pseudonym
    if choice == "not_paid":
        refuse(session, reason=reason, currency=study.currency, by=request.user)
        return f"{name} is not paid for this session. The answers stay in the analysis as they were."
    if choice not in {"approve", "bonus"}:
        raise BadInput("no decision was sent.", remedy="Press one of the buttons.")
    currency = request.POST.get("currency", study.currency).strip().upper()
    amount = minor_units(request.POST.get("amount", ""), currency)
    if choice == "approve":
        approve(session, amount_minor=amount, currency=currency, by=request.user)
        return f"{format_money(amount, currency)} approved for {name}."
    key = request.POST.get("key", "")[:40] or secrets.token_hex(8)
    give_bonus(session, amount_minor=amount, currency=currency, reason=reason, key=key, by=request.user)
    return f"A bonus of {format_money(amount, currency)} for {name}."


@decision
def undo_payment(request: AuthenticatedRequest, study: Experiment, *, payment_id: int) -> str:
    """Undo an entry of the ledger by a reversing entry."""
    entries = Payment.objects.select_related("session__participant", "session__experiment")
    entry = get_object_or_404(entries, pk=payment_id, session__experiment=study)
    undo(entry, by=request.user)
    return f"Undone for {entry.session.participant.pseudonym}. Both entries stay in the ledger."


@decision
def pay_many(request: AuthenticatedRequest, study: Experiment) -> str:
    """Approve the study's pay for the ticked sessions, or for all that are complete and undecided."""
    n = approve_many(study, _selected_sessions(request, study), by=request.user)
    each = format_money(study.reward_minor, study.currency)
    return f"Pay of {plural(n, 'session')} approved, {each} each."


@decision
def decide_many(request: AuthenticatedRequest, study: Experiment) -> str:
    """Apply one action to several participants: those ticked, those of the page, or all that match."""
    action, reason = request.POST.get("action", ""), request.POST.get("reason", "")
    people = _people(request, study)
    sessions = Session.objects.filter(experiment=study, participant__in=people.values("pk"))
    of_all = f"of {plural(people.count(), 'participant')}"
    if action == "exclude":
        n = raise_flags(study, _with_answers(people), reason, by=request.user)
        return f"{n} {of_all} flagged. Plans with the step “flagged” leave them out. Pay does not change."
    if action == "include":
        return f"{lift_flags(study, people, by=request.user)} {of_all} included again."
    if action == "approve":
        n = approve_many(study, sessions, by=request.user)
        each = format_money(study.reward_minor, study.currency)
        return f"Pay of {plural(n, 'session')} {of_all} approved, {each} each."
    if action == "not_paid":
        n = refuse_many(study, sessions, reason=reason, by=request.user)
        return f"{plural(n, 'session')} {of_all} not paid. The answers stay in the analysis as they were."
    if action == "bonus":
        amount = minor_units(request.POST.get("amount", ""), study.currency)
        key = request.POST.get("key", "")[:40] or secrets.token_hex(8)
        n = give_bonuses(study, sessions, amount_minor=amount, reason=reason, key=key, by=request.user)
        return f"A bonus of {format_money(amount, study.currency)} for {plural(n, 'session')} {of_all}."
    if action == "undo":
        n = undo_many(study, sessions, by=request.user)
        return f"Undone for {plural(n, 'session')} {of_all}. Both entries stay in the ledger."
    raise BadInput("no action was chosen.", remedy="Choose one beside the selection.")


def _people(request: AuthenticatedRequest, study: Experiment) -> QuerySet[Participant]:
    """The participants to which an action applies; those that arrived after the page was shown never do."""
    scope = request.POST.get("scope", "ticked")
    if scope == "matching":
        form = FilterForm(QueryDict(request.POST.get("return_query", "")[:500]))
        filters = form.cleaned_data if form.is_valid() else {}
        (newest,) = _numbers([request.POST.get("newest", "")]) or [0]
        matching = filter_participants(study, filters, sees_ids=may_see_ids(request.user, study))
        return matching.filter(pk__lte=newest)
    ids = request.POST.get("shown", "").split(",") if scope == "page" else request.POST.getlist("participant")
    numbers = _numbers(ids)
    if not numbers:
        raise BadInput("no participant is selected.", remedy="Select participants, or choose all of them.")
    return Participant.objects.filter(experiment=study, pk__in=numbers[:MOST_TICKED])


def _with_answers(people: QuerySet[Participant]) -> QuerySet[Participant]:
    """Those who did not decline consent: others have no answers to exclude."""
    sessions = Session.objects.filter(participant=OuterRef("pk"))
    return people.filter(~Exists(sessions) | Exists(sessions.exclude(status=Session.Status.REFUSED)))


def _numbers(texts: Sequence[str]) -> list[int]:
    return [int(text) for text in texts if text.isdecimal() and len(text) < 19]


def _selected_sessions(request: AuthenticatedRequest, study: Experiment) -> QuerySet[Session]:
    sessions = Session.objects.filter(experiment=study)
    if request.POST.get("which") == "all":
        return sessions
    ticked = _numbers(request.POST.getlist("session"))
    if not ticked:
        raise BadInput("no session is selected.", remedy="Select those to approve.")
    return sessions.filter(pk__in=ticked)


@decision
def check(request: AuthenticatedRequest, study: Experiment) -> str:
    """Compute the quality signals again."""
    request_check(study, user=request.user)
    return "The signals are being computed. Reload this page in a moment."


@login_required
def erase_participant(request: AuthenticatedRequest, slug: str, participant_id: int) -> HttpResponse:
    """Delete a participant's answers after confirmation."""
    study = get_study(request.user, slug, editing=True)
    participant = get_object_or_404(Participant, pk=participant_id, experiment=study)
    form = EraseForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        is_forgotten = form.cleaned_data["forget"]
        n = (
            forget(participant, by=request.user)
            if is_forgotten
            else erase(participant, reason=ON_REQUEST, by=request.user)
        )
        deleted = plural(n, "judgment")
        deleted += " and the platform id" if is_forgotten else ""
        messages.success(request, f"Deleted {deleted} of {participant.pseudonym}. Pay does not change.")
        return redirect("study-participants", slug)
    context = {"study": study, "page": "participants", "participant": participant, "form": form}
    return render(request, "judgments/erase.html", context)


@login_required
@require_POST
def export_participant(request: AuthenticatedRequest, slug: str, participant_id: int) -> HttpResponse:
    """Everything stored of a participant as JSON, to be handed to that person; the history records it."""
    study = get_study(request.user, slug, editing=True)
    if not may_see_ids(request.user, study):
        raise PermissionDenied("The data hold the platform id, which is for members of the study.")
    participant = get_object_or_404(Participant, pk=participant_id, experiment=study)
    response = JsonResponse(
        export_person(participant, by=request.user), json_dumps_params={"ensure_ascii": False, "indent": 2}
    )
    response["Content-Disposition"] = f'attachment; filename="{slug}-participant-{participant_id}.json"'
    response["Cache-Control"] = "no-store"
    return response


@login_required
@require_POST
def flag_participant(request: AuthenticatedRequest, slug: str, participant_id: int) -> HttpResponse:
    """Flag a participant manually."""
    study = get_study(request.user, slug, editing=True)
    participant = get_object_or_404(Participant, pk=participant_id, experiment=study)
    try:
        raise_flag(participant, request.POST.get("reason", ""), by=request.user)
    except BadInput as error:
        messages.error(request, str(error))
    else:
        messages.success(
            request, f"{participant.pseudonym} is flagged. Plans with the step “flagged” leave them out."
        )
    return back(request, study)


@login_required
@require_POST
def lift(request: AuthenticatedRequest, slug: str, flag_id: int) -> HttpResponse:
    """Lift a flag."""
    study = get_study(request.user, slug, editing=True)
    flag = get_object_or_404(Flag, Q(participant__experiment=study), pk=flag_id)
    lift_flag(flag, by=request.user)
    messages.success(request, f"The flag on {flag.participant.pseudonym} is lifted.")
    return back(request, study)
