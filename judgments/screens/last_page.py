"""The page at the end, put together once for all of one version; what differs is token and code."""

from secrets import token_hex
from types import SimpleNamespace

from django.utils.html import escape

from experiments.models import Experiment
from judgments.models import Session
from judgments.screens.page import page
from judgments.sessions.protocol import protocol_of

TOKEN, CODE = (f"here{token_hex(12)}" for _ in range(2))  # nobody writes these into a text
MOST_PAGES = 500
pages: dict[tuple[int, str, bool], str] = {}


def last_page(session: Session) -> str | None:
    """Thanks, code and debrief, for a complete session of a study that gives a code only; else None."""
    version, is_complete = session.version, session.status == Session.Status.COMPLETE
    if not is_complete or protocol_of(version).completion != Experiment.Completion.CODE:
        return None
    key = (version.pk, version.sha256, version.is_preview)
    html = pages.get(key)
    if html is None:
        if len(pages) >= MOST_PAGES:
            pages.clear()
        html = pages[key] = _page(session)
    return html.replace(TOKEN, session.token).replace(CODE, escape(session.completion_code))


def _page(session: Session) -> str:
    protocol = protocol_of(session.version)
    anybody = SimpleNamespace(token=TOKEN, completion_code=CODE, is_final=True, version=session.version)
    told = {"session": anybody, "title": protocol.title, "protocol": protocol, "way_back": ""}
    return page(None, "end", language=protocol.language, **told).content.decode()
