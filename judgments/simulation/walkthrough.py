"""A simulated participant takes a study over HTTP: link, consent, questions, trials, completion code.

Trials go through plain forms, or over the JSON API as the engine in a browser sends them: one request for the
plan, then each answer with a response time and a browser's measurements. All other screens are pages.
"""

import re
from datetime import UTC, datetime
from typing import Any, Literal

from analysis.errors import BadInput
from experiments.models import Experiment
from judgments.models import Participant, Session, Trial
from judgments.sessions.arrival import personal_link
from judgments.sessions.pretrial import correct_choice, session_line_lengths
from judgments.sessions.protocol import Protocol, load_protocol
from judgments.simulation.http_client import Browser, Document, Form, Page
from judgments.simulation.model_scores import ModelScores
from judgments.simulation.participant import RELATED, Mind, Persona

PLAN, ANSWERS = "/api/v1/sessions/{token}/plan/", "/api/v1/sessions/{token}/judgments/"
DEVICES = (("mouse", "1280x800"), ("keyboard", "1440x900"), ("touch", "390x844"))
DISTRACTED = {"careless": 0.2}  # how often the window loses the focus in a trial
AWAY_MS = 6000.0


class NotTaken(Exception):
    """The server did not accept what a browser would have sent."""


def answer_trials(browser: Browser, token: str, mind: Mind, *, most: int | None = None) -> int:
    """Answer the open trials of the plan, at most ``most``; return the number acknowledged."""
    plan = _good(browser.fetch(PLAN.format(token=token)), "the plan")
    waiting = [trial for trial in plan["trials"] if not trial["is_answered"]][:most]
    trials = _trials(token, [trial["id"] for trial in waiting])
    for planned in waiting:
        row = _row(planned, trials[planned["id"]], mind, engine=plan["engine"])
        sent = {"sent_at": _now(), "judgments": [row]}
        receipt = _good(browser.send(ANSWERS.format(token=token), sent), "an answer")
        if planned["id"] not in receipt["acknowledged"]:
            raise NotTaken(f"{row['response']!r} was refused: {receipt['refused']}")
    return len(waiting)


def _trials(token: str, ids: list[str]) -> dict[str, Trial]:
    """Trials by their public ids, read from the database because the simulation needs their materials."""
    session = Session.objects.filter(token=token).first()
    rows = Trial.objects.select_related(*RELATED).filter(session=session, public_id__in=ids)
    trials = {trial.public_id: trial for trial in rows}
    if len(trials) < len(ids):
        raise NotTaken("the server shows trials that are not in this database: give both one DATABASE_URL")
    return trials


def _row(planned: dict[str, Any], trial: Trial, mind: Mind, *, engine: str) -> dict[str, Any]:
    """One answer as the engine sends it; ``simulated`` says that no device measured it."""
    (response, rt_ms), context_times = mind.answer(trial), mind.context_times(trial)
    device, viewport = DEVICES[mind.device % len(DEVICES)]
    away = 0
    if mind.person.random() < DISTRACTED.get(mind.persona.profile, 0.0):
        away = round(AWAY_MS * float(mind.person.exponential()))
    return {
        "trial": planned["id"],
        "response": response,
        **({"rt_ms": None, "timed_out": True} if rt_ms is None else {"rt_ms": rt_ms + away}),
        "input_type": "" if rt_ms is None else device,
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
            **context_times,
        },
        "events": [{"kind": "blur", "details": {"ms": away}}] if away else [],
    }


def _now() -> str:
    return datetime.now(UTC).isoformat()


def _good(answer: Document, subject: str) -> dict[str, Any]:
    if answer.status != 200:
        raise NotTaken(f"the server answered {answer.status} to {subject}: {answer.body}")
    return answer.body


TRIAL = re.compile(r"/s/(?P<token>[^/]+)/trials/(?P<public_id>[^/]+)/")
SESSION = re.compile(r"/s/(?P<token>[^/]+)/")
MOST_STEPS = 20_000
Through = Literal["api", "forms"]


class Stuck(BadInput):
    """A page has no form that continues the session."""


def visit(
    browser: Browser,
    experiment: Experiment,
    persona: Persona,
    *,
    through: Through = "forms",
    scores: ModelScores | None = None,
) -> Session | None:
    """Take the study from its link to its end; None when the study has no place.

    The link is signed for the participant, so the same persona comes back to the session it has. Trials go
    ``through`` their plain forms, or through the API as a browser with JavaScript sends them.
    """
    version = experiment.current_version()
    if version is None:
        raise BadInput(f"study {experiment.slug!r} was never opened.", remedy="Open it first.")
    page = browser.get(personal_link(experiment, persona.key))
    return go_through(browser, page, Mind(persona, load_protocol(version), scores), through=through)


def go_through(browser: Browser, page: Page, mind: Mind, *, through: Through = "forms") -> Session | None:
    """From one page of a session, or from the consent, to where it leads no further."""
    answered = 0
    for _ in range(MOST_STEPS):
        form = _the_form(page)
        if form is None or answered == mind.persona.stops_after:
            break
        if through == "api" and (match := TRIAL.search(form.action)):
            most = None if mind.persona.stops_after is None else mind.persona.stops_after - answered
            answered += _over_api(browser, match["token"], mind, most=most)
            page = browser.get(f"/s/{match['token']}/")
            continue
        data = _fill_form(form, mind)
        answered += bool(TRIAL.search(form.action))
        page = browser.post(form.action, {**form.hidden, **data})
        if page.status >= 400:
            raise Stuck(f"{form.action} answered {page.status}: {page.title()}.")
        if "consent" in data:
            _mark_simulated(page)
    return _session_at(page)


def _over_api(browser: Browser, token: str, mind: Mind, *, most: int | None) -> int:
    try:
        return answer_trials(browser, token, mind, most=most)
    except NotTaken as problem:
        raise Stuck(f"{problem}.") from None


def _the_form(page: Page) -> Form | None:
    """The form that continues the session, not the one for leaving it."""
    forms = [form for form in page.forms() if not form.action.rstrip("/").endswith("/leave")]
    return forms[0] if forms else None


def _fill_form(form: Form, mind: Mind) -> dict[str, Any]:
    """The persona's values for the form, restricted to values that the form accepts."""
    if "consent" in form.names():
        ticks = {name: "yes" for name in form.offered if name.startswith("statement_")}
        data: dict[str, Any] = {"consent": "yes", **ticks}
    elif match := TRIAL.search(form.action):
        data = dict(mind.protocol.task.form_fields(mind.response(_trial(**match.groupdict()))))
    elif form.action.rstrip("/").endswith("/quiz"):
        data = _quiz_answers(form)
    elif form.action.rstrip("/").endswith("/training"):
        data = _line_answers(form, mind)
    elif form.action.rstrip("/").endswith("/modulus"):
        data = {"number": mind.modulus()}
    elif form.action.rstrip("/").endswith("/questions"):
        data = background(mind.persona, mind.protocol)
    else:
        data = {}
    for name, value in data.items():
        values = value if isinstance(value, list) else [value]
        if not all(form.takes(name, text) for text in values):
            raise Stuck(f"the form at {form.action} offers no {name} {value!r}.")
    return data


def _form_session(form: Form) -> Session:
    """The session whose address the form has."""
    match = SESSION.search(form.action)
    if match is None:
        raise Stuck(f"the form at {form.action} belongs to no session.")
    return Session.objects.select_related("version").get(token=match["token"])


def _quiz_answers(form: Form) -> dict[str, Any]:
    """The right answers: simulated participants understand the instructions."""
    session = _form_session(form)
    return {name: correct_choice(session, int(name.removeprefix("answer_")) - 1) for name in form.offered}


def _line_answers(form: Form, mind: Mind) -> dict[str, Any]:
    """Estimates of the lines that this session shows."""
    session = _form_session(form)
    estimates = mind.lines(session_line_lengths(session), modulus=float(mind.protocol.settings["modulus"]))
    return {f"line_{place}": str(estimate) for place, estimate in enumerate(estimates, start=1)}


def _trial(token: str, public_id: str) -> Trial:
    trial = Trial.objects.select_related(*RELATED).filter(session__token=token, public_id=public_id).first()
    if trial is None:
        raise Stuck(
            "the server shows a trial that is not in this database.", remedy="Give both one DATABASE_URL."
        )
    return trial


def background(persona: Persona, protocol: Protocol) -> dict[str, Any]:
    """Answers to the questionnaire: those of the persona, else the first choice or a plain value."""
    return {
        question["name"]: persona.background.get(question["name"], _usual(question, persona))
        for question in protocol.questionnaire
    }


def _usual(question: dict[str, Any], persona: Persona) -> Any:
    kind = str(question.get("type", "text")).replace("-", "_")
    ends = {str(choice) for choice in question.get("screen_out", ())}
    offered = ["yes", "no"] if kind == "yes_no" else [str(choice) for choice in question.get("choices", ())]
    choices = [choice for choice in offered if choice not in ends] or offered  # who reads stays
    native = [str(choice) for choice in question.get("native", ["yes"])]
    if question.get("role") == "native_language":
        alternatives = [choice for choice in offered if choice not in native]
        answer = native[0] if persona.is_native else alternatives[0] if alternatives else "another"
    elif kind == "number":
        answer = str(max(question.get("min", 0), min(30, question.get("max", 30))))
    else:
        answer = choices[0] if choices else "simulated"
    return [answer] if kind == "multi_choice" else answer


def _mark_simulated(page: Page) -> None:
    """Mark the participant as simulated, so that the answers are never mistaken for a person's."""
    session = _session_at(page)
    if session is not None:
        Participant.objects.filter(pk=session.participant_id).update(is_simulated=True)


def _session_at(page: Page) -> Session | None:
    match = SESSION.search(page.url)
    if match is None:
        return None
    session = Session.objects.filter(token=match["token"]).first()
    if session is None:
        raise Stuck(
            "the server has a session that is not in this database.", remedy="Give both one DATABASE_URL."
        )
    return session
