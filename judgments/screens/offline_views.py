"""Service worker and offline page, which let a session's page reload without a network.

The worker serves ``/s/`` only and stores nothing itself; the trial engine caches the page, the plan and the
files of the active session under its token (see ``static/js/engine/offline_copy.js``).
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
from judgments.screens.session_views import in_session
from judgments.screens.shared_pages import page
from judgments.screens.trial_screen import engine_modules, task_script
from judgments.sessions.protocol import load_protocol


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
