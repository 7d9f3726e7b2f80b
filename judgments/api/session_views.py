"""A session's plan and answers, for the trial engine: plain Django views, documented by session_schema.

The token in the address identifies the participant, so there is no cookie and no CSRF key: a session works in
in-app browsers and frames that drop both.
"""

import re
from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any

from django.db import DatabaseError, InterfaceError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.request import RawPostDataException
from django.urls import reverse
from django.views.decorators.csrf import csrf_exempt

from analysis.plugins.registry import PluginFailure
from config.http.unavailable import is_unavailable
from experiments.materials.markup import as_nodes, paragraphs
from judgments.screens.shared_pages import last_page
from judgments.screens.trial_screen import plan_document
from judgments.sessions.leases import SessionExpired, SessionOver, is_too_late
from judgments.sessions.lookup import ended_session, session_by_token
from judgments.sessions.payload import MAX_ANSWERS, BadPayload, Payload, RefusedRow, read_payload
from judgments.sessions.places import StudyClosed
from judgments.sessions.recording import Receipt, SessionUnknown, record_answers

MAX_BYTES = 1_000_000
# Limit: a longer body is read up to here, because a client that is still sending misses the response.
MAX_DISCARDED_BYTES = 16_000_000
TOKEN = re.compile(r"[-\w]{1,64}", re.ASCII)

View = Callable[..., HttpResponse]


class RequestRefused(Exception):
    """A request that cannot be served, with a stable code."""

    def __init__(self, status: int, code: str, message: str, **fields: str) -> None:
        self.status, self.body = status, {"code": code, "message": message, **fields}
        super().__init__(message)


def _try_again(message: str) -> JsonResponse:
    return JsonResponse({"code": "try_again", "message": message}, status=503)


def session_address(*, method: str) -> Callable[[View], View]:
    """Decorate a plain view of one method so that all its failures are JSON."""

    def decorate(view: View) -> View:
        # Participants have no login; the unguessable token in the address is what another site lacks.
        @csrf_exempt  # nosemgrep: without-csrf
        @wraps(view)
        def view_with_token(request: HttpRequest, token: str) -> HttpResponse:
            try:
                if request.method not in {method, "HEAD" if method == "GET" else method}:
                    raise RequestRefused(405, "method_not_allowed", f"This address takes {method} only.")
                if not TOKEN.fullmatch(token):
                    raise _unknown()
                response = view(request, token)
            except RequestRefused as error:
                response = JsonResponse(error.body, status=error.status)
            except PluginFailure:  # the browser keeps its answers and sends them again
                response = _try_again("The study cannot go on just now; send it again.")
            except (DatabaseError, InterfaceError) as error:
                if not is_unavailable(error):
                    raise
                response = _try_again("The database does not answer; send it again.")
            if response.status_code == 405:
                response["Allow"] = method
            response["Cache-Control"] = "no-store"
            return response

        return view_with_token

    return decorate


@session_address(method="GET")
def plan(request: HttpRequest, token: str) -> HttpResponse:
    """Return the trials of a session with the engine's texts."""
    session = session_by_token(token)
    if session is None:
        raise _unknown()
    if is_too_late(session):
        raise _expired_refusal(token)
    if session.is_final:
        raise _over(token)
    return JsonResponse(plan_document(session))


@session_address(method="POST")
def store(request: HttpRequest, token: str) -> HttpResponse:
    """Store answers; acknowledged answers are committed."""
    sent = _read_body(request)
    try:
        receipt = record_answers(token, sent.answers, problems=sent.problems)
    except SessionUnknown:
        raise _unknown() from None
    except SessionExpired:
        raise _expired_refusal(token) from None
    except SessionOver:
        raise _over(token) from None
    except StudyClosed as closed:
        message = f"The place of this session is gone: the study is {closed.reason}."
        raise RequestRefused(409, "no_place", message, next=_page(token)) from None
    return JsonResponse(_document(receipt, token, sent.refused))


def _document(receipt: Receipt, token: str, refused: list[RefusedRow]) -> dict[str, Any]:
    """The receipt as JSON; after the last answer it contains the next page, which saves a request."""
    document: dict[str, Any] = {
        "acknowledged": receipt.acknowledged,
        "kept_first": receipt.kept_first,
        "refused": [
            *({"trial": row.trial, "code": "bad_row", "message": row.message} for row in refused),
            *({"trial": row.trial, "code": row.code, "message": row.message} for row in receipt.refused),
        ],
        "feedback": {
            trial: {**feedback, "nodes": [as_nodes(part) for part in paragraphs(feedback["text"])]}
            for trial, feedback in receipt.feedback.items()
        },
        "position": receipt.position,
        "complete": receipt.is_complete,
        "next": _page(token),
    }
    session = ended_session(token) if receipt.is_complete else None
    html = last_page(session) if session is not None else None
    return document if html is None else {**document, "page": html}


def _read_body(request: HttpRequest) -> Payload:
    length = request.META.get("CONTENT_LENGTH") or "0"
    if length.isdigit() and int(length) > MAX_BYTES:
        _discard_body(request)
        raise RequestRefused(413, "too_large", f"Send at most {MAX_BYTES:,} bytes at once.")
    try:
        sent = read_payload(request.body)
    except RawPostDataException:
        raise RequestRefused(400, "invalid_json", "The body has to be JSON in UTF-8.") from None
    except BadPayload as problem:
        raise RequestRefused(400, problem.code, str(problem)) from None
    if not (0 if sent.problems else 1) <= sent.n_rows <= MAX_ANSWERS:
        raise RequestRefused(400, "wrong_number", f"Send 1 to {MAX_ANSWERS} judgments at once.")
    return sent


def _discard_body(request: HttpRequest) -> None:
    remaining = MAX_DISCARDED_BYTES
    while remaining > 0 and (block := request.read(min(remaining, 1 << 16))):  # 64 KiB at a time
        remaining -= len(block)


def _unknown() -> RequestRefused:
    return RequestRefused(404, "session_unknown", "There is no session with this token.")


def _expired_refusal(token: str) -> RequestRefused:
    return RequestRefused(404, "session_expired", "This session has expired.", next=_page(token))


def _over(token: str) -> RequestRefused:
    message = "This session has ended: nothing more is stored."
    return RequestRefused(409, "session_over", message, next=_page(token))


@lru_cache(maxsize=4096)
def _page(token: str) -> str:
    return reverse("session", kwargs={"token": token})
