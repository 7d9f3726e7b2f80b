"""Previews: test sessions of a study as it is, from the studio, or on a phone by a link without login."""

import secrets

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST

from analysis.errors import BadInput
from experiments.limits import LimitReached
from experiments.models import Experiment, ExperimentVersion
from experiments.pages.access import AuthenticatedRequest, get_study
from experiments.studies.lifecycle import NotReady, freeze_preview
from judgments.recruitment.qr_codes import qr_svg
from judgments.screens.arrival_views import client_address, consent_text
from judgments.screens.shared_pages import busy, page
from judgments.sessions.arrival import count_arrival
from judgments.sessions.enrollment import begin_preview
from judgments.sessions.protocol import load_protocol

LINK_SALT, KEY_SALT = "phone-preview", "preview"
MINUTES = 60  # of a link


@login_required
@require_POST
def preview(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """Freeze the study as it is and ask for consent; start a preview session if it is given."""
    study = get_study(request.user, slug, editing=True)
    version = _freeze(request, study)
    if version is None:
        return redirect("study", slug)
    if request.POST.get("consent") == "no":
        messages.info(request, "You declined consent. A participant would now see a thank-you page.")
        return redirect("study", slug)
    return _start_or_ask(request, version)


@login_required
@require_POST
def create_link(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """Freeze the study as it is, and show the link to its preview as a QR code."""
    study = get_study(request.user, slug, editing=True)
    version = _freeze(request, study)
    if version is None:
        return redirect("study", slug)
    address = request.build_absolute_uri(
        reverse("phone-preview", args=[signing.dumps(version.pk, salt=LINK_SALT)])
    )
    context = {
        "study": study,
        "page": "launch",
        "address": address,
        "qr": qr_svg(address),
        "minutes": MINUTES,
        "is_local": request.get_host().partition(":")[0] in {"localhost", "127.0.0.1", "[::1]"},
    }
    return render(request, "judgments/phone_preview.html", context)


# The signed key of the consent page is required instead, as on participants' pages.
@csrf_exempt  # nosemgrep: without-csrf
@require_http_methods(["GET", "POST"])
def try_study(request: HttpRequest, token: str) -> HttpResponse:
    """Ask for consent to the version that was frozen with the link; start a test session if it is given."""
    try:
        version_id = signing.loads(token, salt=LINK_SALT, max_age=60 * MINUTES)
        version = ExperimentVersion.objects.select_related("experiment").get(pk=version_id, is_preview=True)
    except (signing.BadSignature, ExperimentVersion.DoesNotExist):
        return page(request, "phone_preview_expired", language="en", status=410)
    protocol = load_protocol(version)
    if request.POST.get("consent") == "no":
        title, sent_key = protocol.title, request.POST.get("arrival", "")
        return page(request, "refused", language=protocol.language, title=title, key=sent_key)
    try:
        count_arrival(version.experiment, client_address(request))
    except LimitReached as error:
        facts = {"title": protocol.title, "language": protocol.language, "contact": protocol.contact}
        return busy(request, error.retry_after_s, **facts)
    return _start_or_ask(request, version)


def _freeze(request: HttpRequest, study: Experiment) -> ExperimentVersion | None:
    """The frozen preview of a study; None, with messages, where it cannot be shown."""
    try:
        return freeze_preview(study)
    except BadInput as error:
        for problem in error.problems if isinstance(error, NotReady) else [str(error)]:
            messages.error(request, problem)
        return None


def _start_or_ask(request: HttpRequest, version: ExperimentVersion) -> HttpResponse:
    """Start a test session if a page of ours was answered by consent; show that page otherwise."""
    protocol, key = load_protocol(version), _signed_key(request)
    if request.POST.get("consent") == "yes" and key:
        session = begin_preview(version.experiment, version, key=key, consent_text=consent_text(protocol))
        return redirect("session", token=session.token)
    return page(
        request,
        "consent",
        language=protocol.language,
        title=protocol.title,
        text=consent_text(protocol),
        statements=protocol.consent_statements,
        contact=protocol.contact,
        key=signing.dumps(secrets.token_urlsafe(12), salt=KEY_SALT),
        is_preview=True,
    )


def _signed_key(request: HttpRequest) -> str:
    """The signed key of the consent page that was answered; empty if the signature is wrong or old."""
    try:
        return str(signing.loads(request.POST.get("arrival", ""), salt=KEY_SALT, max_age=60 * MINUTES))
    except signing.BadSignature:
        return ""
