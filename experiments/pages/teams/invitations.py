"""Invitations by mail: sent on the pages of teams, accepted on one of their own."""

from smtplib import SMTPException
from typing import Any

import structlog
from allauth.account.adapter import get_adapter
from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.text import capfirst
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from analysis.errors import BadInput
from experiments.accounts.adapters import INVITATION, sends_mail
from experiments.models import Experiment, Invitation, Lab, LabMembership, Membership
from experiments.pages.access import AuthenticatedRequest, get_lab, get_study
from experiments.teams import invitations as steps
from experiments.teams.members import only_owners

log = structlog.get_logger(__name__)
ONCE = "new_invitation"  # key in the login session: the link that the next page shows


class InviteForm(forms.Form):
    """Invite a user by mail."""

    email = forms.EmailField(label="E-mail address", max_length=254)
    role = forms.ChoiceField(label="Role")

    def __init__(self, *args: Any, team: Experiment | Lab, **kwargs: Any) -> None:
        super().__init__(*args, **{"auto_id": "invite_%s", **kwargs})
        role = self.fields["role"]
        assert isinstance(role, forms.ChoiceField)
        role.choices = (LabMembership if isinstance(team, Lab) else Membership).Role.choices
        role.initial = "viewer"


def invitations_context(
    request: HttpRequest, team: Experiment | Lab, *, form: InviteForm | None = None
) -> dict[str, Any]:
    """Invitations as owners see them: the pending ones, a form, and a new link, once."""
    slug = team.slug
    return {
        "invitations": steps.pending(team),
        "invite_form": form or InviteForm(team=team),
        "invite_address": reverse("lab-invite" if isinstance(team, Lab) else "study-invite", args=[slug]),
        "new_link": request.session.pop(ONCE, None),
        "sends_mail": sends_mail(),
        "days": steps.DAYS,
    }


def find_team(request: AuthenticatedRequest, kind: str, slug: str) -> Experiment | Lab:
    """The study or lab, for those who may change its team."""
    team: Experiment | Lab = (
        get_lab(request.user, slug, managing=True)
        if kind == "lab"
        else get_study(request.user, slug, editing=True)
    )
    only_owners(team, request.user)
    return team


def page_of_team(team: Experiment | Lab) -> str:
    """The address of the page that lists the invitations of a team."""
    address = reverse("lab" if isinstance(team, Lab) else "study-team", args=[team.slug])
    return f"{address}#invitations"


@login_required
@require_POST
def invite(request: AuthenticatedRequest, kind: str, slug: str) -> HttpResponse:
    """Invite an address; the link is mailed and shown once."""
    team = find_team(request, kind, slug)
    form = InviteForm(request.POST, team=team)
    if not form.is_valid():
        for field, errors in form.errors.items():
            messages.error(request, f"{form.fields[field].label}: {errors[0]}")
        return redirect(page_of_team(team))
    try:
        invitation, token = steps.invite(team, **form.cleaned_data, by=request.user)
    except BadInput as error:
        messages.error(request, capfirst(str(error)))
    else:
        _deliver(request, invitation, token)
    return redirect(page_of_team(team))


@login_required
@require_POST
def resend(request: AuthenticatedRequest, kind: str, slug: str, pk: int) -> HttpResponse:
    """Send an invitation again, with a new link."""
    team = find_team(request, kind, slug)
    invitation = get_object_or_404(steps.pending(team), pk=pk)
    try:
        token = steps.renew(invitation, by=request.user)
    except BadInput as error:
        messages.error(request, capfirst(str(error)))
    else:
        _deliver(request, invitation, token)
    return redirect(page_of_team(team))


@login_required
@require_POST
def revoke(request: AuthenticatedRequest, kind: str, slug: str, pk: int) -> HttpResponse:
    """End an invitation."""
    team = find_team(request, kind, slug)
    if steps.revoke(get_object_or_404(steps.pending(team), pk=pk), by=request.user):
        messages.success(request, "The invitation is revoked: its link opens nothing any more.")
    return redirect(page_of_team(team))


def invitation_link(request: HttpRequest, token: str) -> str:
    """The address that the invited user opens."""
    return request.build_absolute_uri(reverse("invitation-link", args=[token]))


def mail_invitation(invitation: Invitation, link: str, *, by: Any) -> bool | None:
    """Mail the link; None where mail does not leave this machine, False where the server refused it."""
    if not sends_mail():
        return None
    context: dict[str, Any] = {"team": invitation.team, "role": invitation.role, "by": by, "link": link}
    context |= {"is_lab": invitation.lab is not None, "days": steps.DAYS}
    try:
        get_adapter().render_mail("account/email/invitation", invitation.email, context).send()
    except (SMTPException, OSError) as error:
        log.warning("invitation not sent", error=type(error).__name__)
        return False
    return True


def _deliver(request: AuthenticatedRequest, invitation: Invitation, token: str) -> None:
    """Mail the link where mail leaves this machine; the next page shows it once in any case."""
    link = invitation_link(request, token)
    request.session[ONCE] = {"link": link, "email": invitation.email}
    is_sent = mail_invitation(invitation, link, by=request.user)
    if is_sent:
        messages.success(request, f"The invitation to {invitation.email} was sent.")
    elif is_sent is False:
        messages.error(request, "The mail server did not take the invitation. Send the link below yourself.")


@never_cache
def open_link(request: HttpRequest, token: str) -> HttpResponse:
    """Keep the token in the browser's session, so that no further address has it."""
    request.session[INVITATION] = token
    return redirect("invitation")


@never_cache
def invitation(request: HttpRequest) -> HttpResponse:
    """Offer and account of an invitation; it is accepted by a separate request."""
    offered = steps.find_invitation(request.session.get(INVITATION, ""))
    if offered is None:
        request.session.pop(INVITATION, None)
        return render(request, "experiments/invitation.html", {"invitation": None}, status=404)
    user = request.user
    if request.method == "POST" and user.is_authenticated:
        is_first = steps.accept(offered, user)
        del request.session[INVITATION]
        if not is_first:
            return render(request, "experiments/invitation.html", {"invitation": None}, status=404)
        messages.success(request, f"Welcome: you belong to {offered.team} now.")
        return redirect("lab" if offered.lab else "study", offered.team.slug)
    context = {
        "invitation": offered,
        "role": offered.role,
        "is_confirmed": user.is_authenticated and steps.is_for(offered, user),
    }
    return render(request, "experiments/invitation.html", context)
