"""One participant's session at one address: each screen is shown there, each answer redirects there.

The address holds a token nobody can guess; whoever has it is the participant, so these forms need
no CSRF cookie, and a session also works where cookies are dropped.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import wraps

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.cache import add_never_cache_headers
from django.utils.translation import gettext
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from experiments.languages import speaking
from judgments.models import Session
from judgments.screens.first_page import first_page
from judgments.screens.forms import TRAP, Questionnaire
from judgments.screens.last_page import last_page
from judgments.screens.page import closed, not_found, page
from judgments.screens.plan_document import plan_document
from judgments.screens.quiz_form import QuizForm
from judgments.screens.trial_screen import feedback_context, progress, trial_context
from judgments.screens.warm_up import warm_up_context
from judgments.sessions.advance import Step, move_on, next_step, show
from judgments.sessions.background import note_background
from judgments.sessions.begun import beginnings
from judgments.sessions.completion import way_back
from judgments.sessions.comprehension import attempt_of, take_attempt
from judgments.sessions.erase import BY_PARTICIPANT, erase
from judgments.sessions.finish import finish
from judgments.sessions.lease import SessionOver, is_too_late
from judgments.sessions.lookup import whole_session
from judgments.sessions.places import StudyClosed
from judgments.sessions.prepare import prepare_trials
from judgments.sessions.protocol import protocol_of
from judgments.sessions.record import Delivery, UnknownTrial, record
from judgments.sessions.withdraw import leave
from judgments.tasks.base import BadResponse

View = Callable[..., HttpResponse]


def in_session(view: View) -> View:
    """Find the session of the token; turn what may happen to it into a kind page."""

    @csrf_exempt
    @require_http_methods(["GET", "HEAD", "POST"])
    @wraps(view)
    def guarded(request: HttpRequest, token: str, **kwargs: str) -> HttpResponse:
        session = whole_session.first(token)
        if session is None:
            return _over(not_found(request))
        if request.method == "POST":
            beginnings.settle(token)
            if not session.is_final and not session.trials.exists():
                prepare_trials(session)  # they began in another process
        protocol = protocol_of(session.version)
        with speaking(protocol.language):
            try:
                response = view(request, session, **kwargs)
                return _over(response) if session.is_final else response
            except SessionOver:
                return redirect("session", token=token)
            except StudyClosed as door:
                reason = f"back-{door.reason}"
                return closed(request, reason, title=protocol.title, language=protocol.language)

    return guarded


def _over(response: HttpResponse) -> HttpResponse:
    """Tell the browser to forget what it kept of this session (see ``static/js/worker.js``)."""
    response["Session-State"] = "over"
    return response


@in_session
def current(request: HttpRequest, session: Session) -> HttpResponse:
    """Show what comes next for this participant."""
    if request.method == "POST":
        return redirect("session", token=session.token)
    return come_in(request, session)


def come_in(request: HttpRequest, session: Session) -> HttpResponse:
    """The page of what comes next, for a session just read or just begun."""
    if is_too_late(session):
        raise StudyClosed("expired")
    begun = beginnings.still(session)
    step = next_step(session, unanswered=begun.pattern.trials if begun is not None else ())
    if begun is not None and step.screen == "trial":
        if beginnings.show(session.token, timezone.now()):
            return first_page(session, step, begun.pattern)
        step = next_step(session)  # they are stored by now
    if step.trial is None and step.n_answered == 0 and not session.is_final:
        beginnings.settle(session.token)  # they were being written while we looked
        prepare_trials(session)  # the arrival was cut off before it wrote them
        step = next_step(session)
    if step.screen == "finish":
        finish(session)
        step = next_step(session)
    return screen(request, session, step)


@in_session
def questions(request: HttpRequest, session: Session) -> HttpResponse:
    """Keep the answers to the questionnaire."""
    if request.method == "POST":
        form = Questionnaire(protocol_of(session.version).questionnaire, request.POST)
        if not form.is_valid():
            return screen(request, session, Step("questionnaire"), form=form, status=422)
        note_background(
            session,
            form.answers(),
            is_native=form.is_native(),
            screened_by=form.screened_by(),
            trap=request.POST.get(TRAP, ""),
        )
    return redirect("session", token=session.token)


@in_session
def quiz(request: HttpRequest, session: Session) -> HttpResponse:
    """Take one attempt at the questions about the instructions."""
    if request.method == "POST" and next_step(session).screen == "quiz":
        form = QuizForm(session, request.POST)
        if not form.is_valid():
            return screen(request, session, Step("quiz"), form=form, status=422)
        take_attempt(session, form.wrong(), attempt=request.POST.get("attempt", ""))
    return redirect("session", token=session.token)


@in_session
def withdrawing(request: HttpRequest, session: Session) -> HttpResponse:
    """Say what deleting the answers means; delete them."""
    if request.method == "POST":
        erase(session.participant, reason=BY_PARTICIPANT)
    if request.method == "POST" or session.participant.erased_at is not None:
        return redirect("session", token=session.token)
    protocol = protocol_of(session.version)
    return page(request, "withdraw", language=protocol.language, title=protocol.title, session=session)


@in_session
def onward(request: HttpRequest, session: Session) -> HttpResponse:
    """Leave instructions, feedback or a break."""
    if request.method == "POST":
        move_on(session, request.POST.get("mark", ""))
    return redirect("session", token=session.token)


@in_session
def answer(request: HttpRequest, session: Session, public_id: str) -> HttpResponse:
    """Record one judgment; say what is wrong with it when it cannot be one."""
    if request.method != "POST":
        return redirect("session", token=session.token)
    response = protocol_of(session.version).task.sent(request.POST)[:1000]
    try:
        record(session, public_id, Delivery(response, timing={"no_rt": True}))
    except UnknownTrial:
        return not_found(request)
    except BadResponse as problem:
        trial = session.trials.get(public_id=public_id)
        step = replace(next_step(session), screen="trial", trial=trial)
        return screen(request, session, step, problem=problem.said_in(gettext), given=response, status=422)
    if next_step(session).screen == "finish":
        finish(session)
    return redirect("session", token=session.token)


@in_session
def leaving(request: HttpRequest, session: Session) -> HttpResponse:
    """Ask whether the participant wants to stop; stop."""
    if request.method == "POST":
        leave(session)
    if request.method == "POST" or session.is_final:
        return redirect("session", token=session.token)
    protocol = protocol_of(session.version)
    return page(request, "leave", language=protocol.language, title=protocol.title, session=session)


def screen(
    request: HttpRequest,
    session: Session,
    step: Step,
    *,
    form: forms.Form | None = None,
    problem: str = "",
    given: str = "",
    status: int = 200,
) -> HttpResponse:
    """Render one step of a session."""
    protocol = protocol_of(session.version)
    if step.screen == "end" and (html := last_page(session)) is not None:
        response = HttpResponse(html)
        add_never_cache_headers(response)
        return response
    context = {"session": session, "title": protocol.title, "mark": step.mark, "protocol": protocol}
    if step.screen == "questionnaire":
        context["form"] = form or Questionnaire(protocol.questionnaire)
        context["trap"] = TRAP
        context["screens_out"] = any(question.get("screen_out") for question in protocol.questionnaire)
    elif step.screen == "quiz":
        context |= {"form": form or QuizForm(session), "attempt": attempt_of(session)}
    elif step.screen in {"training", "modulus"}:
        context |= warm_up_context(step.screen, session, protocol, form)
    elif step.screen in {"end", "erased"}:
        context["way_back"] = way_back(session, protocol)
    elif step.screen == "trial":
        show(session, step.trial)
        context |= trial_context(step, protocol, problem=problem, given=given)
        if step.trial.position == 1 and not problem:
            context["plan"] = plan_document(session)
    elif step.screen == "feedback":
        context |= feedback_context(step, protocol)
    context["progress"] = progress(step)
    return page(request, step.screen, language=protocol.language, status=status, **context)
