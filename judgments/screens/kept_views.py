"""What lets a session's page come back without a network: a service worker and the page it gives.

The worker stores nothing by itself and answers for ``/s/`` only; the trial engine keeps the page, the plan
and the files of the one session that is running, under its token (see ``static/js/engine/kept.js``).
"""

import hashlib
from functools import cache
from pathlib import Path
from typing import Any

from django.contrib.staticfiles import finders
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.templatetags.static import static
from django.views.decorators.http import require_safe

from judgments.models import Session
from judgments.screens.page import page
from judgments.screens.session_views import in_session
from judgments.screens.trial_screen import engine_modules, task_script
from judgments.sessions.protocol import protocol_of


@require_safe
def worker(request: HttpRequest) -> HttpResponse:
    """The service worker; its address is its reach, and a new release of the engine is a new worker."""
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
def kept(request: HttpRequest, session: Session) -> HttpResponse:
    """A page of the session without any trial, for a browser to keep; nothing moves on by getting it."""
    if session.is_final:
        return redirect("session", token=session.token)
    return kept_page(request, session)


def kept_page(request: HttpRequest, session: Session, **more: Any) -> HttpResponse:
    """The page on which the engine goes on; ``more`` is what it brings along."""
    protocol = protocol_of(session.version)
    return page(
        request,
        "kept",
        language=protocol.language,
        title=protocol.title,
        session=session,
        kept_script=task_script(protocol.task.name),
        **more,
    )
