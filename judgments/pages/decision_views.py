"""What a researcher decides about people: pay, one by one or many, and deletion at their wish."""

import secrets
from collections.abc import Callable
from functools import wraps

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from analysis.errors import BadInput
from experiments.models import Experiment
from experiments.money import minor_units, written
from experiments.pages.access import get_study
from judgments.models import Participant, Payment, Session
from judgments.payments import approve, approve_many, give_bonus, refuse, undo
from judgments.quality_check import request_check
from judgments.sessions.erase import ON_REQUEST, erase

View = Callable[..., str]


class EraseForm(forms.Form):
    """How much is forgotten."""

    forget = forms.BooleanField(
        required=False,
        label="Delete the platform's id as well",
        help_text="Then nobody can tell any more whose pay this was. Settle the pay first.",
    )


def decision(view: View) -> Callable[..., HttpResponse]:
    """Let editors post; say what was done or what is wrong; go back to the list as it was."""

    @login_required
    @require_POST
    @wraps(view)
    def guarded(request: HttpRequest, slug: str, **kwargs: int) -> HttpResponse:
        study = get_study(request.user, slug, editing=True)
        try:
            messages.success(request, view(request, study, **kwargs))
        except BadInput as error:
            field = f"{error.column.capitalize()}: " if error.column else ""
            said = f"{field}{error.message} {error.remedy}".strip()
            messages.error(request, said[:1].upper() + said[1:])
        return back(request, study)

    return guarded


def back(request: HttpRequest, study: Experiment) -> HttpResponse:
    """To the participants page, with the filters and page it had."""
    keep = QueryDict(request.POST.get("keep", "")[:500]).urlencode()
    return redirect(reverse("study-participants", args=[study.slug]) + (f"?{keep}" if keep else ""))


def find(study: Experiment, session_id: int) -> Session:
    """A session of the study, or 404."""
    sessions = Session.objects.select_related("participant", "experiment")
    return get_object_or_404(sessions, pk=session_id, experiment=study)


@decision
def pay(request: HttpRequest, study: Experiment, *, session_id: int) -> str:
    """Approve, give a bonus or decide not to pay, as the button pressed says."""
    session, wish = find(study, session_id), request.POST.get("decision", "")
    reason, name = request.POST.get("reason", ""), session.participant.pseudonym
    if wish == "not_paid":
        refuse(session, reason=reason, currency=study.currency, by=request.user)
        return f"{name} is not paid for this session. The answers stay in the analysis as they were."
    if wish not in {"approve", "bonus"}:
        raise BadInput("nothing was decided.", remedy="Press one of the buttons.")
    currency = request.POST.get("currency", study.currency).strip().upper()
    amount = minor_units(request.POST.get("amount", ""), currency)
    if wish == "approve":
        approve(session, amount_minor=amount, currency=currency, by=request.user)
        return f"{written(amount, currency)} approved for {name}."
    key = request.POST.get("key", "")[:40] or secrets.token_hex(8)
    give_bonus(session, amount_minor=amount, currency=currency, reason=reason, key=key, by=request.user)
    return f"A bonus of {written(amount, currency)} for {name}."


@decision
def take_back(request: HttpRequest, study: Experiment, *, payment_id: int) -> str:
    """Undo one entry of the ledger by another."""
    entries = Payment.objects.select_related("session__participant", "session__experiment")
    entry = get_object_or_404(entries, pk=payment_id, session__experiment=study)
    undo(entry, by=request.user)
    return f"Undone for {entry.session.participant.pseudonym}. Both entries stay in the ledger."


@decision
def pay_many(request: HttpRequest, study: Experiment) -> str:
    """Approve the study's pay for the ticked sessions, or for all that are complete and undecided."""
    n = approve_many(study, _chosen(request, study), by=request.user)
    each = written(study.reward_minor, study.currency)
    return f"Pay of {n} session{'' if n == 1 else 's'} approved, {each} each."


def _chosen(request: HttpRequest, study: Experiment) -> QuerySet[Session]:
    sessions = Session.objects.filter(experiment=study)
    if request.POST.get("which") == "all":
        return sessions
    ticked = [int(pk) for pk in request.POST.getlist("session") if pk.isdecimal() and len(pk) < 19]
    if not ticked:
        raise BadInput("no session is ticked.", remedy="Tick those to approve.")
    return sessions.filter(pk__in=ticked)


@decision
def check(request: HttpRequest, study: Experiment) -> str:
    """Compute the quality signals anew."""
    request_check(study, user=request.user)
    return "The signals are being computed. Reload this page in a moment."


@login_required
def forget(request: HttpRequest, slug: str, participant_id: int) -> HttpResponse:
    """Ask before a person's answers are deleted; delete them."""
    study = get_study(request.user, slug, editing=True)
    person = get_object_or_404(Participant, pk=participant_id, experiment=study)
    form = EraseForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        n = erase(person, reason=ON_REQUEST, by=request.user, forget=form.cleaned_data["forget"])
        messages.success(request, f"{n} judgments of {person.pseudonym} are deleted. Pay is as it was.")
        return redirect("study-participants", slug)
    context = {"study": study, "page": "participants", "person": person, "form": form}
    return render(request, "judgments/erase.html", context)
