"""Rendering of participants' pages in the study's language and direction, and the cached last page."""

import re
from secrets import token_hex
from types import SimpleNamespace
from typing import Any

from csp.constants import SELF
from django.db import Error as DatabaseError
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import add_never_cache_headers
from django.utils.html import escape
from django.utils.translation import get_language_from_request

from experiments.models import Experiment
from experiments.studies.languages import direction, interface_language, interface_translation
from judgments.models import Session
from judgments.recruitment.recruiter import HandInForm, Recruiter, framing_adapter
from judgments.screens.forms import ClosingForm
from judgments.sessions.arrival import newest_version
from judgments.sessions.lookup import session_by_token
from judgments.sessions.protocol import Protocol, load_protocol

STUDY_ADDRESS = re.compile(r"/(take|s)/([-\w]+)/")
MAX_PROTOCOLS = 5000
_protocols: dict[str, Protocol] = {}  # by address; for error pages while the database is unavailable


def page(
    request: HttpRequest | None, template: str, *, language: str, status: int = 200, **context: Any
) -> HttpResponse:
    """Render a page in the study's language; never cached by the browser."""
    with interface_translation(language):
        response = render(
            request,
            f"judgments/{template}.html",
            {
                "language": language,
                "direction": direction(language),
                "has_mistakes": status == 422,
                **context,
            },
            status=status,
        )
    add_never_cache_headers(response)
    return response


def allow_frame(response: HttpResponse, recruiter: type[Recruiter] | None) -> HttpResponse:
    """Let the sites of a platform that frames our pages show this page and take its form."""
    if recruiter is None or not recruiter.is_framed:
        return response
    policy = {"frame-ancestors": recruiter.framing_sites(), "form-action": [SELF, *recruiter.form_sites()]}
    response._csp_replace = policy  # type: ignore[attr-defined]  # as csp.decorators.csp_replace sets it
    response.xframe_options_exempt = True  # as Django's decorator sets it
    return response


def remember_protocol(request: HttpRequest, protocol: Protocol) -> None:
    """Keep the protocol of an address for this process's error pages."""
    if match := STUDY_ADDRESS.match(request.path):
        if len(_protocols) >= MAX_PROTOCOLS:
            _protocols.clear()
        _protocols[match[0]] = protocol


def study_contact(request: HttpRequest, *, may_query: bool = True) -> dict[str, str]:
    """Return title and contact of the study that an address belongs to; nothing where it belongs to none."""
    match = STUDY_ADDRESS.match(request.path)
    if match is None:
        return {}
    if may_query:
        try:
            return _stored_study(match[1], match[2])
        except DatabaseError:
            pass
    protocol = _protocols.get(match[0])
    return {"title": protocol.title, "contact": protocol.contact} if protocol else {}


def _stored_study(kind: str, key: str) -> dict[str, str]:
    if kind == "s":
        session = session_by_token(key)
        version = session.version if session else None
    else:
        version = newest_version(key)
    if version is not None:
        protocol = load_protocol(version)
        return {"title": protocol.title, "contact": protocol.contact}
    study = study_at(key) if kind == "take" else None
    return {"title": study.shown_title, "contact": study.contact} if study else {}


def study_at(slug: str) -> Experiment | None:
    """Return the study that collects judgments at this address, by its public or its own slug."""
    addressed = Experiment.objects.filter(Q(slug=slug) | Q(public_slug=slug))
    return addressed.filter(origin=Experiment.Origin.COLLECTED).first()


def not_found(request: HttpRequest) -> HttpResponse:
    """Response 404 in the language of the browser; below the address of a study, with a way back to it."""
    language, study = interface_language(get_language_from_request(request)), study_contact(request)
    match = STUDY_ADDRESS.match(request.path)
    back = match[0] if match and study and match[0] != request.path else ""
    return page(request, "not_found", language=language, status=404, back=back, **study)


def render_closed(
    request: HttpRequest,
    reason: str,
    *,
    title: str,
    language: str,
    contact: str = "",
    return_link: str = "",
    hit: HandInForm | None = None,
) -> HttpResponse:
    """Page of a study that is full, paused, closed or not yet open."""
    context: dict[str, Any] = {
        "reason": reason,
        "title": title,
        "contact": contact,
        "return_link": return_link,
        "hit": hit,
    }
    return page(request, "closed", language=language, **context)


def busy(
    request: HttpRequest, retry_after_s: int, *, title: str, language: str, contact: str = ""
) -> HttpResponse:
    """Response 429: too many arrivals from one network; the page sends the same form again."""
    fields = [(name, value) for name, values in request.POST.lists() for value in values]
    response = page(
        request,
        "busy",
        language=language,
        status=429,
        title=title,
        contact=contact,
        retry={"address": request.get_full_path(), "method": "post", "fields": fields},
    )
    response["Retry-After"] = str(retry_after_s)
    return response


TOKEN_PLACEHOLDER, CODE_PLACEHOLDER = (
    f"here{token_hex(12)}" for _ in range(2)
)  # random, so that no text contains them
MAX_PAGES = 500
page_cache: dict[tuple[int, str, bool], str] = {}


def last_page(session: Session) -> str | None:
    """The page with code and debriefing of a complete session; None if the study redirects instead."""
    version, is_complete = session.version, session.status == Session.Status.COMPLETE
    if not is_complete or load_protocol(version).completion != Experiment.Completion.CODE:
        return None
    campaign = session.campaign
    if campaign is not None and (framing_adapter(campaign) or campaign.return_template("complete")):
        return None
    key = (version.pk, version.sha256, version.is_preview)
    html = page_cache.get(key)
    if html is None:
        if len(page_cache) >= MAX_PAGES:
            page_cache.clear()
        html = page_cache[key] = _render_with_placeholders(session)
    return html.replace(TOKEN_PLACEHOLDER, session.token).replace(
        CODE_PLACEHOLDER, escape(session.completion_code)
    )


def _render_with_placeholders(session: Session) -> str:
    protocol = load_protocol(session.version)
    placeholder = SimpleNamespace(
        token=TOKEN_PLACEHOLDER, completion_code=CODE_PLACEHOLDER, is_final=True, version=session.version
    )
    context: dict[str, Any] = {
        "session": placeholder,
        "code": CODE_PLACEHOLDER,
        "title": protocol.title,
        "protocol": protocol,
        "return_link": "",
        "closing": ClosingForm(protocol),
    }
    return page(None, "end", language=protocol.language, **context).content.decode()
