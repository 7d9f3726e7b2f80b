"""The page of a session's first trial. Its frame is the same for all who get the same sentences first.

Under load this page is what people wait for, and most of it would be putting the same template together.
"""

import json
from dataclasses import replace
from secrets import token_hex
from types import SimpleNamespace
from typing import Any

from django.http import HttpResponse
from django.utils.cache import add_never_cache_headers
from django.utils.html import json_script

from judgments.models import Session
from judgments.screens.page import page
from judgments.screens.plan_document import plan_document
from judgments.screens.trial_screen import progress, trial_context
from judgments.sessions.advance import Step
from judgments.sessions.given import GivenTrial
from judgments.sessions.protocol import protocol_of

MARK = f"here{token_hex(12)}"  # nobody writes this into a sentence
TOKEN, TRIAL, PLAN = f"{MARK}token", f"{MARK}trial", f"{MARK}plan"
MOST_FRAMES = 500
frames: dict[tuple[str, ...], str] = {}


def first_page(session: Session, step: Step, trial: GivenTrial) -> HttpResponse:
    """The page of the first trial with the plan of all, for a session that has just begun."""
    marked, ids = _marked(trial)
    key = (session.version.sha256, str(session.version.pk), marked.kind, json.dumps(marked.shown))
    html = frames.get(key)
    if html is None:
        if len(frames) >= MOST_FRAMES:
            frames.clear()
        html = frames[key] = _frame(session, replace(step, trial=marked))
    plan = str(json_script(plan_document(session)))
    document = plan[plan.index(">") + 1 : plan.rindex("<")]
    for mark, own in {**ids, TOKEN: session.token, TRIAL: trial.public_id, f'"{PLAN}"': document}.items():
        html = html.replace(mark, own)
    response = HttpResponse(html)
    add_never_cache_headers(response)
    return response


def _marked(trial: GivenTrial) -> tuple[GivenTrial, dict[str, str]]:
    """The trial with marks in place of its opaque ids, and what each mark stands for."""
    options = trial.shown.get("options", ())
    ids = {f"{MARK}option{place}o": one["id"] for place, one in enumerate(options)}
    marked = [{**one, "id": mark} for one, mark in zip(options, ids, strict=True)]
    shown: dict[str, Any] = {**trial.shown, "options": marked} if options else trial.shown
    return replace(trial, public_id=TRIAL, shown=shown), ids


def _frame(session: Session, step: Step) -> str:
    protocol = protocol_of(session.version)
    context = {
        "session": SimpleNamespace(token=TOKEN, is_final=False, version=session.version),
        "title": protocol.title,
        "mark": step.mark,
        "protocol": protocol,
        **trial_context(step, protocol),
        "progress": progress(step),
        "plan": PLAN,
    }
    return page(None, "trial", language=protocol.language, **context).content.decode()
