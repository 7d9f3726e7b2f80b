"""A session's plan and answers, for the trial engine: plain Django views, documented by session_schema.

The token in the address is the participant, so there is no cookie and no CSRF key: a session works in
in-app browsers and frames that drop both.
"""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import lru_cache, partial, wraps
from typing import Any

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.request import RawPostDataException
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from rest_framework.views import APIView

from experiments.materials.markup import as_nodes, paragraphs
from judgments.api.session_schema import SessionJudgments, SessionPlan
from judgments.models import Session
from judgments.screens.last_page import last_page
from judgments.screens.plan_document import plan_document
from judgments.sessions.begun import beginnings
from judgments.sessions.deliver import Receipt, Refusal, deliver
from judgments.sessions.incoming import MOST_ROWS, PUBLIC_ID, BadRow, Incoming, moment, read_row
from judgments.sessions.lease import SessionOver, is_too_late
from judgments.sessions.lookup import session_of, whole_session
from judgments.sessions.next_answer import store_next
from judgments.sessions.places import StudyClosed
from judgments.sessions.prepare import prepare_trials
from judgments.sessions.sittings import remember

MOST_BYTES = 1_000_000
READ_AWAY = 16_000_000  # a longer body is read to this point, so that its sender hears the answer
TOKEN = re.compile(r"[-\w]{1,64}", re.ASCII)

View = Callable[..., HttpResponse]


class Refused(Exception):
    """A request that cannot be served, with a stable code."""

    def __init__(self, status: int, code: str, message: str, **more: str) -> None:
        self.status, self.body = status, {"code": code, "message": message, **more}
        super().__init__(message)


def session_address(documented: type[APIView], *, method: str) -> Callable[[View], View]:
    """A plain view whose failures are all JSON; the OpenAPI document reads ``documented``."""

    def decorate(view: View) -> View:
        @csrf_exempt
        @wraps(view)
        def guarded(request: HttpRequest, token: str) -> HttpResponse:
            try:
                if request.method not in {method, "HEAD" if method == "GET" else method}:
                    raise Refused(405, "method_not_allowed", f"This address takes {method} only.")
                if not TOKEN.fullmatch(token):
                    raise _unknown()
                answer = view(request, token)
            except Refused as refused:
                answer = JsonResponse(refused.body, status=refused.status)
            except (OperationalError, InterfaceError):
                answer = JsonResponse(
                    {"code": "try_again", "message": "The database does not answer; send it again."},
                    status=503,
                )
            if answer.status_code == 405:
                answer["Allow"] = method
            answer["Cache-Control"] = "no-store"
            return answer

        guarded.cls, guarded.initkwargs = documented, {}  # type: ignore[attr-defined]
        return guarded

    return decorate


@session_address(SessionPlan, method="GET")
def plan(request: HttpRequest, token: str) -> HttpResponse:
    """The trials of a session with the engine's words."""
    session = _found(token)
    if session.is_final:
        raise _over(session)
    return JsonResponse(plan_document(session))


@session_address(SessionJudgments, method="POST")
def store(request: HttpRequest, token: str) -> HttpResponse:
    """Answers come in; what is acknowledged is committed."""
    rows, refused = _rows(_body(request))
    if len(rows) == 1 and not refused:
        receipt = _next_answer(token, rows[0])
        if receipt is not None:
            return JsonResponse(_told(receipt, token))
    session = _asked(token, [row.trial for row in rows])
    try:
        receipt = deliver(session, rows)
    except SessionOver:
        raise _over(session) from None
    except StudyClosed as door:
        raise Refused(
            409,
            "no_place",
            f"The place of this session is gone: the study is {door.reason}.",
            next=_page(session.token),
        ) from None
    if len(rows) == 1 and receipt.acknowledged and not receipt.is_complete:
        remember(session)
    return JsonResponse(_told(receipt, token, refused=refused))


def stored_next(token: str, body: bytes) -> dict[str, Any] | None:
    """What is answered to a body that holds just the next answer of a running session, once it is stored.

    None for all else, which :func:`store` takes: nothing of it is stored then.
    """
    try:
        rows, refused = _rows(_judgments(body))
    except Refused:
        return None
    receipt = _next_answer(token, rows[0]) if len(rows) == 1 and not refused else None
    return None if receipt is None else _told(receipt, token)


def _next_answer(token: str, row: Incoming) -> Receipt | None:
    next_answer = partial(store_next, token, row)
    has_begun = beginnings.get(token) is not None
    return beginnings.settle(token, next_answer) if has_begun else next_answer()


def _told(receipt: Receipt, token: str, *, refused: Sequence[Refusal] = ()) -> dict[str, Any]:
    """What is acknowledged; with the last answer, the page that follows, which then needs no request."""
    session = whole_session.first(token) if receipt.is_complete else None
    html = last_page(session) if session is not None else None
    return {
        "acknowledged": receipt.acknowledged,
        "kept_first": receipt.kept_first,
        "refused": [asdict(one) for one in (*refused, *receipt.refused)],
        "feedback": {
            trial: {**word, "nodes": [as_nodes(part) for part in paragraphs(word["text"])]}
            for trial, word in receipt.feedback.items()
        },
        "position": receipt.position,
        "complete": receipt.is_complete,
        "next": _page(token),
        **({"page": html} if html is not None else {}),
    }


def _body(request: HttpRequest) -> dict[str, Any]:
    """The request's JSON object."""
    length = request.META.get("CONTENT_LENGTH") or "0"
    if length.isdigit() and int(length) > MOST_BYTES:
        _read_away(request)
        raise Refused(413, "too_large", f"Send at most {MOST_BYTES:,} bytes at once.")
    try:
        return _judgments(request.body)
    except RawPostDataException:
        raise _no_json() from None


def _judgments(text: bytes) -> dict[str, Any]:
    """A JSON object with a list of judgments."""
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        raise _no_json() from None
    if not isinstance(body, dict) or not isinstance(body.get("judgments"), list):
        raise Refused(400, "invalid", "The body has to be an object with a list of judgments.")
    if not 1 <= len(body["judgments"]) <= MOST_ROWS:
        raise Refused(400, "wrong_number", f"Send 1 to {MOST_ROWS} judgments at once.")
    return body


def _no_json() -> Refused:
    return Refused(400, "invalid_json", "The body has to be JSON in UTF-8.")


def _read_away(request: HttpRequest) -> None:
    left = READ_AWAY
    while left > 0 and (block := request.read(min(left, 1 << 16))):
        left -= len(block)


def _rows(body: dict[str, Any]) -> tuple[list[Incoming], list[Refusal]]:
    """The rows that may be answers, and those that cannot be."""
    now, sent_at = timezone.now(), moment(body.get("sent_at"))
    rows, refused = [], []
    for raw in body["judgments"]:
        try:
            rows.append(read_row(raw, received_at=now, sent_at=sent_at))
        except BadRow as problem:
            named = raw.get("trial") if isinstance(raw, dict) else ""
            trial = named if isinstance(named, str) and PUBLIC_ID.fullmatch(named) else ""
            refused.append(Refusal(trial, "bad_row", str(problem)))
    return rows, refused


def _asked(token: str, sent: list[str]) -> Session:
    """The session with the trials that are named; whose arrival was cut off before it has any, gets them."""
    beginnings.settle(token)
    session = _found(token, sent=sent)
    if not session.named and session.waits_at is None and not session.is_final:
        prepare_trials(session)
        session = _found(token, sent=sent)
    return session


def _found(token: str, *, sent: list[str] | None = None) -> Session:
    session = session_of(token, sent=sent or [])
    if session is None:
        raise _unknown()
    if is_too_late(session):
        raise Refused(404, "session_expired", "This session has expired.", next=_page(session.token))
    return session


def _unknown() -> Refused:
    return Refused(404, "session_unknown", "There is no session with this token.")


def _over(session: Session) -> Refused:
    return Refused(
        409, "session_over", "This session has ended: nothing more is stored.", next=_page(session.token)
    )


@lru_cache(maxsize=4096)
def _page(token: str) -> str:
    return reverse("session", kwargs={"token": token})
