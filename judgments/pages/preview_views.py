"""Try the study as a participant: from consent to code, never counted."""

import secrets

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from analysis.errors import BadInput
from experiments.lifecycle import NotReady, freeze_preview
from experiments.models import Experiment, ExperimentVersion
from experiments.pages.access import get_study
from judgments.screens.arrival_views import consent_text
from judgments.screens.page import page
from judgments.sessions.preview import begin_preview
from judgments.sessions.protocol import protocol_of

SALT = "preview"


@login_required
@require_POST
def preview(request: HttpRequest, slug: str) -> HttpResponse:
    """Keep the study as it is now and ask for consent; with the answer, begin or go back."""
    study = get_study(request.user, slug, editing=True)
    try:
        version = freeze_preview(study)
    except NotReady as missing:
        for problem in missing.problems:
            messages.error(request, problem)
        return redirect("study", slug)
    except BadInput as error:
        messages.error(request, str(error))
        return redirect("study", slug)
    answer, key = request.POST.get("consent"), _key(request)
    if answer == "no":
        messages.info(request, "You did not agree: a participant would be thanked and let go.")
        return redirect("study", slug)
    if answer == "yes" and key:
        return _begin(study, version, key)
    return _ask(request, version)


def _begin(study: Experiment, version: ExperimentVersion, key: str) -> HttpResponse:
    session = begin_preview(study, version, key=key, consent_text=consent_text(protocol_of(version)))
    return redirect("session", token=session.token)


def _ask(request: HttpRequest, version: ExperimentVersion) -> HttpResponse:
    protocol = protocol_of(version)
    return page(
        request,
        "consent",
        language=protocol.language,
        title=protocol.title,
        text=consent_text(protocol),
        key=signing.dumps(secrets.token_urlsafe(12), salt=SALT),
        is_preview=True,
    )


def _key(request: HttpRequest) -> str:
    """The key of the consent page this answer comes from; empty when it is none of ours."""
    try:
        return str(signing.loads(request.POST.get("arrival", ""), salt=SALT))
    except signing.BadSignature:
        return ""
