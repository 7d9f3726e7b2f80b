"""Campaigns of platforms on the researchers' pages: access, their mode, and the result of an action."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_POST

from analysis.errors import BadInput
from experiments.models import Campaign, Experiment, Mode, PlatformAccount
from experiments.pages.access import AuthenticatedRequest, get_study
from judgments.models import PlatformCall
from judgments.recruitment.credentials import is_simulated
from judgments.recruitment.recruiter import RECRUITERS, adapter, platform_label

View = Callable[..., HttpResponse]
Action = Callable[..., HttpResponse | None]


@dataclass(frozen=True)
class ModeNote:
    """Return the effect of an account's mode on money, for the band on every page of a campaign."""

    is_live: bool
    word: str
    text: str


def mode_note(account: PlatformAccount) -> ModeNote:
    """Say whether calls with this account spend money."""
    label = platform_label(account.platform)
    if is_simulated(account):
        text = f"An example with simulated participants and payments; nothing is ever sent to {label}."
        return ModeNote(False, "Test mode, simulated", text)
    if account.mode == Mode.LIVE:
        return ModeNote(True, "Live", f"Decisions and payments reach {label} and move real money.")
    if account.platform == "mturk":
        text = "Calls go to MTurk’s sandbox: only test workers, no real money."
        if host := urlsplit(settings.MTURK_ENDPOINT).hostname:
            text = f"Calls go to a stand-in for MTurk’s sandbox at {host}: no worker of MTurk sees them."
        return ModeNote(False, "Sandbox", text)
    if account.platform != "prolific":
        return _plugin_mode_note(account.platform)
    host = urlsplit(settings.PROLIFIC_URL).hostname or ""
    if host == "api.prolific.com":
        text = "Drafts are made and checked on Prolific; nothing is published, decided or paid."
    else:
        text = f"Calls go to a stand-in for Prolific at {host}: no recruitment and no payments."
    return ModeNote(False, "Test mode", text)


def _plugin_mode_note(platform: str) -> ModeNote:
    """Return the effect of test mode on a plugin's platform."""
    label = platform_label(platform)
    if platform in RECRUITERS and adapter(platform).has_sandbox:
        return ModeNote(False, "Sandbox", f"Calls go to the sandbox of {label}: no real money.")
    return ModeNote(False, "Test mode", f"Nothing is published, decided or paid on {label}.")


def platform_campaigns(study: Experiment) -> QuerySet[Campaign]:
    """The study's campaigns on platforms with an account, the newest first."""
    campaigns = Campaign.objects.filter(experiment=study, account__isnull=False)
    return campaigns.select_related("account", "experiment")


def get_campaign(study: Experiment, number: int) -> Campaign:
    """A campaign of the study, or 404."""
    return get_object_or_404(platform_campaigns(study), pk=number)


def sentence(error: BadInput) -> str:
    """Return an error as a sentence for a message on the page."""
    text = f"{error.message} {error.remedy}".strip()
    return text[:1].upper() + text[1:]


def action(back: Callable[..., HttpResponse]) -> Callable[[Action], View]:
    """Wrap an action of editors: POST only; an error becomes a message, then ``back`` leads to the page.

    The view returns a response of its own, or None.
    """

    def wrap(view: Action) -> View:
        @login_required
        @require_POST
        @wraps(view)
        def view_with_campaign(request: AuthenticatedRequest, slug: str, **numbers: int) -> HttpResponse:
            study = get_study(request.user, slug, editing=True)
            try:
                response = view(request, study, **numbers)
            except BadInput as error:
                messages.error(request, sentence(error))
                response = None
            return response or back(study, **numbers)

        return view_with_campaign

    return wrap


def report(request: HttpRequest, call: PlatformCall, *, done: str) -> None:
    """Show what became of a call: done, refused, waiting or unknown."""
    if call.state == PlatformCall.State.CONFIRMED:
        messages.success(request, done)
    elif call.state == PlatformCall.State.UNKNOWN:
        messages.error(
            request, f"It is unknown whether this happened. {call.problem} Nothing is sent again before that."
        )
    else:
        messages.error(request, call.problem or "This was not sent yet. Try again in a moment.")


def campaign_context(study: Experiment, campaign: Campaign, **more: Any) -> dict[str, Any]:
    """Return the context of every page of a campaign: the study, the campaign and its mode."""
    assert campaign.account is not None
    return {
        "study": study,
        "page": "campaigns",
        "campaign": campaign,
        "platform": platform_label(campaign.recruiter),
        "mode": mode_note(campaign.account),
        **more,
    }
