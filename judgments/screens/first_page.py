"""The page of a session's first trial, put together once for all sessions that are given the same trials.

Under load this page is what people wait for, and most of it would be filling in the same template and
writing the same plan. What differs between sessions are the token and the opaque ids.
"""

import re
from dataclasses import replace
from secrets import token_hex
from types import SimpleNamespace
from typing import Any

from django.http import HttpResponse
from django.utils.cache import add_never_cache_headers

from judgments.models import Session
from judgments.models.trial import public_ids_of
from judgments.screens.page import page
from judgments.screens.plan_document import planned
from judgments.screens.trial_screen import progress, trial_context
from judgments.sessions.advance import Step
from judgments.sessions.begun import MARK, Pattern
from judgments.sessions.protocol import protocol_of

TOKEN = f"here{token_hex(12)}"  # as MARK, which stands before the number of an id
PLACES = re.compile(rf"({TOKEN}|{MARK}\d+\.)")
MOST_PAGES = 500
pages: dict[tuple[Any, ...], tuple[list[str], list[int]]] = {}


def first_page(session: Session, step: Step, pattern: Pattern) -> HttpResponse:
    """The page of the first trial with the plan of all, for a session that has just begun."""
    version, minutes = session.version, session.experiment.lease_minutes
    key = (*pattern.key, version.pk, version.is_preview, minutes)
    made = pages.get(key)
    if made is None:
        if len(pages) >= MOST_PAGES:
            pages.clear()
        made = pages[key] = _cut(_page(session, replace(step, trial=pattern.trials[0]), pattern))
    texts, places = made
    own = [session.token, *public_ids_of(session.token, pattern.n_ids)]
    written = [""] * (len(texts) + len(places))
    written[::2], written[1::2] = texts, [own[place] for place in places]
    response = HttpResponse("".join(written))
    add_never_cache_headers(response)
    return response


def _cut(html: str) -> tuple[list[str], list[int]]:
    """The texts between token and ids, and what stands between them: 0 the token, n the n-th id."""
    cut = PLACES.split(html)
    marks = [one.removeprefix(MARK).rstrip(".") for one in cut[1::2]]
    return cut[::2], [0 if one == TOKEN else int(one) + 1 for one in marks]


def _page(session: Session, step: Step, pattern: Pattern) -> str:
    protocol = protocol_of(session.version)
    plan = planned(session, pattern.trials, token=TOKEN)
    context = {
        "session": SimpleNamespace(token=TOKEN, is_final=False, version=session.version),
        "title": protocol.title,
        "mark": step.mark,
        "protocol": protocol,
        **trial_context(step, protocol),
        "progress": progress(step),
        "plan": plan,
    }
    return page(None, "trial", language=protocol.language, **context).content.decode()
