"""Preview on a phone: a QR code whose link starts test sessions without login for an hour."""

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
from experiments.models import ExperimentVersion
from experiments.pages.access import AuthenticatedRequest, get_study
from experiments.studies.lifecycle import freeze_preview
from judgments.recruitment.qr_codes import qr_svg
from judgments.screens.arrival_views import consent_text
from judgments.screens.shared_pages import page
from judgments.sessions.enrollment import begin_preview
from judgments.sessions.protocol import load_protocol

SALT, KEY_SALT = "phone-preview", "phone-preview-session"
MINUTES = 60


@login_required
@require_POST
def create_link(request: AuthenticatedRequest, slug: str) -> HttpResponse:
    """Freeze the study as it is, and show the link to its preview as a QR code."""
    study = get_study(request.user, slug, editing=True)
    try:
        version = freeze_preview(study)
    except BadInput as error:
        messages.error(request, str(error))
        return redirect("study", slug)
    token = signing.dumps(version.pk, salt=SALT)
    address = request.build_absolute_uri(reverse("phone-preview", args=[token]))
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
        version_id = signing.loads(token, salt=SALT, max_age=60 * MINUTES)
        version = ExperimentVersion.objects.select_related("experiment").get(pk=version_id, is_preview=True)
    except (signing.BadSignature, ExperimentVersion.DoesNotExist):
        return page(request, "phone_preview_expired", language="en", status=410)
    protocol, answer = load_protocol(version), request.POST.get("consent")
    key = _key(request)
    if answer == "yes" and key:
        session = begin_preview(version.experiment, version, key=key, consent_text=consent_text(protocol))
        return redirect("session", token=session.token)
    if answer == "no":
        title, sent_key = protocol.title, request.POST.get("arrival", "")
        return page(request, "refused", language=protocol.language, title=title, key=sent_key)
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


def _key(request: HttpRequest) -> str:
    """The signed key of the consent page that was answered; empty if the signature is wrong."""
    try:
        return str(signing.loads(request.POST.get("arrival", ""), salt=KEY_SALT, max_age=60 * MINUTES))
    except signing.BadSignature:
        return ""
