"""Answers that a form brings, where something stops what the trial engine sends in the background.

A browser's extension or a firewall may stop scripts' requests and let pages through. The engine then hands
the waiting answers over as a page's own form would (see ``static/js/engine/sender.js``): stored by the same
delivery as over the API, each once. The page that comes back says what became of them and brings the plan.
"""

import json

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone

from judgments.models import Session
from judgments.screens.kept_views import kept_page
from judgments.screens.plan_document import plan_document
from judgments.screens.session_views import in_session
from judgments.sessions.deliver import deliver
from judgments.sessions.incoming import MOST_ROWS, PUBLIC_ID, BadRow, Incoming, moment, read_row
from judgments.sessions.lease import is_too_late
from judgments.sessions.lookup import session_of
from judgments.sessions.places import StudyClosed

FIELD = "sent"  # holds the JSON that the API takes


@in_session
def handed(request: HttpRequest, session: Session) -> HttpResponse:
    """Store the answers; go on with the trials, or to the end."""
    if request.method != "POST" or session.is_final:
        return redirect("session", token=session.token)
    if is_too_late(session):
        raise StudyClosed("expired")
    rows, refused = _sent(request.POST.get(FIELD, ""))
    found = session_of(session.token, sent=[row.trial for row in rows])
    if found is None:  # erased this moment
        return redirect("session", token=session.token)
    receipt = deliver(found, rows)
    said = {
        "acknowledged": receipt.acknowledged,
        "refused": [*refused, *(one.trial for one in receipt.refused)],
        "is_complete": receipt.is_complete,
    }
    return kept_page(
        request, session, receipt=said, plan=None if receipt.is_complete else plan_document(session)
    )


def _sent(text: str) -> tuple[list[Incoming], list[str]]:
    """The rows that may be answers, marked as brought by a form, and the trials of those that cannot be."""
    try:
        sent = json.loads(text)
    except (ValueError, RecursionError):
        raise BadRequest("The field has to be JSON.") from None
    if not isinstance(sent, dict) or not isinstance(sent.get("judgments"), list):
        raise BadRequest("The field has to be an object with a list of judgments.")
    now, sent_at = timezone.now(), moment(sent.get("sent_at"))
    rows, refused = [], []
    for raw in sent["judgments"][:MOST_ROWS]:  # the rest stays in the browser and comes with the next form
        try:
            row = read_row(raw, received_at=now, sent_at=sent_at)
        except BadRow:
            named = raw.get("trial") if isinstance(raw, dict) else None
            refused += [named] if isinstance(named, str) and PUBLIC_ID.fullmatch(named) else []
        else:
            row.delivery.timing["by_form"] = True
            rows.append(row)
    return rows, refused
