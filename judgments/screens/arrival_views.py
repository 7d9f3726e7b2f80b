"""The direct link: consent, and with it the beginning of a session.

Only a person who answers the consent screen leaves a trace: previews of the link, GET and HEAD
create nothing. These forms carry a signed key of their own instead of a CSRF cookie, because
in-app browsers and frames drop cookies, and the key also makes a double click one arrival.
"""

import secrets

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from experiments.languages import speaking
from experiments.models import Experiment
from judgments.models import PlatformIdentity, Session
from judgments.screens.page import closed, not_found, page
from judgments.sessions.arrive import Arrival, arrive, refuse
from judgments.sessions.enough import check_wanted
from judgments.sessions.places import StudyClosed, check_invited, check_open, comes_again
from judgments.sessions.protocol import Protocol, protocol_of

PERSON = "participant"  # what a link may call a person; kept in the vault only
PERSONAL = {
    "participant",
    "prolific_pid",
    "session_id",
    "workerid",
    "assignmentid",
    "pid",
    "id",
    "email",
    "name",
}
A_MONTH_S = 30 * 24 * 3600


@csrf_exempt
@require_http_methods(["GET", "HEAD", "POST"])
def take(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the consent screen, or act on its answer."""
    experiment = Experiment.objects.filter(slug=slug, origin=Experiment.Origin.COLLECTED).first()
    version = experiment.current_version() if experiment else None
    if experiment is None:
        return not_found(request)
    if version is None:
        return closed(request, "not_open", title=experiment.title, language=experiment.language)
    earlier = _returning(request, experiment)
    if earlier is not None and not comes_again(earlier, experiment):
        return _enter(earlier)
    protocol = protocol_of(version)
    with speaking(protocol.language):
        try:
            if request.method == "POST":
                return _answered(request, experiment, protocol, earlier=earlier)
            check_open(experiment)
            check_invited(experiment, earlier)
            check_wanted(experiment)  # here only: whoever is asked for consent may begin
        except StudyClosed as door:
            return closed(request, door.reason, title=protocol.title, language=protocol.language)
        return _ask(request, protocol)


def _ask(request: HttpRequest, protocol: Protocol, *, problem: str = "") -> HttpResponse:
    return page(
        request,
        "consent",
        language=protocol.language,
        title=protocol.title,
        text=consent_text(protocol),
        key=signing.dumps(secrets.token_urlsafe(12), salt="arrival"),
        problem=problem,
    )


def _answered(
    request: HttpRequest, experiment: Experiment, protocol: Protocol, *, earlier: Session | None
) -> HttpResponse:
    arrival = _arrival(request, earlier=earlier.token if earlier else "")
    answer = request.POST.get("consent")
    if arrival is None or answer not in {"yes", "no"}:
        return _ask(request, protocol, problem=gettext("That did not come through. Please answer once more."))
    if answer == "no":
        refuse(experiment, arrival, consent_text=consent_text(protocol))
        return page(request, "refused", language=protocol.language, title=protocol.title)
    return _enter(arrive(experiment, arrival, consent_text=consent_text(protocol)))


def _arrival(request: HttpRequest, *, earlier: str = "") -> Arrival | None:
    """Who arrives, if the form is one of ours."""
    try:
        key = signing.loads(request.POST.get("arrival", ""), salt="arrival")
    except signing.BadSignature:
        return None
    link = {name[:40]: value[:200] for name, value in request.GET.items() if name.lower() not in PERSONAL}
    return Arrival(
        key=key,
        external_id=request.GET.get(PERSON, "")[:200],
        link=dict(list(link.items())[:20]),
        user_agent=request.headers.get("user-agent", ""),
        earlier=earlier,
    )


def _returning(request: HttpRequest, experiment: Experiment) -> Session | None:
    """The session this person already has here: by the link's name for them, else by the cookie."""
    sessions = Session.objects.filter(experiment=experiment).exclude(status=Session.Status.REFUSED)
    if person := request.GET.get(PERSON, "")[:200]:
        identity = PlatformIdentity.objects.filter(
            experiment=experiment, recruiter="direct", external_id=person
        ).first()
        return sessions.filter(participant=identity.participant_id).last() if identity else None
    token = request.COOKIES.get(_cookie(experiment), "")
    return sessions.filter(token=token).first() if token else None


def _enter(session: Session) -> HttpResponse:
    """Go to the session; the cookie brings the person back when the address is lost."""
    response = redirect("session", token=session.token)
    response.set_cookie(
        _cookie(session.experiment),
        session.token,
        max_age=A_MONTH_S,
        path=f"/take/{session.experiment.slug}/",
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )
    return response


def _cookie(experiment: Experiment) -> str:
    return f"study-{experiment.pk}"


def consent_text(protocol: Protocol) -> str:
    """What is consented to, word for word; a plain text of ours where the study has none."""
    return protocol.consent.strip() or gettext(
        "You are invited to take part in a study about language. Taking part is voluntary, and you may stop "
        "at any time. Your answers are stored under a pseudonym and used for research."
    )
