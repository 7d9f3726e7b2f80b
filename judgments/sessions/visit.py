"""A synthetic participant goes through the real doors: link, consent, questions, trials, code."""

import re
from typing import Any, Literal

from analysis.errors import BadInput
from experiments.models import Experiment
from judgments.models import Participant, Session, Trial
from judgments.sessions.api_visit import NotTaken, answer_trials
from judgments.sessions.browser import Browser, Form, Page
from judgments.sessions.comprehension import right_place
from judgments.sessions.model_scores import ModelScores
from judgments.sessions.protocol import Protocol, protocol_of
from judgments.sessions.simulate import RELATED, Mind, Persona
from judgments.sessions.warm_up import lengths_for

TRIAL = re.compile(r"/s/(?P<token>[^/]+)/trials/(?P<public_id>[^/]+)/")
SESSION = re.compile(r"/s/(?P<token>[^/]+)/")
MOST_STEPS = 20_000
Through = Literal["api", "forms"]


class Stuck(BadInput):
    """A page did not lead on."""


def visit(
    browser: Browser,
    experiment: Experiment,
    persona: Persona,
    *,
    through: Through = "forms",
    scores: ModelScores | None = None,
) -> Session | None:
    """Take the study from its link to its end; None when the study has no place.

    The link names the participant, so the same persona comes back to the session it has. Trials go
    ``through`` their plain forms, or through the API as a browser with JavaScript sends them.
    """
    version = experiment.current_version()
    if version is None:
        raise BadInput(f"study {experiment.slug!r} was never opened.", remedy="Open it first.")
    page = browser.get(f"/take/{experiment.slug}/?participant={persona.key}")
    return go_through(browser, page, Mind(persona, protocol_of(version), scores), through=through)


def go_through(browser: Browser, page: Page, mind: Mind, *, through: Through = "forms") -> Session | None:
    """From one page of a session, or from the consent, to where it leads no further."""
    answered = 0
    for _ in range(MOST_STEPS):
        form = _the_form(page)
        if form is None or answered == mind.persona.stops_after:
            break
        if through == "api" and (found := TRIAL.search(form.action)):
            most = None if mind.persona.stops_after is None else mind.persona.stops_after - answered
            answered += _over_api(browser, found["token"], mind, most=most)
            page = browser.get(f"/s/{found['token']}/")
            continue
        data = _filled(form, mind)
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
    """The form that leads on; leaving is never it."""
    forms = [form for form in page.forms() if not form.action.rstrip("/").endswith("/leave")]
    return forms[0] if forms else None


def _filled(form: Form, mind: Mind) -> dict[str, Any]:
    """What this persona puts into the form: only what a person could put there."""
    if "consent" in form.names():
        data: dict[str, Any] = {"consent": "yes"}
    elif found := TRIAL.search(form.action):
        data = dict(mind.protocol.task.fields(mind.response(_trial(**found.groupdict()))))
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
        if not all(form.takes(name, one) for one in values):
            raise Stuck(f"the form at {form.action} offers no {name} {value!r}.")
    return data


def _quiz_answers(form: Form) -> dict[str, Any]:
    """The right answers: synthetic people understand instructions."""
    session = Session.objects.select_related("version").get(token=SESSION.search(form.action)["token"])
    return {name: right_place(session, int(name.removeprefix("answer_")) - 1) for name in form.offered}


def _line_answers(form: Form, mind: Mind) -> dict[str, Any]:
    """Estimates of the lines that this session shows."""
    session = Session.objects.select_related("version").get(token=SESSION.search(form.action)["token"])
    estimates = mind.lines(lengths_for(session), modulus=float(mind.protocol.settings["modulus"]))
    return {f"line_{place}": str(one) for place, one in enumerate(estimates, start=1)}


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
    ends = {str(one) for one in question.get("screen_out", ())}
    offered = ["yes", "no"] if kind == "yes_no" else [str(one) for one in question.get("choices", ())]
    choices = [one for one in offered if one not in ends] or offered  # who reads stays
    native = [str(one) for one in question.get("native", ["yes"])]
    if question.get("role") == "native_language":
        others = [one for one in offered if one not in native]
        answer = native[0] if persona.is_native else others[0] if others else "another"
    elif kind == "number":
        answer = str(max(question.get("min", 0), min(30, question.get("max", 30))))
    else:
        answer = choices[0] if choices else "simulated"
    return [answer] if kind == "multi_choice" else answer


def _mark_simulated(page: Page) -> None:
    """Note that this is no person, so that nobody takes the answers for a person's."""
    session = _session_at(page)
    if session is not None:
        Participant.objects.filter(pk=session.participant_id).update(is_simulated=True)


def _session_at(page: Page) -> Session | None:
    found = SESSION.search(page.url)
    if found is None:
        return None
    session = Session.objects.filter(token=found["token"]).first()
    if session is None:
        raise Stuck(
            "the server has a session that is not in this database.", remedy="Give both one DATABASE_URL."
        )
    return session
