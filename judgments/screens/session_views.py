"""Views of a participant's session: each step at the session's address, to which each answer redirects."""

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any

from django import forms
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.cache import add_never_cache_headers
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from analysis.plugins.registry import PluginFailure
from experiments.studies.languages import interface_translation
from experiments.studies.wording import gettext
from judgments.models import Session, SessionEvent
from judgments.monitoring.device_problems import NO_ENGINE, engine_name
from judgments.recruitment.quotas import close_full_quota
from judgments.recruitment.recruiter import framing_adapter, hand_in_form
from judgments.screens.forms import (
    HONEYPOT_FIELD,
    ClosingForm,
    LinesForm,
    ModulusForm,
    Questionnaire,
    QuizForm,
    warm_up_context,
)
from judgments.screens.shared_pages import (
    allow_frame,
    last_page,
    not_found,
    page,
    remember_protocol,
    render_closed,
)
from judgments.screens.trial_screen import (
    feedback_context,
    plan_document,
    progress,
    trial_context,
)
from judgments.sessions.completion import finish, return_link, session_outcome, shown_code
from judgments.sessions.leases import SessionExpired, SessionOver, is_too_late
from judgments.sessions.lookup import session_by_token
from judgments.sessions.navigation import Step, move_on, next_step, show
from judgments.sessions.payload import MAX_RESPONSE_CHARACTERS, SentAnswer
from judgments.sessions.places import StudyClosed
from judgments.sessions.pretrial import (
    quiz_attempt,
    record_background,
    record_modulus,
    record_quiz,
    record_training,
    skip_training,
)
from judgments.sessions.protocol import load_protocol
from judgments.sessions.recording import PLUGIN_FAILURE, record_answers
from judgments.sessions.removal import BY_PARTICIPANT, code_for_part, erase, hand_over, is_handed_over, leave

View = Callable[..., HttpResponse]
MAX_REASON_CHARACTERS = 200
AMONG_TRIALS = {"context", "trial", "feedback", "ready", "break"}


def in_session(view: View) -> View:
    """Load the session of the token; convert exceptions of the session to participants' pages."""

    # Participants have no login; the unguessable token in the address is what another site lacks.
    @csrf_exempt  # nosemgrep: without-csrf
    @require_http_methods(["GET", "HEAD", "POST"])
    @wraps(view)
    def view_with_session(request: HttpRequest, token: str, **kwargs: str) -> HttpResponse:
        session = session_by_token(token)
        if session is None:
            return _mark_ended(not_found(request))
        protocol = load_protocol(session.version)
        remember_protocol(request, protocol)
        response = in_own_language(request, session, **kwargs)
        return allow_frame(response, framing_adapter(session.campaign))

    def in_own_language(request: HttpRequest, session: Session, **kwargs: str) -> HttpResponse:
        protocol = load_protocol(session.version)
        with interface_translation(protocol.language):
            if protocol.lab_mode and session.is_final and is_handed_over(session):
                return _mark_ended(_handed_over_page(request, session))
            try:
                response = view(request, session, **kwargs)
                return _mark_ended(response) if session.is_final else response
            except SessionOver:
                return redirect("session", token=session.token)
            except PluginFailure as failure:  # answered by the page to try again
                _record_failure(session, failure)
                raise
            except (StudyClosed, SessionExpired) as error:
                reason = f"back-{error.reason if isinstance(error, StudyClosed) else 'expired'}"
                return render_closed(
                    request,
                    reason,
                    title=protocol.title,
                    language=protocol.language,
                    contact=protocol.contact,
                    hit=hand_in_form(session),
                )

    return view_with_session


def _record_failure(session: Session, failure: PluginFailure) -> None:
    """Store once for each session what its task's plugin failed with, for the researchers' alert."""
    if not session.events.filter(kind=PLUGIN_FAILURE, trial=None).exists():
        SessionEvent.objects.create(session=session, kind=PLUGIN_FAILURE, details={"reason": str(failure)})


def _record_missing_engine(request: HttpRequest, session: Session, reason: str) -> None:
    """Store once for each session why the plain form is there although the task has a script."""
    reason = "".join(filter(str.isprintable, reason[:MAX_REASON_CHARACTERS]))
    if reason and not session.events.filter(kind=NO_ENGINE).exists():
        details = {"reason": reason, "browser": engine_name(request.headers.get("User-Agent", ""))}
        SessionEvent.objects.create(session=session, kind=NO_ENGINE, details=details)


def _mark_ended(response: HttpResponse) -> HttpResponse:
    """Make the service worker delete its cache of this session (see ``static/js/worker.js``)."""
    response["Session-State"] = "over"
    return response


def _handed_over_page(request: HttpRequest, session: Session) -> HttpResponse:
    """Page of an ended session on a shared computer: nothing of it is shown to the next person."""
    protocol = load_protocol(session.version)
    context: dict[str, Any] = {
        "title": protocol.title,
        "contact": protocol.contact,
        "slug": session.experiment.link_slug,
    }
    return page(request, "handed_over", language=protocol.language, **context)


@in_session
def next_participant(request: HttpRequest, session: Session) -> HttpResponse:
    """Close the pages of an ended session on a shared computer, and lead to the beginning."""
    if request.method != "POST" or not load_protocol(session.version).lab_mode or not hand_over(session):
        return redirect("session", token=session.token)
    slug = session.experiment.link_slug
    if session.campaign is not None:
        return redirect("take-panel", slug=slug, detail=session.campaign.name)
    return redirect("take", slug=slug)


@in_session
def current(request: HttpRequest, session: Session) -> HttpResponse:
    """Show the current step."""
    if request.method == "POST":
        return redirect("session", token=session.token)
    return render_current_step(request, session)


def render_current_step(request: HttpRequest, session: Session) -> HttpResponse:
    """Render the current step of a session just loaded or started."""
    if is_too_late(session):
        raise SessionExpired
    step = next_step(session)
    if step.screen == "finish":
        finish(session)
        step = next_step(session)
    return render_step(request, session, step)


@in_session
def questions(request: HttpRequest, session: Session) -> HttpResponse:
    """Store the answers to the questionnaire."""
    if request.method == "POST":
        form = Questionnaire(load_protocol(session.version).questionnaire, request.POST)
        if not form.is_valid():
            return render_step(request, session, Step("questionnaire"), form=form, status=422)
        with transaction.atomic():
            is_stored = record_background(
                session,
                form.answers(),
                is_native=form.is_native(),
                screened_by=form.screened_by(),
                honeypot=request.POST.get(HONEYPOT_FIELD, ""),
            )
            if is_stored:  # answers sent again change nothing, whatever the quotas are by now
                close_full_quota(session)
    return redirect("session", token=session.token)


@in_session
def quiz(request: HttpRequest, session: Session) -> HttpResponse:
    """Store one attempt at the quiz on the instructions."""
    if request.method == "POST" and next_step(session).screen == "quiz":
        form = QuizForm(session, request.POST)
        if not form.is_valid():
            return render_step(request, session, Step("quiz"), form=form, status=422)
        record_quiz(session, form.wrong(), attempt=request.POST.get("attempt", ""))
    return redirect("session", token=session.token)


@in_session
def closing(request: HttpRequest, session: Session) -> HttpResponse:
    """Store the answers to the questions at the end; the last delivery counts."""
    protocol = load_protocol(session.version)
    is_asked = session.status == Session.Status.COMPLETE and session.participant.erased_at is None
    if request.method != "POST" or not is_asked:
        return redirect("session", token=session.token)
    form = ClosingForm(protocol, request.POST)
    if form.is_valid() and (answers := form.answers()):
        SessionEvent.objects.create(session=session, kind="closing", details=answers)
    context: dict[str, Any] = {
        "return_link": return_link(session, protocol),
        "code": shown_code(session),
        "hit": hand_in_form(session),
        "protocol": protocol,
        "session": session,
    }
    if form.is_valid():
        return page(request, "end", language=protocol.language, title=protocol.title, is_sent=True, **context)
    return page(
        request, "end", language=protocol.language, title=protocol.title, closing=form, status=422, **context
    )


@in_session
def withdraw(request: HttpRequest, session: Session) -> HttpResponse:
    """Explain the deletion of the answers, or delete them."""
    if request.method == "POST":
        erase(session.participant, reason=BY_PARTICIPANT)
    if request.method == "POST" or session.participant.erased_at is not None:
        return redirect("session", token=session.token)
    protocol = load_protocol(session.version)
    return page(request, "withdraw", language=protocol.language, title=protocol.title, session=session)


@in_session
def continue_session(request: HttpRequest, session: Session) -> HttpResponse:
    """Leave the instructions, feedback or a break."""
    if request.method == "POST":
        move_on(session, request.POST.get("mark", ""))
        _record_missing_engine(request, session, request.POST.get("no_engine", ""))
    return redirect("session", token=session.token)


@in_session
def submit_answer(request: HttpRequest, session: Session, public_id: str) -> HttpResponse:
    """Store one judgment, or show the trial again with the error."""
    if request.method != "POST":
        return redirect("session", token=session.token)
    trial = session.trials.filter(public_id=public_id).first()
    if trial is None:
        return not_found(request)
    response = load_protocol(session.version).task.read_response(request.POST)[:MAX_RESPONSE_CHARACTERS]
    receipt = record_answers(session.token, [SentAnswer(public_id, response, timing={"no_rt": True})])
    _record_missing_engine(request, session, request.POST.get("no_engine", ""))
    if receipt.refused:
        step = replace(next_step(session), screen="trial", trial=trial)
        refusal = receipt.refused[0]
        problem = refusal.problem.translate(gettext) if refusal.problem else refusal.message
        return render_step(request, session, step, problem=problem, response=response, status=422)
    if receipt.is_complete:
        session.status = Session.Status.COMPLETE
    return redirect("session", token=session.token)


@in_session
def report_plain_form(request: HttpRequest, session: Session) -> HttpResponse:
    """Store why the page shows its plain form; requested as a picture, which needs no script."""
    if not session.is_final:
        _record_missing_engine(request, session, request.GET.get("reason", ""))
    response = HttpResponse(status=204)
    add_never_cache_headers(response)
    return response


@in_session
def leave_session(request: HttpRequest, session: Session) -> HttpResponse:
    """Ask for confirmation to stop, or end the session."""
    if request.method == "POST":
        leave(session)
    if request.method == "POST" or session.is_final:
        return redirect("session", token=session.token)
    protocol = load_protocol(session.version)
    context: dict[str, Any] = {
        "title": protocol.title,
        "session": session,
        "has_code": bool(code_for_part(session)),
    }
    return page(request, "leave", language=protocol.language, **context)


def render_step(
    request: HttpRequest,
    session: Session,
    step: Step,
    *,
    form: forms.Form | None = None,
    problem: str = "",
    response: str = "",
    status: int = 200,
) -> HttpResponse:
    """Render one step of a session."""
    protocol = load_protocol(session.version)
    if step.screen == "end" and (html := last_page(session)) is not None:
        page_response = HttpResponse(html)
        add_never_cache_headers(page_response)
        return page_response
    context: dict[str, Any] = {
        "session": session,
        "title": protocol.title,
        "mark": step.mark,
        "protocol": protocol,
    }
    if step.screen == "questionnaire":
        context["form"] = form or Questionnaire(protocol.questionnaire)
        context["honeypot"] = HONEYPOT_FIELD
        # A quota ends sessions by an answer, too, so the page must not promise that no answer does.
        context["screens_out"] = bool(session.experiment.quotas) or any(
            question.get("screen_out") for question in protocol.questionnaire
        )
    elif step.screen == "quiz":
        context |= {"form": form or QuizForm(session), "attempt": quiz_attempt(session)}
    elif step.screen in {"training", "modulus"}:
        context |= warm_up_context(step.screen, session, protocol, form)
    elif step.screen in {"end", "erased", "screened_out", "left"}:
        context["return_link"] = return_link(session, protocol)
        context["code"] = shown_code(session)
        context["hit"] = hand_in_form(session)
        context["is_over_quota"] = session_outcome(session) == "over_quota"
        if step.screen == "end":
            context["closing"] = ClosingForm(protocol)
    elif step.screen in {"context", "trial"}:
        show(session, step.current_trial)
        context |= trial_context(step, protocol, problem=problem, response=response)
        if step.current_trial.position == 1 and not problem:
            context["plan"] = plan_document(session, step.trials)
    elif step.screen == "feedback":
        context |= feedback_context(step, protocol)
    context["progress"] = progress(step, protocol)
    if step.screen in AMONG_TRIALS:
        context["instructions_again"] = protocol.instructions.strip()
    return page(request, step.screen, language=protocol.language, status=status, **context)


@in_session
def training(request: HttpRequest, session: Session) -> HttpResponse:
    """Store one attempt at the line training, or skip it."""
    if request.method == "POST" and next_step(session).screen == "training":
        if request.POST.get("skip"):
            skip_training(session)
            return redirect("session", token=session.token)
        form = LinesForm(session, request.POST)
        if not form.is_valid():
            return render_step(request, session, Step("training"), form=form, status=422)
        record_training(
            session, form.typed_lines(), form.estimates(), attempt=request.POST.get("attempt", "")
        )
    return redirect("session", token=session.token)


@in_session
def modulus(request: HttpRequest, session: Session) -> HttpResponse:
    """Store the participant's modulus."""
    if request.method == "POST" and next_step(session).screen == "modulus":
        form = ModulusForm(session, request.POST)
        if not form.is_valid():
            return render_step(request, session, Step("modulus"), form=form, status=422)
        record_modulus(session, *form.cleaned_data["number"])
    return redirect("session", token=session.token)
