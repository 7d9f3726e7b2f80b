"""Service worker, offline page, and answers sent as a form where requests of scripts are blocked."""

import hashlib
from functools import cache
from pathlib import Path
from typing import Any

from django.contrib.staticfiles import finders
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.templatetags.static import static
from django.views.decorators.http import require_safe

from judgments.models import Session
from judgments.screens.session_views import in_session
from judgments.screens.shared_pages import page
from judgments.screens.trial_screen import engine_modules, plan_document, task_script
from judgments.sessions.payload import BadPayload, read_payload
from judgments.sessions.protocol import load_protocol
from judgments.sessions.recording import SessionUnknown, record_answers

FIELD = "sent"  # the same JSON as the body of an API request


@require_safe
def worker(request: HttpRequest) -> HttpResponse:
    """Serve the service worker; its address limits its scope, and its hash changes with every release."""
    response = HttpResponse(_worker(), content_type="text/javascript; charset=utf-8")
    response["Cache-Control"] = "no-cache"
    return response


@cache
def _worker() -> str:
    addresses = "\n".join([static("js/engine/start.js"), static("js/worker.js"), *engine_modules()])
    release = hashlib.sha256(addresses.encode()).hexdigest()[:12]
    source = Path(str(finders.find("js/worker.js"))).read_text(encoding="utf-8")
    return f"// Release {release}\n{source}"


@in_session
def offline_page(request: HttpRequest, session: Session) -> HttpResponse:
    """Serve a page without a trial for the browser to cache; does not change the session."""
    if session.is_final:
        return redirect("session", token=session.token)
    return render_offline_page(request, session)


def render_offline_page(request: HttpRequest, session: Session, **context: Any) -> HttpResponse:
    """Render the page on which the engine continues; ``context`` adds the receipt and the plan."""
    protocol = load_protocol(session.version)
    return page(
        request,
        "offline",
        language=protocol.language,
        title=protocol.title,
        session=session,
        instructions_again=protocol.instructions.strip(),
        engine_script=task_script(protocol.task.name),
        **context,
    )


@in_session
def submit_answers(request: HttpRequest, session: Session) -> HttpResponse:
    """Store the answers, and continue with the trials or the end."""
    if request.method != "POST" or session.is_final:
        return redirect("session", token=session.token)
    try:
        # Limit: rows beyond MAX_ANSWERS stay in the browser and come with the next form.
        sent = read_payload(request.POST.get(FIELD, ""))
    except BadPayload as problem:
        raise BadRequest(str(problem)) from None
    for answer in sent.answers:
        answer.timing["by_form"] = True
    try:
        receipt = record_answers(session.token, sent.answers, problems=sent.problems)
    except SessionUnknown:  # Race: deleted after the session was loaded.
        return redirect("session", token=session.token)
    document = {
        "acknowledged": receipt.acknowledged,
        "refused": [
            *(row.trial for row in sent.refused if row.trial),
            *(row.trial for row in receipt.refused if row.trial),
        ],
        "is_complete": receipt.is_complete,
    }
    plan = None if receipt.is_complete else plan_document(session)
    return render_offline_page(request, session, receipt=document, plan=plan)
