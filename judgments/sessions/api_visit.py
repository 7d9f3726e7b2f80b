"""The trials of a simulated session over the JSON API, as the engine in a browser takes them.

The plan comes once; each answer is sent with a response time and the facts a browser would measure. What the
browser does around the trials (consent, questions, the end) are pages, also for people.
"""

from datetime import UTC, datetime
from typing import Any

from judgments.models import Session, Trial
from judgments.sessions.browser import Browser, Document
from judgments.sessions.simulate import RELATED, Mind

PLAN, ANSWERS = "/api/v1/sessions/{token}/plan/", "/api/v1/sessions/{token}/judgments/"
DEVICES = (("mouse", "1280x800"), ("keyboard", "1440x900"), ("touch", "390x844"))
DISTRACTED = {"careless": 0.2}  # how often the window loses the focus in a trial
AWAY_MS = 6000.0


class NotTaken(Exception):
    """The server did not take what a browser would have sent."""


def answer_trials(browser: Browser, token: str, mind: Mind, *, most: int | None = None) -> int:
    """Answer what the plan has open, at most so many; gives how many were acknowledged."""
    plan = _good(browser.fetch(PLAN.format(token=token)), "the plan")
    waiting = [one for one in plan["trials"] if not one["is_answered"]][:most]
    trials = _trials(token, [one["id"] for one in waiting])
    for planned in waiting:
        row = _row(planned, trials[planned["id"]], mind, engine=plan["engine"])
        sent = {"sent_at": _now(), "judgments": [row]}
        receipt = _good(browser.send(ANSWERS.format(token=token), sent), "an answer")
        if planned["id"] not in receipt["acknowledged"]:
            raise NotTaken(f"{row['response']!r} was refused: {receipt['refused']}")
    return len(waiting)


def _trials(token: str, ids: list[str]) -> dict[str, Trial]:
    """What the ids stand for; only the simulation looks behind them."""
    session = Session.objects.filter(token=token).first()
    rows = Trial.objects.select_related(*RELATED).filter(session=session, public_id__in=ids)
    found = {trial.public_id: trial for trial in rows}
    if len(found) < len(ids):
        raise NotTaken("the server shows trials that are not in this database: give both one DATABASE_URL")
    return found


def _row(planned: dict[str, Any], trial: Trial, mind: Mind, *, engine: str) -> dict[str, Any]:
    """One answer as the engine sends it; ``simulated`` says that no device measured it."""
    response = mind.response(trial)
    rt_ms = mind.rt_ms(trial)
    device, viewport = DEVICES[mind.device % len(DEVICES)]
    away = 0
    if mind.person.random() < DISTRACTED.get(mind.persona.profile, 0.0):
        away = round(AWAY_MS * float(mind.person.exponential()))
    return {
        "trial": planned["id"],
        "response": response,
        "rt_ms": rt_ms + away,
        "input_type": device,
        "answered_at": _now(),
        "timing": {
            "simulated": True,
            "engine": engine,
            "position": planned["position"],
            "clock_step_ms": 0.1,
            "coarse_clock": False,
            "frame_ms": 16.7,
            "viewport": viewport,
            "trusted": True,
            "focus_lost_ms": away,
            "page_hidden_ms": 0,
        },
        "events": [{"kind": "blur", "details": {"ms": away}}] if away else [],
    }


def _now() -> str:
    return datetime.now(UTC).isoformat()


def _good(answer: Document, what: str) -> dict[str, Any]:
    if answer.status != 200:
        raise NotTaken(f"the server answered {answer.status} to {what}: {answer.body}")
    return answer.body
