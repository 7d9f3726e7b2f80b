"""Members of a study with their roles, the log of their actions, and links for reviewers."""

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.text import capfirst
from django.views.decorators.http import require_POST

from analysis.errors import BadInput
from experiments.models import Experiment, Lab
from experiments.pages.access import AuthenticatedRequest, get_study, role_in
from experiments.pages.forms import MemberForm, ask, is_sure
from experiments.pages.teams.invitations import invitations_context
from experiments.teams import review_links as steps
from experiments.teams.members import add_member, is_last, only_owners, remove_member
from experiments.teams.roles import lab_role, owns

ONCE = "new_review_link"  # key in the login session: the link that the next page shows
SHOWN_ENTRIES = 50


class ReviewLinkForm(forms.Form):
    """A new link for reviewers."""

    label = forms.CharField(label="For", max_length=80, strip=True, help_text="Such as the journal.")
    days = forms.TypedChoiceField(
        label="Valid for",
        choices=[(30, "30 days"), (90, "90 days"), (180, "180 days"), (365, "a year")],
        initial=90,
        coerce=int,
    )
    with_materials = forms.BooleanField(
        label="Show the materials, and the files and reports that quote them", required=False
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"auto_id": "review_%s", **kwargs})


def review_links_context(request: HttpRequest, study: Experiment) -> dict[str, Any]:
    """Links for reviewers as owners see them: all of them, a form, and a new link, once."""
    now = timezone.now()
    return {
        "review_links": [
            (row, row.expires_at <= now) for row in study.review_links.select_related("created_by")
        ],
        "review_form": ReviewLinkForm(),
        "new_review_link": request.session.pop(ONCE, ""),
    }


@login_required
@require_POST
def make(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """Make a link; the next page shows it once."""
    study = get_study(request.user, slug, editing=True)
    only_owners(study, request.user)
    form = ReviewLinkForm(request.POST)
    if form.is_valid():
        try:
            token = steps.make_link(study, **form.cleaned_data, by=request.user)
        except BadInput as error:
            messages.error(request, capfirst(str(error)))
        else:
            request.session[ONCE] = request.build_absolute_uri(reverse("shared", args=[token]))
    for field, errors in form.errors.items():
        messages.error(request, f"{form.fields[field].label}: {errors[0]}")
    return redirect(f"{reverse('study-team', args=[slug])}#review-links")


@login_required
@require_POST
def revoke(request: AuthenticatedRequest, slug: str, pk: int) -> HttpResponse:
    """End a link."""
    study = get_study(request.user, slug, editing=True)
    if steps.revoke_link(get_object_or_404(study.review_links, pk=pk), by=request.user):
        messages.success(request, "The link is revoked: it opens nothing any more.")
    return redirect(f"{reverse('study-team', args=[slug])}#review-links")


@login_required
def team(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """Members and their actions; owners add members and change roles."""
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
        "labs": Lab.objects.open_to_studies_by(request.user),
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
