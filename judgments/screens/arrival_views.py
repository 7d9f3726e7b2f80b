"""Study link: the consent screen, and with consent the start of a session with the browser's token."""

import secrets
from dataclasses import replace
from typing import Any

from allauth.account.adapter import get_adapter
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.cache import add_never_cache_headers
from django.utils.crypto import salted_hmac
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from analysis.plugins.registry import PluginFailure
from experiments.limits import LimitReached
from experiments.models import Experiment, ExperimentVersion
from experiments.studies.languages import interface_translation
from experiments.studies.wording import gettext
from judgments.models import Judgment, PlatformIdentity, Session
from judgments.recruitment.recruiter import ArrivalLink, adapter, hand_in_form
from judgments.screens.session_views import render_current_step
from judgments.screens.shared_pages import (
    allow_frame,
    busy,
    not_found,
    page,
    remember_protocol,
    render_closed,
    study_at,
)
from judgments.screens.trial_screen import engine_modules, task_script
from judgments.sessions.arrival import (
    Arrival,
    ConsentRefused,
    clean_value,
    count_arrival,
    new_key,
    newest_version,
    read_key,
)
from judgments.sessions.enrollment import arrive, record_refusal, take_back_refusal
from judgments.sessions.leases import SessionOver
from judgments.sessions.places import (
    StudyClosed,
    check_channel,
    check_invited,
    check_open,
    check_target,
    may_join_next_round,
)
from judgments.sessions.protocol import Protocol, load_protocol
from judgments.sessions.removal import hand_over

# Sent to ``/take/`` only; each study stores its own salted hash, so that studies cannot be joined over it.
COOKIE, A_YEAR_S = "device", 365 * 24 * 3600
HASH_LENGTH, MAX_TOKEN_LENGTH = 32, 100


MAX_LABEL_CHARACTERS = 40
LEADS_BACK = {"full", "closed"}  # reasons for which a channel takes its participants back
KEY_PLACEHOLDER = secrets.token_urlsafe(24).encode()  # random, so that no consent text contains it
MAX_CONSENT_PAGES = 100
A_MONTH_S = 30 * 24 * 3600
COOKIE_PATH = "/take/"  # a study answers at two addresses; the cookie's name tells the study
_consent_pages: dict[tuple[str, str, str, bool], tuple[Protocol, str]] = {}


def device_token(request: HttpRequest) -> str:
    """The browser's token, or a new one."""
    token = request.COOKIES.get(COOKIE, "")
    return token if token.isascii() and 0 < len(token) <= MAX_TOKEN_LENGTH else secrets.token_urlsafe(18)


def hash_device(experiment: Experiment, token: str) -> str:
    """The study's salted hash of a token (128 bits)."""
    return salted_hmac(f"device:{experiment.pk}", token, algorithm="sha256").hexdigest()[:HASH_LENGTH]


def set_device_cookie(response: HttpResponse, token: str) -> HttpResponse:
    """Set the cookie with the token."""
    response.set_cookie(
        COOKIE,
        token,
        max_age=A_YEAR_S,
        path="/take/",
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )
    return response


# Participants have no login; platforms link and send forms to here.
# GET and HEAD store nothing. The form carries a signed key instead of a CSRF cookie, because in-app browsers
# and frames drop cookies; the key also makes a double click one arrival.
@csrf_exempt  # nosemgrep: without-csrf
@require_http_methods(["GET", "HEAD", "POST"])
def consent(request: HttpRequest, slug: str, recruiter: str = "direct", detail: str = "") -> HttpResponse:
    """Show the consent screen, or process its answer; ``detail`` is the last part of a platform's address."""
    platform, version = adapter(recruiter), newest_version(slug)
    if version is None:
        return allow_frame(not_open_page(request, slug), platform)
    experiment, protocol = version.experiment, load_protocol(version)
    link = platform.identify(request, experiment, detail)
    if link is None:
        return not_found(request)
    if link.clean_address:
        response = redirect(link.clean_address)
        add_never_cache_headers(response)
        return response
    if platform.is_framed:
        return allow_frame(_framed_arrival(request, version, link), platform)
    earlier = _existing_session(request, experiment, link, is_shared=protocol.lab_mode)
    if earlier is not None and link.submission_parameter and not may_join_next_round(earlier, experiment):
        identity = PlatformIdentity.objects.get(participant=earlier.participant_id)
        if not link.is_same_submission(identity):  # no code of the earlier submission is shown
            return render_closed(
                request,
                "took_part",
                title=protocol.title,
                language=protocol.language,
                contact=protocol.contact,
                return_link=link.return_address("repeated"),
            )
    return _answer_arrival(request, version, link, earlier=earlier)


def _framed_arrival(request: HttpRequest, version: ExperimentVersion, link: ArrivalLink) -> HttpResponse:
    """Page inside the platform's site, where cookies are not sent: the ids of the link find the session.

    Both ids are needed, because a returned assignment goes to the next worker under the same id.
    """
    experiment, protocol = version.experiment, load_protocol(version)
    remember_protocol(request, protocol)
    if link.is_preview:
        with interface_translation(protocol.language):
            text = consent_text(protocol)
        return _platform_page(request, "hit_preview", protocol, text=text)
    same, other = _framed_sessions(experiment, link)
    if same is not None and same.is_final and not may_join_next_round(same, experiment):
        # Who shows only ids sees no code, no withdrawal and no answers: the way to submit, and nothing else.
        return _platform_page(request, "hit_last_step", protocol, hit=hand_in_form(same), took_part=False)
    if same is None and other is not None and not may_join_next_round(other, experiment):
        return _platform_page(request, "hit_last_step", protocol, hit=link.hand_in, took_part=True)
    response = _answer_arrival(request, version, link, earlier=same or other)
    if other is not None and same is None:  # another round of the study, in another assignment
        PlatformIdentity.objects.filter(participant=other.participant_id).update(parameters=link.personal)
    return response


def _framed_sessions(experiment: Experiment, link: ArrivalLink) -> tuple[Session | None, Session | None]:
    """The participant's session of this submission, and one of another in which something was done."""
    assert link.channel is not None  # a frame is of a campaign
    identities = PlatformIdentity.objects.with_id(experiment, link.external_id)
    same = other = None
    for identity in identities.filter(recruiter=link.channel.recruiter):
        sessions = Session.objects.filter(
            participant=identity.participant_id, campaign__mode=link.channel.mode
        ).exclude(status=Session.Status.REFUSED)
        session = sessions.select_related("experiment", "version", "campaign").order_by("pk").last()
        if session is None:
            continue
        if link.is_same_submission(identity):
            same = session
        elif session.is_final or Judgment.objects.filter(trial__session=session).exists():
            other = session
    return same, other


def _platform_page(request: HttpRequest, template: str, protocol: Protocol, **context: Any) -> HttpResponse:
    return page(
        request,
        template,
        language=protocol.language,
        title=protocol.title,
        contact=protocol.contact,
        **context,
    )


def _answer_arrival(
    request: HttpRequest, version: ExperimentVersion, link: ArrivalLink, *, earlier: Session | None
) -> HttpResponse:
    """Show the consent screen, process its answer, or go on with the earlier session."""
    experiment, protocol, channel = version.experiment, load_protocol(version), link.channel
    remember_protocol(request, protocol)
    if request.method == "POST" and request.POST.get("consent") == "reconsider":
        return _take_back(request, experiment)
    if earlier is not None and not may_join_next_round(earlier, experiment):
        return _enter_session(earlier)
    if not protocol.lab_mode and _has_refused(request, experiment, link):
        return _refusal_page(request, protocol, link)
    with interface_translation(protocol.language):
        try:
            if link.is_expired:
                raise StudyClosed("closed")
            if request.method == "POST":
                return _process_consent(request, version, protocol, link=link, earlier=earlier)
            check_open(experiment)
            check_invited(experiment, earlier)
            check_channel(channel)
            check_target(experiment)  # before consent only: a participant who was asked may start
        except StudyClosed as error:
            return render_closed(
                request,
                error.reason,
                title=protocol.title,
                language=protocol.language,
                contact=protocol.contact,
                return_link=link.return_address("over_quota") if error.reason in LEADS_BACK else "",
                hit=link.hand_in,
            )
        except ConsentRefused:
            return _refusal_page(request, protocol, link)
        except LimitReached as error:
            return busy(
                request,
                error.retry_after_s,
                title=protocol.title,
                language=protocol.language,
                contact=protocol.contact,
            )
        return _consent_response(request, experiment, protocol, is_framed=link.hand_in is not None)


def not_open_page(request: HttpRequest, slug: str) -> HttpResponse:
    """Page of a study that was never opened, or of no study."""
    experiment = study_at(slug)
    if experiment is None:
        return not_found(request)
    return render_closed(
        request,
        "not_open",
        title=experiment.shown_title,
        language=experiment.language,
        contact=experiment.contact,
    )


def _consent_response(
    request: HttpRequest,
    experiment: Experiment,
    protocol: Protocol,
    *,
    problem: str = "",
    is_framed: bool = False,
) -> HttpResponse:
    key = new_key(experiment)
    html = _consent_page(experiment.link_slug, protocol, problem, is_framed=is_framed)
    response = HttpResponse(html)
    response.content = response.content.replace(KEY_PLACEHOLDER, key.encode())
    add_never_cache_headers(response)
    return response


def _consent_page(slug: str, protocol: Protocol, problem: str, *, is_framed: bool) -> str:
    """The consent screen with a placeholder for the key, the only part that differs between participants."""
    key = (slug, protocol.language, problem, is_framed)
    cached, html = _consent_pages.get(key, (None, ""))
    if cached is not protocol:  # protocols are cached by version, so another one has other texts
        if len(_consent_pages) >= MAX_CONSENT_PAGES:
            _consent_pages.clear()
        html = _render_consent(slug, protocol, problem, is_framed=is_framed)
        _consent_pages[key] = (protocol, html)
    return html


def _render_consent(slug: str, protocol: Protocol, problem: str, *, is_framed: bool) -> str:
    context: dict[str, Any] = {
        "title": protocol.title,
        "text": consent_text(protocol),
        "statements": protocol.consent_statements,
        "contact": protocol.contact,
        "slug": slug,
        "problem": problem,
        "is_framed": is_framed,
        "key": KEY_PLACEHOLDER.decode(),
        "modules": [task_script(protocol.task.name), *engine_modules()],
        "asks_label": protocol.lab_mode,
        "longest_label": MAX_LABEL_CHARACTERS,
    }
    return page(None, "consent", language=protocol.language, **context).content.decode()


def _process_consent(
    request: HttpRequest,
    version: ExperimentVersion,
    protocol: Protocol,
    *,
    link: ArrivalLink,
    earlier: Session | None,
) -> HttpResponse:
    experiment = version.experiment
    key, answer = read_key(experiment, request.POST.get("arrival", "")), request.POST.get("consent")
    if key is None or answer not in {"yes", "no"}:
        problem = gettext("That did not come through. Please answer once more.")
        return _consent_response(request, experiment, protocol, problem=problem, is_framed=bool(link.hand_in))
    ticked = [
        {**statement, "ticked": f"statement_{number}" in request.POST}
        for number, statement in enumerate(protocol.consent_statements, start=1)
    ]
    if answer == "yes" and any(row["required"] and not row["ticked"] for row in ticked):
        problem = gettext("Please tick each statement that is not optional.")
        return _consent_response(request, experiment, protocol, problem=problem, is_framed=bool(link.hand_in))
    count_arrival(experiment, client_address(request))
    arrival = Arrival(
        key=key,
        recruiter=link.channel.recruiter if link.channel else "direct",
        campaign=link.channel,
        external_id=link.external_id,
        is_verified=link.is_verified,
        personal=link.personal,
        link=link.other,
        user_agent=request.headers.get("user-agent", ""),
        earlier=earlier.token if earlier else "",
        statements=tuple(ticked),
    )
    if protocol.lab_mode:
        _hand_over_previous(request, experiment)
    if answer == "no":
        record_refusal(experiment, arrival, consent_text=consent_record(protocol))
        response = _refusal_page(request, protocol, link)
        return response if protocol.lab_mode else _set_refusal_cookie(response, request, experiment)
    if protocol.lab_mode:  # a shared computer is not remembered
        label = request.POST.get("label", "").strip() or link.other.get("label", "")
        arrival = replace(arrival, label=clean_value(label, MAX_LABEL_CHARACTERS))
        session = arrive(experiment, arrival, consent_text=consent_record(protocol), version=version)
        return _enter_session(session, _first_screen(request, session))
    token = device_token(request)
    arrival = replace(arrival, device=hash_device(experiment, token), key=link.key or key)
    session = arrive(experiment, arrival, consent_text=consent_record(protocol), version=version)
    return set_device_cookie(_enter_session(session, _first_screen(request, session)), token)


def _first_screen(request: HttpRequest, session: Session) -> HttpResponse | None:
    """The session's first page as the response to the consent form, which saves a redirect.

    Only with JavaScript, which replaces the address by the session's, so that a reload does not send the form
    again.
    """
    if session.is_final or "script" not in request.POST:
        return None
    try:
        return render_current_step(request, session)
    except (SessionOver, StudyClosed, PluginFailure):  # the session's own address says it
        return None


def client_address(request: HttpRequest) -> str:
    """Network address of the participant's browser, behind as many proxies as the settings trust."""
    address: str = get_adapter().get_client_ip(request)
    return address


def _existing_session(
    request: HttpRequest, experiment: Experiment, link: ArrivalLink, *, is_shared: bool
) -> Session | None:
    """The participant's session in this study: by a signed link, else by the cookie of this browser.

    With an id in the link, the cookie counts only if its session began with that id: on a shared computer
    the person before may have had another one. On a computer that a lab shares it never counts.
    """
    token = "" if is_shared else request.COOKIES.get(_cookie(experiment), "")
    if not token and not link.is_verified:
        return None  # most arrivals; composing a query that is not sent took a quarter of the link's CPU time
    sessions = Session.objects.filter(experiment=experiment).exclude(status=Session.Status.REFUSED)
    if link.is_verified:
        recruiter = link.channel.recruiter if link.channel else "direct"
        identities = PlatformIdentity.objects.with_id(experiment, link.external_id)
        identity = identities.filter(recruiter=recruiter, is_verified=True).first()
        if identity is not None:
            return sessions.filter(participant=identity.participant_id).last()
    session = sessions.filter(token=token).first() if token else None
    if session is None or not link.external_id:
        return session
    began_with_id = PlatformIdentity.objects.with_id(experiment, link.external_id).filter(
        participant=session.participant_id
    )
    return session if began_with_id.exists() else None


def _enter_session(session: Session, screen: HttpResponse | None = None) -> HttpResponse:
    """Show the session's screen or redirect to it; sets the cookie that finds the session again."""
    response = screen or redirect("session", token=session.token)
    response.set_cookie(
        _cookie(session.experiment),
        session.token,
        max_age=A_MONTH_S,
        path=COOKIE_PATH,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )
    return response


def _cookie(experiment: Experiment) -> str:
    return f"study-{experiment.pk}"


def _has_refused(request: HttpRequest, experiment: Experiment, link: ArrivalLink) -> bool:
    """Whether consent was refused in this browser; a link with an id may be of another person."""
    return not link.external_id and bool(request.COOKIES.get(_refusal_cookie(experiment)))


def _hand_over_previous(request: HttpRequest, experiment: Experiment) -> None:
    """Close the pages of the session before on this computer, if it has ended."""
    token = request.COOKIES.get(_cookie(experiment), "")
    previous = Session.objects.filter(experiment=experiment, token=token).first() if token else None
    if previous is not None:
        hand_over(previous)


def _refusal_page(request: HttpRequest, protocol: Protocol, link: ArrivalLink) -> HttpResponse:
    """Thank a participant who refused consent, with a way back for those who pressed the wrong button."""
    context: dict[str, Any] = {
        "title": protocol.title,
        "key": request.POST.get("arrival", ""),
        "return_link": link.return_address("refused"),
        "hit": link.hand_in,
    }
    return page(request, "refused", language=protocol.language, contact=protocol.contact, **context)


def _take_back(request: HttpRequest, experiment: Experiment) -> HttpResponse:
    """Forget a refusal and ask for consent again."""
    # The form has the key right after the refusal, the cookie later; an old key deletes no record, but the
    # cookie goes all the same.
    for value in (request.POST.get("arrival", ""), request.COOKIES.get(_refusal_cookie(experiment), "")):
        if key := read_key(experiment, value):
            take_back_refusal(experiment, key)
    response = redirect(request.get_full_path())
    response.delete_cookie(_refusal_cookie(experiment), path=COOKIE_PATH, samesite="Lax")
    return response


def _set_refusal_cookie(response: HttpResponse, request: HttpRequest, experiment: Experiment) -> HttpResponse:
    """Set a cookie with the key of the refusal, so that it can be taken back, and nothing else."""
    response.set_cookie(
        _refusal_cookie(experiment),
        request.POST["arrival"],
        max_age=A_YEAR_S,
        path=COOKIE_PATH,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )
    return response


def _refusal_cookie(experiment: Experiment) -> str:
    return f"refused-{experiment.pk}"


def consent_record(protocol: Protocol) -> str:
    """The text with its statements, whose digest is stored with the decision."""
    statements = [f"- {statement['text']}" for statement in protocol.consent_statements]
    return "\n".join([consent_text(protocol), *statements])


def consent_text(protocol: Protocol) -> str:
    """The text of the consent screen; a default text if the study has none."""
    return protocol.consent.strip() or gettext(
        "You are invited to take part in a study about language. Taking part is voluntary, and you may stop "
        "at any time. Your answers are stored under a pseudonym and used for research."
    )
