"""Fallback for answers when background requests are blocked: the engine submits them as a form.

Browser extensions or firewalls may block requests of scripts but not of pages. The engine then posts the
pending answers (see ``static/js/engine/sender.js``), which are stored as over the API. The response
contains the receipt and the plan.
"""

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from judgments.models import Session
from judgments.screens.offline_views import render_offline_page
from judgments.screens.session_views import in_session
from judgments.screens.trial_screen import plan_document
from judgments.sessions.payload import BadPayload, read_payload
from judgments.sessions.recording import SessionUnknown, record_answers

FIELD = "sent"  # the same JSON as the body of an API request


@in_session
def submit_answers(request: HttpRequest, session: Session) -> HttpResponse:
    """Store the answers, and continue with the trials or the end."""
    if request.method != "POST" or session.is_final:
        return redirect("session", token=session.token)
    try:
        # Limit: rows beyond MAX_ANSWERS stay in the browser and come with the next form.
        answers, refused, _ = read_payload(request.POST.get(FIELD, ""))
    except BadPayload as problem:
        raise BadRequest(str(problem)) from None
    for answer in answers:
        answer.timing["by_form"] = True
    try:
        receipt = record_answers(session.token, answers)
    except SessionUnknown:  # Race: deleted after the session was loaded.
        return redirect("session", token=session.token)
    document = {
        "acknowledged": receipt.acknowledged,
        "refused": [
            *(row.trial for row in refused if row.trial),
            *(row.trial for row in receipt.refused if row.trial),
        ],
        "is_complete": receipt.is_complete,
    }
    plan = None if receipt.is_complete else plan_document(session)
    return render_offline_page(request, session, receipt=document, plan=plan)
