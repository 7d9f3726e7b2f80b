"""Study link: the consent screen, and with consent the start of a session.

GET and HEAD store nothing, so that previews of the link leave no trace. The form carries a signed key
instead of a CSRF cookie, because in-app browsers and frames drop cookies; the key also makes a double click
one arrival.

Who can show only an id begins a session of their own, whether or not the id took part before: its earlier
sessions open with the cookie of the browser that began them, or with a signed link.
"""

import secrets
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any

from allauth.account.adapter import get_adapter
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.cache import add_never_cache_headers
from django.utils.crypto import salted_hmac
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from analysis.plugins.registry import PluginFailure
from experiments.limits import LimitReached
from experiments.models import Campaign, Experiment, ExperimentVersion
from experiments.studies.completion_url import filled_address
from experiments.studies.languages import interface_translation
from experiments.studies.wording import gettext
from judgments.models import PlatformIdentity, Session
from judgments.recruitment.mturk.external_question import HitForm
from judgments.recruitment.panel import channel_of, id_parameters
from judgments.recruitment.prolific.arrivals import PROLIFIC, opened, read_entry, sealed
from judgments.recruitment.prolific.drafts import PERSON_PARAMETER, SUBMISSION_PARAMETER
from judgments.screens.device import A_YEAR_S, device_of, device_token, set_device_cookie
from judgments.screens.session_views import render_current_step
from judgments.screens.shared_pages import busy, closed, not_found, page, remember_protocol, study_at
from judgments.screens.trial_screen import engine_modules, task_script
from judgments.sessions.arrival import (
    MAX_VALUE_CHARACTERS,
    PARTICIPANT_PARAMETER,
    SIGNATURE_PARAMETER,
    UNTIL_PARAMETER,
    Arrival,
    ConsentRefused,
    count_arrival,
    is_signed,
    new_key,
    newest_version_of,
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
from judgments.sessions.protocol import Protocol, protocol_of
from judgments.sessions.removal import hand_over

# Parameters with a person's id, in the order in which one becomes the id of the vault.
ID_PARAMETERS = (PARTICIPANT_PARAMETER, "prolific_pid", "workerid", "pid", "id")
PERSONAL_PARAMETERS = {
    *ID_PARAMETERS,
    "session_id",
    "assignmentid",
    "email",
    "name",
}  # kept in the vault only
MAX_PARAMETERS, MAX_NAME_CHARACTERS, MAX_LABEL_CHARACTERS = 20, 40, 40
LEADS_BACK = {"full", "closed"}  # reasons for which a channel takes its people back
KEY_PLACEHOLDER = secrets.token_urlsafe(24).encode()  # random, so that no consent text contains it
MAX_CONSENT_PAGES = 100
A_MONTH_S = 30 * 24 * 3600
COOKIE_PATH = "/take/"  # a study answers at two addresses; the cookie's name tells the study


# Participants have no login; platforms link and send forms to here.
@csrf_exempt  # nosemgrep: without-csrf
@require_http_methods(["GET", "HEAD", "POST"])
def consent(request: HttpRequest, slug: str, channel_name: str = "") -> HttpResponse:
    """Show the consent screen, or process its answer; ``channel_name`` is of the panel that sent the link."""
    version = newest_version_of(slug)
    if version is None:
        return not_open_page(request, slug)
    experiment = version.experiment
    channel = channel_of(experiment, channel_name) if channel_name else None
    if channel_name and channel is None:
        return not_found(request)
    link, protocol = _read_link(request, experiment, channel), protocol_of(version)
    earlier = _existing_session(request, experiment, link, is_shared=protocol.lab_mode)
    return answer_arrival(request, version, link, earlier=earlier)


def answer_arrival(
    request: HttpRequest, version: ExperimentVersion, link: "Link", *, earlier: Session | None
) -> HttpResponse:
    """Show the consent screen, process its answer, or go on with the earlier session."""
    experiment, protocol, channel = version.experiment, protocol_of(version), link.channel
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
            return closed(
                request,
                error.reason,
                title=protocol.title,
                language=protocol.language,
                contact=protocol.contact,
                return_link=link.return_address("over_quota") if error.reason in LEADS_BACK else "",
                hit=link.hit,
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
        return _consent_response(request, experiment, protocol, is_framed=link.hit is not None)


@require_http_methods(["GET", "HEAD"])
def prolific_arrival(request: HttpRequest, slug: str) -> HttpResponse:
    """Read the link that Prolific opened, and go on at an address without its ids."""
    version = newest_version_of(slug)
    if version is None:
        return not_open_page(request, slug)
    parameters = {name: str(value) for name, value in list(request.GET.items())[:MAX_PARAMETERS]}
    entry = read_entry(version.experiment, parameters, address=request.build_absolute_uri())
    if entry is None:
        return not_found(request)
    response = redirect("take-prolific-entry", slug, sealed(entry))
    add_never_cache_headers(response)
    return response


# Participants have no login; platforms link and send forms to here.
@csrf_exempt  # nosemgrep: without-csrf
@require_http_methods(["GET", "HEAD", "POST"])
def prolific_consent(request: HttpRequest, slug: str, text: str) -> HttpResponse:
    """The consent screen of an arrival from Prolific; ``text`` is its sealed entry."""
    version, entry = newest_version_of(slug), opened(text)
    if version is None:
        return not_open_page(request, slug)
    experiment, protocol = version.experiment, protocol_of(version)
    campaigns = Campaign.objects.filter(experiment=experiment, recruiter=PROLIFIC)
    campaign = campaigns.filter(pk=entry.campaign).first() if entry else None
    if entry is None or campaign is None:
        return not_found(request)
    key = f"{campaign.pk}:{entry.submission}:{entry.person}"
    link = Link(
        entry.person,
        is_verified=entry.is_verified,
        personal={PERSON_PARAMETER: entry.person, SUBMISSION_PARAMETER: entry.submission},
        channel=campaign,
        submission=entry.submission,
        # Race: two windows of one submission are one arrival; of a claim, each is its own.
        key=salted_hmac("prolific-arrival", key, algorithm="sha256").hexdigest() if entry.is_verified else "",
    )
    earlier = _existing_session(request, experiment, link, is_shared=protocol.lab_mode)
    if earlier is None or may_join_next_round(earlier, experiment):
        return answer_arrival(request, version, link, earlier=earlier)
    identity = PlatformIdentity.objects.get(participant=earlier.participant_id)
    if identity.parameters.get(SUBMISSION_PARAMETER) == entry.submission:
        return answer_arrival(request, version, link, earlier=earlier)
    return closed(  # another submission: no code of the earlier one is shown
        request,
        "took_part",
        title=protocol.title,
        language=protocol.language,
        contact=protocol.contact,
        return_link=link.return_address("repeated"),
    )


def not_open_page(request: HttpRequest, slug: str) -> HttpResponse:
    """Page of a study that was never opened, or of no study."""
    experiment = study_at(slug)
    if experiment is None:
        return not_found(request)
    return closed(
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


_consent_pages: dict[tuple[str, str, str, bool], tuple[Protocol, str]] = {}


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
    link: "Link",
    earlier: Session | None,
) -> HttpResponse:
    experiment = version.experiment
    key, answer = read_key(experiment, request.POST.get("arrival", "")), request.POST.get("consent")
    if key is None or answer not in {"yes", "no"}:
        problem = gettext("That did not come through. Please answer once more.")
        return _consent_response(request, experiment, protocol, problem=problem, is_framed=bool(link.hit))
    ticked = [
        {**statement, "ticked": f"statement_{number}" in request.POST}
        for number, statement in enumerate(protocol.consent_statements, start=1)
    ]
    if answer == "yes" and any(row["required"] and not row["ticked"] for row in ticked):
        problem = gettext("Please tick each statement that is not optional.")
        return _consent_response(request, experiment, protocol, problem=problem, is_framed=bool(link.hit))
    count_arrival(experiment, _client_address(request))
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
    if protocol.lab_mode:  # the computer is of several people: it is not remembered
        label = request.POST.get("label", "").strip() or link.other.get("label", "")
        arrival = replace(arrival, label=_storable(label, MAX_LABEL_CHARACTERS))
        session = arrive(experiment, arrival, consent_text=consent_record(protocol), version=version)
        return _enter_session(session, _first_screen(request, session))
    token = device_token(request)
    arrival = replace(arrival, device=device_of(experiment, token), key=link.key or key)
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


@dataclass(frozen=True)
class Link:
    """What a link says: the id that it claims or proves, other personal parameters, and all others."""

    external_id: str = ""
    is_verified: bool = False
    personal: dict[str, str] = field(default_factory=dict)
    other: dict[str, str] = field(default_factory=dict)
    channel: Campaign | None = None
    submission: str = ""
    is_expired: bool = False
    key: str = ""  # the same for the same submission, where the platform names it; else of the consent form
    hit: HitForm | None = None

    def return_address(self, outcome: str) -> str:
        """The channel's return link for somebody without a session; empty if there is none."""
        template = self.channel.return_template(outcome) if self.channel else ""
        return filled_address(template, participant=self.external_id, session=self.submission)


def _read_link(request: HttpRequest, experiment: Experiment, channel: Campaign | None) -> Link:
    # Limit: a link may carry anything, so the number and length of its parameters are bounded.
    parameters = {
        _storable(name, MAX_NAME_CHARACTERS): _storable(str(value), MAX_VALUE_CHARACTERS)
        for name, value in list(request.GET.items())[:MAX_PARAMETERS]
    }
    signature = parameters.pop(SIGNATURE_PARAMETER, "")
    until = parameters.pop(UNTIL_PARAMETER, "") if signature else ""
    id_name, submission_name = id_parameters(channel) if channel else ("", "")
    identifying = {name.lower() for name in (id_name, submission_name) if name}
    is_personal = PERSONAL_PARAMETERS | identifying
    personal = {name: value for name, value in parameters.items() if name.lower() in is_personal}
    by_lower_name = {name.lower(): value for name, value in personal.items()}
    names = (id_name.lower(), *ID_PARAMETERS)
    external_id = next((by_lower_name[name] for name in names if by_lower_name.get(name)), "")
    # A signature is of the open link: over a channel the same id would begin a second session beside it.
    is_verified = (
        channel is None and bool(external_id) and is_signed(experiment, external_id, signature, until=until)
    )
    return Link(
        external_id,
        is_verified=is_verified,
        is_expired=is_verified and bool(until) and date.fromisoformat(until) < timezone.now().date(),
        personal=personal,
        other={name: value for name, value in parameters.items() if name not in personal},
        channel=channel,
        submission=by_lower_name.get(submission_name.lower(), ""),
    )


def _storable(text: str, longest: int) -> str:
    """Shorten a text of the link; without NUL, which PostgreSQL stores neither in a text nor in JSON."""
    return text.replace("\0", "")[:longest]


def _client_address(request: HttpRequest) -> str:
    """Network address of the participant's browser, behind as many proxies as the settings trust."""
    address: str = get_adapter().get_client_ip(request)
    return address


def _existing_session(
    request: HttpRequest, experiment: Experiment, link: Link, *, is_shared: bool
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


def _has_refused(request: HttpRequest, experiment: Experiment, link: Link) -> bool:
    """Whether consent was refused in this browser; a link with an id may be of another person."""
    return not link.external_id and bool(request.COOKIES.get(_refusal_cookie(experiment)))


def _hand_over_previous(request: HttpRequest, experiment: Experiment) -> None:
    """Close the pages of the session before on this computer, if it has ended."""
    token = request.COOKIES.get(_cookie(experiment), "")
    previous = Session.objects.filter(experiment=experiment, token=token).first() if token else None
    if previous is not None:
        hand_over(previous)


def _refusal_page(request: HttpRequest, protocol: Protocol, link: Link) -> HttpResponse:
    """Thank a participant who refused consent, with a way back for those who pressed the wrong button."""
    context: dict[str, Any] = {
        "title": protocol.title,
        "key": request.POST.get("arrival", ""),
        "return_link": link.return_address("refused"),
        "hit": link.hit,
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
