"""Further rounds of a study: added, changed, removed, started."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import AnonymousUser, User
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from analysis.errors import BadInput
from experiments.lists.build import get_design
from experiments.lists.rounds import (
    MOST_ROUNDS,
    Round,
    list_rounds,
)
from experiments.models import Design, Experiment
from experiments.pages.access import get_locked_study, get_study
from experiments.pages.design.forms import DesignForm, RoundForm
from experiments.pages.design.page import conflict_context, design_context
from experiments.pages.editing.conflicts import (
    compare,
    is_outdated,
    with_choices,
)
from experiments.studies.history import record_changes
from experiments.studies.lifecycle import NotReady, start_round


@login_required
@require_POST
@transaction.atomic
def add(request: HttpRequest, slug: str) -> HttpResponse:
    """A further round like the first, of new items, for new participants."""
    study, design = editable_design(request.user, slug)
    if len(design.rounds) >= MOST_ROUNDS:
        messages.error(request, f"There are {MOST_ROUNDS} further rounds already.")
        return redirect("study-design", slug)
    number = add_round(study, design, by=request.user)
    return _redirect_to_rounds(request, study, number, change="added")


def add_round(study: Experiment, design: Design, *, by: Any) -> int:
    """Store a further round like the first, of new items where items are sampled; return its number."""
    number = len(design.rounds) + 2
    new = Round(
        number=number,
        kind=design.kind,
        n_lists=design.n_lists,
        items_per_paradigm=design.items_per_paradigm,
        items="new" if design.kind in Design.Kind.sampling() else "any",
        seed=(design.seed or study.seed) + number - 1,
    )
    store_rounds(study, design, [*design.rounds, new.as_dict()], number=number, change="added", by=by)
    return number


@login_required
@require_POST
@transaction.atomic
def change(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """Store what the form says, or show what is wrong with it."""
    study, design = editable_design(request.user, slug)
    design_round = find_round(study, design, number)
    current = [RoundForm(study=study, design_round=design_round)]
    data = with_choices(request.POST, current)
    form = RoundForm(data, study=study, design_round=design_round)
    edits = compare(data, current=current, submitted=[form])
    if edits.is_stale:
        invalid = RoundForm(edits.data, study=study, design_round=design_round)
        conflict = conflict_context(request, study, edits, form_id=f"form-round-{number}")
        return _round_page(request, study, design, invalid, status=409, **conflict)
    if not form.is_valid():
        return _round_page(request, study, design, form)
    change_round(study, design, form, by=request.user)
    return _redirect_to_rounds(request, study, number, change="saved")


def change_round(study: Experiment, design: Design, form: RoundForm, *, by: Any) -> None:
    """Store a valid form of a round."""
    number, rows = form.round.number, list(design.rounds)
    rows[number - 2] = {**form.cleaned_data, "number": number}
    store_rounds(study, design, rows, number=number, change="saved", by=by)


def _round_page(
    request: HttpRequest,
    study: Experiment,
    design: Design,
    form: RoundForm,
    *,
    status: int = 200,
    **conflict: Any,
) -> HttpResponse:
    """Show the design with the form of one round as it was sent."""
    page = DesignForm(instance=design, user=request.user)
    context = design_context(request, study, page, invalid=form) | conflict
    return render(request, "experiments/design.html", context, status=status)


@login_required
@require_POST
@transaction.atomic
def remove(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """Take a round away that has not begun; later ones move up."""
    study, design = editable_design(request.user, slug)
    if is_outdated(request.POST, "rounds", design.rounds):
        messages.error(
            request,
            "Another editor changed the rounds while this page was open. Nothing was taken away: look at the "
            "rounds as they are now.",
        )
        page = DesignForm(instance=design, user=request.user)
        context = design_context(request, study, page)
        return render(request, "experiments/design.html", context, status=409)
    try:
        remove_round(study, design, find_round(study, design, number).number, by=request.user)
    except BadInput as error:
        messages.error(request, str(error))
        return redirect("study-design", slug)
    return _redirect_to_rounds(request, study, number, change="taken away")


def remove_round(study: Experiment, design: Design, number: int, *, by: Any) -> None:
    """Take a round away that has not begun; later ones move up."""
    if number <= study.current_round or _has_sessions(study, number):
        raise BadInput(f"Round {number} has begun: it stays.")
    rows = [row for place, row in enumerate(design.rounds, start=2) if place != number]
    rows = [{**row, "number": place} for place, row in enumerate(rows, start=2)]
    store_rounds(study, design, rows, number=number, change="taken away", by=by)


@login_required
@require_POST
def start(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """Give new participants the lists of this round."""
    study = get_study(request.user, slug, editing=True)
    try:
        start_round(study, number, request.user)
    except NotReady as missing:
        for problem in missing.problems:
            messages.error(request, problem)
    except BadInput as error:
        messages.error(request, str(error)[:1].upper() + str(error)[1:])
    else:
        messages.success(request, f"Round {number} takes participants now.")
    return redirect("study-design", slug)


def editable_design(user: User | AnonymousUser, slug: str) -> tuple[Experiment, Design]:
    """Return the study and its design, locked while a round is stored."""
    study = get_locked_study(user, slug)
    design = get_design(study)
    if design.pk is None:
        design.save()
    return study, design


def find_round(study: Experiment, design: Design, number: int) -> Round:
    """A further round of the design, or 404."""
    for later in list_rounds(design, study)[1:]:
        if later.number == number:
            return later
    raise Http404


def _has_sessions(study: Experiment, number: int) -> bool:
    return study.lists.filter(round__gte=number, sessions__is_test=False).exists()


def store_rounds(
    study: Experiment, design: Design, rows: list[dict[str, Any]], *, number: int, change: str, by: Any
) -> None:
    """Store the further rounds of a locked design with their history."""
    before = {"rounds": design.rounds}
    record_changes(study, by, f"round {change}", before=before, after={"rounds": rows}, round=number)
    design.rounds = rows
    design.save(update_fields=["rounds"])


def _redirect_to_rounds(request: HttpRequest, study: Experiment, number: int, *, change: str) -> HttpResponse:
    messages.success(request, f"Round {number} is {change}.")
    place = "rounds" if change == "taken away" else f"round-{number}"
    return redirect(f"{reverse('study-design', args=[study.slug])}#{place}")
