"""The people of a study, as pseudonyms: how far they are, how they did on catch trials, who is flagged."""

from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from analysis.errors import BadInput
from experiments.models import Experiment, TrialKind
from experiments.pages.access import get_study, may_edit
from judgments.flags import LONGEST_REASON, lift_flag, raise_flag
from judgments.models import Flag, Judgment, Participant, Session, Trial

PER_PAGE = 50


class FlagForm(forms.Form):
    """Why a participant is flagged."""

    reason = forms.CharField(max_length=LONGEST_REASON)


class FilterForm(forms.Form):
    """Narrow the list of people."""

    status = forms.ChoiceField(choices=[("", "all"), *Session.Status.choices], required=False)
    flagged = forms.BooleanField(label="flagged only", required=False)


@dataclass(frozen=True)
class Sitting:
    """One session of a participant, in numbers."""

    session: Session
    n_answered: int
    n_planned: int
    n_catch: int
    n_catch_right: int

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
    """Newest first, fifty to a page."""
    study = get_study(request.user, slug)
    form = FilterForm(request.GET)
    chosen = form.cleaned_data if form.is_valid() else {}
    page = Paginator(_people(study, chosen), PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "study": study,
        "page": "participants",
        "form": form,
        "page_of_people": page,
        "people": _with_sittings(list(page)),
        "keep": _query(chosen),
        "is_narrowed": any(chosen.values()),
        "may_edit": may_edit(request.user, study),
        "longest_reason": LONGEST_REASON,
    }
    return render(request, "judgments/participants.html", context)


def _people(study: Experiment, chosen: dict[str, Any]) -> QuerySet[Participant]:
    people = Participant.objects.filter(experiment=study).order_by("-pk")
    if chosen.get("status"):
        people = people.filter(sessions__status=chosen["status"])
    if chosen.get("flagged"):
        people = people.filter(flags__lifted_at__isnull=True, flags__isnull=False)
    return people.distinct()


def _query(chosen: dict[str, Any]) -> str:
    return "&".join(f"{name}={'on' if value is True else value}" for name, value in chosen.items() if value)


def _with_sittings(people: list[Participant]) -> list[dict[str, Any]]:
    """Each person with sessions and standing flags, in four queries whatever their number."""
    sittings: dict[int, list[Sitting]] = {}
    for sitting in _sittings(people):
        sittings.setdefault(sitting.session.participant_id, []).append(sitting)
    flags: dict[int, list[Flag]] = {}
    for flag in Flag.objects.filter(participant__in=people).select_related("raised_by", "lifted_by"):
        flags.setdefault(flag.participant_id, []).append(flag)
    return [
        {"person": person, "sittings": sittings.get(person.pk, []), "flags": flags.get(person.pk, [])}
        for person in people
    ]


def _sittings(people: list[Participant]) -> list[Sitting]:
    """Sessions with their counts; each count is asked on its own, because joins would multiply them."""
    answered = Judgment.objects.filter(trial__session=OuterRef("pk"), status=Judgment.Status.ANSWERED)
    caught = answered.filter(trial__kind=TrialKind.CATCH, is_correct__isnull=False)
    rows = (
        Session.objects.filter(participant__in=people)
        .select_related("list")
        .annotate(
            n_answered=_count(answered),
            n_trials=_count(Trial.objects.filter(session=OuterRef("pk")), of="session"),
            n_catch=_count(caught),
            n_right=_count(caught.filter(is_correct=True)),
        )
        .order_by("pk")
    )
    return [
        Sitting(
            row,
            row.n_answered or 0,
            (row.list.n_trials if row.list else 0) or row.n_trials or 0,
            row.n_catch or 0,
            row.n_right or 0,
        )
        for row in rows
    ]


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
    return redirect("study-participants", slug)


@login_required
@require_POST
def lift(request: HttpRequest, slug: str, flag_id: int) -> HttpResponse:
    """Lift a flag."""
    study = get_study(request.user, slug, editing=True)
    found = get_object_or_404(Flag, Q(participant__experiment=study), pk=flag_id)
    lift_flag(found, by=request.user)
    messages.success(request, f"The flag on {found.participant.pseudonym} is lifted.")
    return redirect("study-participants", slug)
