"""Who belongs to a study, with which role, and who did what."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.text import capfirst
from django.views.decorators.http import require_POST

from analysis.errors import BadInput
from experiments.models import Lab
from experiments.pages.access import AuthenticatedRequest, get_study, role_in
from experiments.pages.confirm import ask, is_sure
from experiments.pages.forms import MemberForm
from experiments.pages.teams.invitations import invitations_context
from experiments.pages.teams.review_links import review_links_context
from experiments.teams.members import add_member, is_last, remove_member
from experiments.teams.roles import lab_role, owns

SHOWN_ENTRIES = 50


@login_required
def team(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """Members and what they did; owners add people and change roles."""
    study = get_study(request.user, slug, editing=request.method == "POST")
    form = MemberForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            member = add_member(
                study, form.cleaned_data["username"], role=form.cleaned_data["role"], by=request.user
            )
        except BadInput as error:
            form.add_error("username", capfirst(str(error)))
        else:
            messages.success(request, f"{member.user} is now {member.get_role_display()} of this study.")
            return redirect("study-team", slug)
    lab_members = study.lab.memberships.select_related("user") if study.lab else []
    context: dict[str, Any] = {
        "study": study,
        "page": "team",
        "form": form,
        "members": study.memberships.select_related("user"),
        "entries": study.audit.select_related("user")[:SHOWN_ENTRIES],
        "is_owner": owns(request.user, study),
        "lab_members": lab_members,
        "lab_role": lab_role(request.user, study.lab) if study.lab else None,
        "labs": Lab.objects.taking_studies_of(request.user),
    }
    if context["is_owner"]:
        context |= invitations_context(request, study) | review_links_context(request, study)
    return render(request, "experiments/team.html", context)


@login_required
@require_POST
def remove(request: AuthenticatedRequest, slug: str, member_id: int) -> HttpResponse:
    """Remove a member; members may remove themselves, owners anybody."""
    study = get_study(request.user, slug)
    member = get_object_or_404(study.memberships.select_related("user"), pk=member_id)
    if member.user == request.user and not is_sure(request) and not is_last(study, member):
        return ask(
            request,
            f"Leave {study.title}?",
            "You will not see this study any more. Only an owner can let you in again.",
            yes="Leave it",
            no="Stay",
            back=reverse("study-team", args=[slug]),
            study=study,
            page="team",
        )
    try:
        remove_member(study, member, by=request.user)
    except BadInput as error:
        messages.error(request, capfirst(str(error)))
    else:
        messages.success(request, f"{member.user} no longer belongs to this study.")
    if not role_in(request.user, study):
        return redirect("home")
    return redirect("study-team", slug)
