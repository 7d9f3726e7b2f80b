"""The direct link: consent, and with it the beginning of a session.

Only a person who answers the consent screen leaves a trace: previews of the link, GET and HEAD
create nothing. These forms carry a signed key of their own instead of a CSRF cookie, because
in-app browsers and frames drop cookies, and the key also makes a double click one arrival.
"""

import secrets
from dataclasses import replace
from functools import lru_cache

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.cache import add_never_cache_headers
from django.utils.translation import gettext
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from experiments.languages import speaking
from experiments.models import Experiment, ExperimentVersion
from judgments.models import PlatformIdentity, Session
from judgments.screens.device import A_YEAR_S, device_of, device_token, mark_device
from judgments.screens.page import closed, not_found, page
from judgments.screens.session_views import come_in
from judgments.screens.trial_screen import engine_modules, task_script
from judgments.sessions.arrival import Arrival, ConsentRefused
from judgments.sessions.arrive import arrive, has_refused, refuse
from judgments.sessions.enough import check_wanted
from judgments.sessions.lease import SessionOver
from judgments.sessions.opened import opened
from judgments.sessions.places import (
    StudyClosed,
    check_invited,
    check_open,
    comes_again,
)
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
KEY_HERE = secrets.token_urlsafe(24).encode()  # nobody writes this into a consent text
A_MONTH_S = 30 * 24 * 3600


@csrf_exempt
@require_http_methods(["GET", "HEAD", "POST"])
def take(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the consent screen, or act on its answer."""
    version = opened(slug)
    if version is None:
        return _never_opened(request, slug)
    experiment = version.experiment
    earlier = _returning(request, experiment)
    if earlier is not None and not comes_again(earlier, experiment):
        return _enter(earlier)
    protocol = protocol_of(version)
    if _said_no(request, experiment):
        return _refused(request, protocol)
    with speaking(protocol.language):
        try:
            if request.method == "POST":
                return _answered(request, version, protocol, earlier=earlier)
            check_open(experiment)
            check_invited(experiment, earlier)
            check_wanted(experiment)  # here only: whoever is asked for consent may begin
        except StudyClosed as door:
            return closed(request, door.reason, title=protocol.title, language=protocol.language)
        except ConsentRefused:
            return _refused(request, protocol)
        return _ask(request, protocol)


def _never_opened(request: HttpRequest, slug: str) -> HttpResponse:
    """A study that nobody could take yet, or no study."""
    experiment = Experiment.objects.filter(slug=slug, origin=Experiment.Origin.COLLECTED).first()
    if experiment is None:
        return not_found(request)
    return closed(request, "not_open", title=experiment.title, language=experiment.language)


def _ask(request: HttpRequest, protocol: Protocol, *, problem: str = "") -> HttpResponse:
    key = signing.dumps(secrets.token_urlsafe(12), salt="arrival")
    text, task = consent_text(protocol), protocol.task.name
    response = HttpResponse(_consent_page(protocol.title, text, protocol.language, task, problem))
    response.content = response.content.replace(KEY_HERE, key.encode())
    add_never_cache_headers(response)
    return response


@lru_cache(maxsize=100)
def _consent_page(title: str, text: str, language: str, task: str, problem: str) -> str:
    """The consent screen of a study, which differs between participants by its key only."""
    modules = [task_script(task), *engine_modules()]
    told = {"title": title, "text": text, "problem": problem, "key": KEY_HERE.decode(), "modules": modules}
    return page(None, "consent", language=language, **told).content.decode()


def _answered(
    request: HttpRequest, version: ExperimentVersion, protocol: Protocol, *, earlier: Session | None
) -> HttpResponse:
    experiment = version.experiment
    arrival = _arrival(request, earlier=earlier.token if earlier else "")
    answer = request.POST.get("consent")
    if arrival is None or answer not in {"yes", "no"}:
        return _ask(request, protocol, problem=gettext("That did not come through. Please answer once more."))
    if answer == "no":
        refuse(experiment, arrival, consent_text=consent_text(protocol))
        return _remember_no(_refused(request, protocol), experiment)
    token = device_token(request)
    arrival = replace(arrival, device=device_of(experiment, token))
    session = arrive(experiment, arrival, consent_text=consent_text(protocol), version=version)
    return mark_device(_enter(session, _first_screen(request, session)), token)


def _first_screen(request: HttpRequest, session: Session) -> HttpResponse | None:
    """The session's page in answer to the consent itself, which spares the wait for a redirect.

    Only where scripts run: they put the session's address into the address bar, so that a reload asks for
    it and sends no form again.
    """
    if session.is_final or "script" not in request.POST:
        return None
    try:
        return come_in(request, session)
    except (SessionOver, StudyClosed):
        return None


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
    person, token = request.GET.get(PERSON, "")[:200], request.COOKIES.get(_cookie(experiment), "")
    if not person and not token:
        return None
    sessions = Session.objects.filter(experiment=experiment).exclude(status=Session.Status.REFUSED)
    if person:
        identity = PlatformIdentity.objects.filter(
            experiment=experiment, recruiter="direct", external_id=person
        ).first()
        return sessions.filter(participant=identity.participant_id).last() if identity else None
    return sessions.filter(token=token).first()


def _enter(session: Session, screen: HttpResponse | None = None) -> HttpResponse:
    """Show the session's screen, or go there; the cookie brings the person back when the address is lost."""
    response = screen or redirect("session", token=session.token)
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


def _said_no(request: HttpRequest, experiment: Experiment) -> bool:
    """Whether this person refused consent: by the link's name for them, else by the cookie."""
    if person := request.GET.get(PERSON, "")[:200]:
        return has_refused(experiment, person)
    return _no_cookie(experiment) in request.COOKIES


def _refused(request: HttpRequest, protocol: Protocol) -> HttpResponse:
    """Thanked and let go."""
    return page(request, "refused", language=protocol.language, title=protocol.title)


def _remember_no(response: HttpResponse, experiment: Experiment) -> HttpResponse:
    """Leave a word in the browser that says no more than *no*."""
    response.set_cookie(
        _no_cookie(experiment),
        "no",
        max_age=A_YEAR_S,
        path=f"/take/{experiment.slug}/",
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )
    return response


def _no_cookie(experiment: Experiment) -> str:
    return f"refused-{experiment.pk}"


def consent_text(protocol: Protocol) -> str:
    """What is consented to, word for word; a plain text of ours where the study has none."""
    return protocol.consent.strip() or gettext(
        "You are invited to take part in a study about language. Taking part is voluntary, and you may stop "
        "at any time. Your answers are stored under a pseudonym and used for research."
    )
