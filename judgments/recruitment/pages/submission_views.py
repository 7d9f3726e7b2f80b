"""Submissions of a campaign: the list, decisions with reasons, messages, and sending what was decided."""

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from statistics import fmean, stdev
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, F, Max, OuterRef, Prefetch, Q, QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from analysis.errors import BadInput
from analysis.power.money import format_money, minor_units
from analysis.text import plural
from experiments.lists.extra_trials import INSTRUCTION
from experiments.models import Campaign, Experiment, TrialKind
from experiments.pages.access import AuthenticatedRequest, get_study, may_edit
from experiments.pages.forms import paginate, set_remark
from judgments.models import (
    Judgment,
    PlatformCall,
    PlatformIdentity,
    Session,
    SessionEvent,
    Signal,
    Submission,
)
from judgments.monitoring.session_summaries import SessionSummary, with_sessions
from judgments.recruitment import decisions, ledger, payments
from judgments.recruitment.pages.campaign_access import (
    action,
    campaign_context,
    get_campaign,
    report,
    sentence,
)
from judgments.recruitment.pages.campaign_views import count_submissions, current_job
from judgments.recruitment.reconcile import MISMATCHES, NO_CODE
from judgments.recruitment.recruiter import Message, PlatformError, Recruiter, get_recruiter, platform_label
from judgments.sessions.completion import ENDINGS, shown_code

Status, Decision = Submission.Status, Submission.Decision
PER_PAGE = 50
MOST_TICKED = 500
MOST_BONUSES = 500
LAST_REMARKED = 20  # that a preview names
LONGEST_MESSAGE = 4_000
FEWEST_COMPARED = 5  # submissions whose times are compared
FAST_SD = 3  # standard deviations below the mean that Prolific calls exceptionally fast
MOST_TIMES = 10_000
UNDECIDED = Q(status=Status.SUBMITTED, decision=Decision.NONE)
SHOWN = {
    "": ("all", Q()),
    "undecided": ("waiting for your decision", UNDECIDED),
    "clear": ("waiting, without a remark", UNDECIDED),
    "passing": (
        "waiting, complete and without a remark",
        UNDECIDED & Q(session__status=Session.Status.COMPLETE),
    ),
    "remarked": ("waiting, with a remark", UNDECIDED),
    "decided": ("decided and not sent", ~Q(decision=Decision.NONE)),
    "mismatch": ("platform and data differ", ~Q(mismatches=[])),
    **{value: (label, Q(status=value)) for value, label in Status.choices},
}
NEXT_STEPS = {  # one next step for each mismatch
    "no_data": "Ask the participant before you decide; nothing was answered here under this submission.",
    "did_not_begin": "Wait: the platform asks them to return the place. Nothing is due, and it is no ground"
    " for a rejection.",
    "incomplete": "Look at the answers. The person may have closed the page before the end.",
    "not_submitted": "The last page shows the way back again. Send the participant a message.",
    "left_complete": "The place is free. Pay by a bonus if the answers are used.",
    "no_code": "Decide by the answers: the session was found by its submission. See Codes and messages.",
    "other_code": "Decide by the answers: a mistyped code is no ground for a rejection.",
    "other_person": "Do not decide before you know whose session this is: ask the participant.",
    "claimed_twice": "It is paid once, to the person whom the platform names. Anybody can write an id into a"
    " link, and workers share ids: look at both sessions before you decide.",
    "not_listed": "Look on the platform’s own site.",
    "undecided_here": "Nothing is left to do there. Decide about pay here only if it differs.",
    "bonus_elsewhere": "Somebody paid on the platform’s own site. Do not pay it again.",
    "bonus_missing": "Bonuses appear within minutes. After a day, look on the platform’s own site.",
}


class ShowForm(forms.Form):
    """Which submissions are listed."""

    show = forms.ChoiceField(
        choices=[(name, label) for name, (label, _) in SHOWN.items()], required=False, label="Show"
    )
    who = forms.CharField(required=False, max_length=100, label="Pseudonym")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        set_remark(self.fields["who"], "")


class DecisionForm(forms.Form):
    """A decision on one submission."""

    decision = forms.ChoiceField(widget=forms.RadioSelect, label="Decision")
    category = forms.ChoiceField(required=False, label="Ground of a rejection")
    message = forms.CharField(
        required=False,
        max_length=LONGEST_MESSAGE,
        widget=forms.Textarea(attrs={"rows": 6}),
        label="Message to the participant",
    )

    note = forms.CharField(
        required=False,
        max_length=payments.LONGEST_REASON,
        label="Reason, for your team",
        help_text="Stored with the decision and never sent.",
    )

    def __init__(self, *args: Any, recruiter: Recruiter, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        decision, category, message = (self.fields[name] for name in ("decision", "category", "message"))
        assert isinstance(decision, forms.ChoiceField)
        assert isinstance(category, forms.ChoiceField)
        choices = [(Decision.APPROVE.value, "Approve and pay")]
        if recruiter.requests_returns:
            choices.append((Decision.REQUEST_RETURN.value, "Ask to return the place"))
        if recruiter.decides:
            choices.append((Decision.REJECT.value, "Reject"))
        decision.choices = choices
        category.choices = [("", "choose for a rejection …"), *recruiter.reject_categories.items()]
        message.help_text = (
            "For a rejection or a request to return. A rejection needs"
            f" {recruiter.shortest_reject_message} to {recruiter.longest_reject_message:,} characters: what"
            " was asked for, what you saw, and why that is a ground. It is sent as it stands."
        )
        set_remark(message, "")
        set_remark(category, "")
        set_remark(self.fields["note"], "")


class BonusForm(forms.Form):
    """A bonus."""

    amount = forms.CharField(max_length=12, widget=forms.TextInput(attrs={"inputmode": "decimal"}))
    reason = forms.CharField(
        max_length=payments.LONGEST_REASON, label="Reason", help_text="On MTurk the worker reads it."
    )

    def __init__(self, *args: Any, currency: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["amount"].label = f"Amount in {currency}"


@dataclass(frozen=True)
class SubmissionRow:
    """A submission with the facts of its session beside it."""

    submission: Submission
    session: SessionSummary | None
    minutes: float | None
    expected_code: str
    remarks: list[str]
    is_sent: bool

    @property
    def name(self) -> str:
        """The participant's pseudonym, or a number where no session belongs to the submission."""
        session = self.submission.session
        return session.participant.pseudonym if session else f"submission {self.submission.pk}"

    @property
    def mismatches(self) -> list[tuple[str, str]]:
        """Each disagreement with one next step."""
        return [(MISMATCHES[code], NEXT_STEPS.get(code, "")) for code in self.submission.mismatches]

    @property
    def may_decide(self) -> bool:
        """Whether a decision is still to be made."""
        return self.submission.status == Status.SUBMITTED and not self.submission.decision


# The list


def _with_remarks(rows: QuerySet[Submission], *, has_any: bool) -> QuerySet[Submission]:
    """Submissions with a signal, a failed instruction check or a mismatch; or all others."""
    signals = Signal.objects.filter(session=OuterRef("session"))
    failed = Judgment.objects.filter(
        trial__session=OuterRef("session"),
        trial__kind=TrialKind.CATCH,
        trial__correct__check=INSTRUCTION,
        is_correct=False,
    )
    remarked = ~Q(mismatches=[]) | Exists(signals) | Exists(failed)
    return rows.filter(remarked) if has_any else rows.exclude(remarked)


def filter_submissions(campaign: Campaign, *, show: str = "", who: str = "") -> QuerySet[Submission]:
    """The submissions that match, the most urgent first."""
    rows = Submission.objects.filter(SHOWN[show][1], campaign=campaign)
    if show in {"clear", "passing", "remarked"}:
        rows = _with_remarks(rows, has_any=show == "remarked")
    if show == "decided":
        rows = rows.exclude(Exists(_calls_sent()))
    if who:
        rows = rows.filter(session__participant__pseudonym__iexact=who)
    return rows.order_by(F("decide_by").asc(nulls_last=True), "pk")


def _calls_sent() -> QuerySet[PlatformCall]:
    """Calls that carried the decision on a submission."""
    Kind, State = PlatformCall.Kind, PlatformCall.State
    return PlatformCall.objects.filter(
        submission=OuterRef("pk"),
        kind__in=[Kind.APPROVE, Kind.REJECT, Kind.REQUEST_RETURN],
        state__in=[State.SENT, State.UNKNOWN, State.CONFIRMED],
    )


def build_rows(campaign: Campaign, submissions: QuerySet[Submission]) -> list[SubmissionRow]:
    """Submissions with their sessions' facts, in the same number of queries for any number of them."""
    endings = Prefetch("session__events", SessionEvent.objects.filter(kind__in=ENDINGS))
    submissions = submissions.select_related("session__participant", "session__campaign")
    stored = list(submissions.prefetch_related(endings).annotate(is_sent=Exists(_calls_sent())))
    people = {row.session.participant_id: row.session.participant for row in stored if row.session}
    summaries = {
        summary.session.pk: summary
        for entry in with_sessions(list(people.values()))
        for summary in entry["sessions"]
    }
    return [_row(campaign, row, summaries.get(row.session_id or 0), is_sent=row.is_sent) for row in stored]


def _row(
    campaign: Campaign, row: Submission, summary: SessionSummary | None, *, is_sent: bool
) -> SubmissionRow:
    remarks = [f"{signal['label']}: {signal['reason']}" for signal in summary.signals] if summary else []
    if summary and summary.n_instructions:
        n_failed = summary.n_instructions - summary.n_instructions_right
        if n_failed:
            remarks.append(f"failed {n_failed} of {summary.n_instructions} instruction checks")
    return SubmissionRow(
        row, summary, _minutes(row, summary), shown_code(row.session) if row.session else "", remarks, is_sent
    )


def _minutes(row: Submission, summary: SessionSummary | None) -> float | None:
    """Minutes as the platform reports them, else those of the session."""
    if row.started_at and row.submitted_at:
        return (row.submitted_at - row.started_at) / timedelta(minutes=1)
    return summary.minutes if summary else None


@login_required
def submissions(request: AuthenticatedRequest, slug: str, campaign_id: int) -> HttpResponse:
    """List the submissions of a campaign, 50 on a page."""
    study = get_study(request.user, slug)
    campaign = get_campaign(study, campaign_id)
    form = ShowForm(request.GET)
    filters = form.cleaned_data if form.is_valid() else {"show": "", "who": ""}
    matching = filter_submissions(campaign, **filters)
    page = paginate(request, matching, most=PER_PAGE)
    rows = build_rows(campaign, matching.filter(pk__in=[row.pk for row in page]))
    counts = count_submissions(campaign)
    recruiter = get_recruiter(campaign)
    query = QueryDict(mutable=True)
    query.update({name: value for name, value in filters.items() if value})
    context = campaign_context(
        study,
        campaign,
        tab="submissions",
        form=form,
        page_of_submissions=page,
        rows=rows,
        query=query.urlencode(),
        return_query=request.GET.urlencode()[:500],
        is_filtered=any(filters.values()),
        tiles=[
            ("undecided", "To decide", Submission.objects.filter(UNDECIDED, campaign=campaign).count()),
            *((name, label.capitalize(), counts.get(name, 0)) for name, label in Status.choices),
        ],
        shown_now=filters["show"],
        newest=Submission.objects.filter(campaign=campaign).aggregate(newest=Max("pk"))["newest"] or 0,
        n_passing=filter_submissions(campaign, show="passing").count(),
        bulk_actions=_bulk_actions(campaign, recruiter),
        key=secrets.token_hex(8),
        longest_reason=payments.LONGEST_REASON,
        job=current_job(campaign),
        n_unsent=filter_submissions(campaign, show="decided").count(),
        may_edit=may_edit(request.user, study) and campaign.state != Campaign.State.CLOSED,
    )
    return render(request, "judgments/recruitment/submissions.html", context)


def _bulk_actions(campaign: Campaign, recruiter: Recruiter) -> list[tuple[str, str]]:
    reward = format_money(campaign.reward_minor, campaign.currency)
    actions = [("approve", f"approve, {reward} each")]
    if recruiter.requests_returns:
        actions.append(("request_return", "ask to return the place"))
    if recruiter.pays_bonuses:
        actions.append(("bonus", "give a bonus"))
    return [*actions, ("undo", "undo the decision")]


def _to_list(request: HttpRequest, study: Experiment, campaign_id: int) -> HttpResponse:
    query = QueryDict(request.POST.get("return_query", "")[:500]).urlencode()
    address = reverse("study-submissions", args=[study.slug, campaign_id])
    return redirect(f"{address}?{query}" if query else address)


@login_required
def decide_many(request: AuthenticatedRequest, slug: str, campaign_id: int) -> HttpResponse:
    """Apply one action to several submissions; nothing is sent or rejected here."""
    study = get_study(request.user, slug, editing=True)
    campaign = get_campaign(study, campaign_id)
    if request.method == "POST":
        try:
            if "preview" in request.POST:
                return _approval_page(request, study, campaign)
            messages.success(request, _apply(request, campaign))
        except BadInput as error:
            messages.error(request, sentence(error))
    return _to_list(request, study, campaign_id)


#: Fields of the form that select submissions; the preview sends them on.
SELECTING = ("scope", "shown", "newest", "return_query", "submission")


def _approval_page(request: AuthenticatedRequest, study: Experiment, campaign: Campaign) -> HttpResponse:
    """Return effect and cost of approving the selection, to be confirmed; stores nothing."""
    if request.POST.get("action") != "approve":
        raise BadInput("only an approval has a preview of its cost.", remedy="Choose approve as the action.")
    rows = _selected_submissions(request, campaign)
    preview = decisions.preview_approval(campaign, rows)
    waiting = rows.filter(UNDECIDED)
    remarked = _with_remarks(waiting, has_any=True).select_related("session__participant").order_by("pk")
    context = campaign_context(
        study,
        campaign,
        tab="submissions",
        preview=preview,
        n_selected=rows.count(),
        n_remarked=remarked.count(),
        remarked=remarked[:LAST_REMARKED],
        fields=[(name, value) for name in SELECTING for value in request.POST.getlist(name)],
        note=request.POST.get("note", "")[: payments.LONGEST_REASON],
        longest_reason=payments.LONGEST_REASON,
        list_query=QueryDict(request.POST.get("return_query", "")[:500]).urlencode(),
    )
    return render(request, "judgments/recruitment/approval.html", context)


def _apply(request: AuthenticatedRequest, campaign: Campaign) -> str:
    chosen, reason = request.POST.get("action", ""), request.POST.get("reason", "")
    note = request.POST.get("note", "")
    rows = _selected_submissions(request, campaign)
    n_selected = rows.count()
    of_all = f"of {n_selected} selected"
    later = "Nothing is sent before you send it; until then it can be undone."
    if chosen == "approve":
        n = decisions.approve(campaign, rows, by=request.user, reason=note)
        return f"{n} {of_all} approved. {later}"
    if chosen == "request_return":
        n = decisions.request_return(campaign, rows, message=reason, by=request.user, reason=note)
        return f"{n} {of_all} to be asked to return their place. {later}"
    if chosen == "undo":
        return f"{decisions.undo(campaign, rows, by=request.user)} {of_all} undone."
    if chosen == "bonus":
        n = _give_bonuses(request, campaign, rows)
        amount = format_money(
            minor_units(request.POST.get("amount", ""), campaign.currency), campaign.currency
        )
        return f"A bonus of {amount} for {n} {of_all}. {later}"
    raise BadInput("no action was chosen.", remedy="Choose one beside the selection.")


@transaction.atomic
def _give_bonuses(request: AuthenticatedRequest, campaign: Campaign, rows: QuerySet[Submission]) -> int:
    """Add a bonus for each selected submission with a session; the same form sent twice adds one each."""
    amount = minor_units(request.POST.get("amount", ""), campaign.currency)
    sessions = list(Session.objects.filter(submission__in=rows.order_by().values("pk"))[: MOST_BONUSES + 1])
    if len(sessions) > MOST_BONUSES:
        raise BadInput(
            f"more than {MOST_BONUSES} people are selected.",
            remedy="Filter the list, and give fewer at once.",
        )
    key = request.POST.get("key", "")[:40] or secrets.token_hex(8)
    for session in sessions:
        payments.give_bonus(
            session,
            amount_minor=amount,
            currency=campaign.currency,
            reason=request.POST.get("reason", ""),
            key=key,
            by=request.user,
        )
    return len(sessions)


def _selected_submissions(request: HttpRequest, campaign: Campaign) -> QuerySet[Submission]:
    """Those ticked, those of the page, all that match or pass; none that came after the page was shown."""
    if request.POST.get("scope") in {"matching", "passing"}:
        form = ShowForm(QueryDict(request.POST.get("return_query", "")[:500]))
        filters = form.cleaned_data if form.is_valid() else {}
        newest = request.POST.get("newest", "")
        if request.POST["scope"] == "passing":
            filters = {"show": "passing"}
        matching = filter_submissions(campaign, **filters)
        return matching.filter(pk__lte=int(newest) if newest.isdecimal() and len(newest) < 19 else 0)
    is_page = request.POST.get("scope") == "page"
    texts = request.POST.get("shown", "").split(",") if is_page else request.POST.getlist("submission")
    numbers = [int(text) for text in texts if text.isdecimal() and len(text) < 19]
    if not numbers:
        raise BadInput("no submission is selected.", remedy="Tick submissions, or choose all of them.")
    return Submission.objects.filter(campaign=campaign, pk__in=numbers[:MOST_TICKED])


# One submission


@login_required
def submission(
    request: AuthenticatedRequest, slug: str, campaign_id: int, submission_id: int
) -> HttpResponse:
    """One submission with both sides' facts; decide, undo, or give a bonus by the button that was pressed."""
    editing = request.method == "POST"
    study = get_study(request.user, slug, editing=editing)
    campaign = get_campaign(study, campaign_id)
    stored = get_object_or_404(Submission, pk=submission_id, campaign=campaign)
    recruiter = get_recruiter(campaign)
    form = DecisionForm(request.POST if "decide" in request.POST else None, recruiter=recruiter)
    bonus = BonusForm(request.POST if "bonus" in request.POST else None, currency=campaign.currency)
    if editing:
        try:
            done = _change(request, campaign, stored, form, bonus)
        except BadInput as error:
            target: forms.Form = bonus if "bonus" in request.POST else form
            if target.is_bound:
                target.add_error(error.column if error.column in target.fields else None, sentence(error))
            else:
                messages.error(request, sentence(error))
        else:
            if done:
                messages.success(request, done)
                if request.POST.get("back") == "codes":
                    return redirect("study-codes", slug, campaign_id)
                return redirect("study-submission", slug, campaign_id, submission_id)
    return _submission_page(
        request, campaign, stored, form=form, bonus=bonus, status=422 if form.errors or bonus.errors else 200
    )


def _change(
    request: AuthenticatedRequest,
    campaign: Campaign,
    stored: Submission,
    form: DecisionForm,
    bonus: BonusForm,
) -> str:
    """Carry out what was submitted; returns what was done, empty where the form has errors."""
    rows = Submission.objects.filter(pk=stored.pk)
    if "undo" in request.POST:
        n = decisions.undo(campaign, rows, by=request.user)
        if not n:
            raise BadInput("the decision was sent already.", remedy="It cannot be undone from here.")
        return "The decision is undone."
    if "bonus" in request.POST:
        if not bonus.is_valid():
            return ""
        return _give_one_bonus(request, campaign, stored, bonus.cleaned_data)
    if not form.is_valid():
        return ""
    data, user = form.cleaned_data, request.user
    message, note = data["message"], data["note"]
    if data["decision"] == Decision.REJECT:
        n = decisions.reject(campaign, rows, category=data["category"], message=message, by=user, reason=note)
    elif data["decision"] == Decision.REQUEST_RETURN:
        n = decisions.request_return(campaign, rows, message=message, by=user, reason=note)
    else:
        n = decisions.approve(campaign, rows, by=user, reason=note)
    if not n:
        raise BadInput(
            "nothing was decided: the submission does not wait any more.", remedy="Reload the page."
        )
    return "Decided. It is not sent yet and can be undone."


def _give_one_bonus(
    request: AuthenticatedRequest, campaign: Campaign, stored: Submission, data: dict[str, Any]
) -> str:
    if stored.session is None:
        raise BadInput(
            "no session here belongs to this submission.", remedy="Pay on the platform’s own site."
        )
    amount = minor_units(data["amount"], campaign.currency)
    payments.give_bonus(
        stored.session,
        amount_minor=amount,
        currency=campaign.currency,
        reason=data["reason"],
        key=request.POST.get("key", "")[:40] or secrets.token_hex(8),
        by=request.user,
    )
    return f"A bonus of {format_money(amount, campaign.currency)}. It is not sent yet."


def _submission_page(
    request: AuthenticatedRequest,
    campaign: Campaign,
    stored: Submission,
    *,
    form: DecisionForm,
    bonus: BonusForm,
    status: int = 200,
    text: str = "",
) -> HttpResponse:
    study, recruiter = campaign.experiment, get_recruiter(campaign)
    (row,) = build_rows(campaign, Submission.objects.filter(pk=stored.pk))
    thread, problem = _thread(request, campaign, stored, recruiter)
    context = campaign_context(
        study,
        campaign,
        tab="submissions",
        row=row,
        form=form,
        bonus=bonus,
        grounds=grounds(campaign, row),
        comparison=_comparison(campaign, row),
        following=filter_submissions(campaign, show="undecided").exclude(pk=stored.pk).first(),
        thread=thread,
        problem=problem,
        text=text,
        recruiter=recruiter,
        can_write=recruiter.has_messages and bool(_person(stored)),
        messages_are_shown="messages" in request.GET,
        calls=PlatformCall.objects.filter(submission=stored).order_by("-pk"),
        entries_of_pay=row.session.entries if row.session else [],
        key=secrets.token_hex(8),
        may_edit=may_edit(request.user, study) and campaign.state != Campaign.State.CLOSED,
    )
    return render(request, "judgments/recruitment/submission.html", context, status=status)


def _comparison(campaign: Campaign, row: SubmissionRow) -> str:
    """The time beside the mean of the campaign's other submissions."""
    times = _times(campaign)
    if row.minutes is None or len(times) < FEWEST_COMPARED:
        return ""
    return f"mean {fmean(times):.1f} min, SD {stdev(times):.1f}, of {len(times)} submissions"


def _times(campaign: Campaign) -> list[float]:
    rows = Submission.objects.filter(
        campaign=campaign, started_at__isnull=False, submitted_at__isnull=False
    ).values_list("started_at", "submitted_at")[:MOST_TIMES]
    return [(end - start) / timedelta(minutes=1) for start, end in rows if start and end]


def grounds(campaign: Campaign, row: SubmissionRow) -> list[tuple[str, str, str]]:
    """Return accepted and unaccepted grounds of the platform: level, fact and explanation."""
    facts = []
    is_long = (campaign.estimated_minutes or 0) >= decisions.SHORT_STUDY_MINUTES
    if row.session and row.session.n_instructions:
        n, n_failed = (
            row.session.n_instructions,
            row.session.n_instructions - row.session.n_instructions_right,
        )
        is_ground = n_failed >= (2 if is_long else 1)
        rule = (
            "Two failed checks are needed in studies of 5 minutes or more; one in shorter ones."
            if n_failed
            else ""
        )
        facts.append(
            (
                "error" if is_ground else "note",
                f"Failed {n_failed} of {n} instruction checks: {'a ground' if is_ground else 'no ground'}",
                rule,
            )
        )
    times = _times(campaign)
    if row.minutes is not None and len(times) >= FEWEST_COMPARED and (deviation := stdev(times)):
        distance = (fmean(times) - row.minutes) / deviation
        is_fast = distance > FAST_SD
        side = "below" if distance > 0 else "above"
        text = f"{row.minutes:.1f} minutes, {abs(distance):.1f} SD {side} the mean"
        facts.append(
            (
                "error" if is_fast else "note",
                f"{text}: {'exceptionally fast' if is_fast else 'no ground'}",
                f"More than {FAST_SD} SD below the mean counts as exceptionally fast.",
            )
        )
    if row.session and row.session.n_catch - row.session.n_instructions > 0:
        n_catch = row.session.n_catch - row.session.n_instructions
        n_wrong = n_catch - (row.session.n_catch_right - row.session.n_instructions_right)
        facts.append(
            (
                "note",
                f"{n_wrong} of {n_catch} catch sentences wrong: never a ground",
                "They may exclude from the analysis, which does not change pay.",
            )
        )
    has_no_code = row.submission.entered_code.upper() in {"", NO_CODE}
    if row.submission.status == Status.SUBMITTED and has_no_code and row.session:
        facts.append(
            (
                "note",
                "No code entered: usually no ground",
                "Approve if the answers are complete; the session was found by its submission.",
            )
        )
    return facts


# Messages


def _person(stored: Submission) -> str:
    """The platform's id of the participant from the vault; empty without a session."""
    if stored.session_id is None:
        return ""
    identity = PlatformIdentity.objects.filter(participant__sessions=stored.session_id).first()
    return identity.external_id if identity else ""


def _thread(
    request: HttpRequest, campaign: Campaign, stored: Submission, recruiter: Recruiter
) -> tuple[Sequence[Message], str]:
    """The messages, read when the page asks for them, and what went wrong."""
    if "messages" not in request.GET or not recruiter.has_messages:
        return [], ""
    person = _person(stored)
    if not person:
        return [], "The vault has no id of this participant. Write on the platform’s own site."
    try:
        return recruiter.messages(campaign, person=person), ""
    except PlatformError as error:
        return [], sentence(error)


def _to_submission(study: Experiment, *, campaign_id: int, submission_id: int) -> HttpResponse:
    address = reverse("study-submission", args=[study.slug, campaign_id, submission_id])
    return redirect(f"{address}?messages=1#messages")


@action(_to_submission)
def send_message(
    request: AuthenticatedRequest, study: Experiment, *, campaign_id: int, submission_id: int
) -> None:
    """Send a message to the participant; the same form sent twice sends one."""
    campaign = get_campaign(study, campaign_id)
    stored = get_object_or_404(
        Submission.objects.select_related("session"), pk=submission_id, campaign=campaign
    )
    text, key = request.POST.get("text", ""), request.POST.get("key", "")
    call = plan_message(campaign, stored, text, key=key, by=request.user)
    report(request, call, done="The message is sent.")


def plan_message(campaign: Campaign, stored: Submission, text: str, *, key: str, by: User) -> PlatformCall:
    """Send a message to the participant of a submission; the same text with the same key is sent once."""
    text = text.strip()
    if not text or len(text) > LONGEST_MESSAGE:
        raise BadInput(
            f"the message has {len(text)} characters: nothing was sent.",
            remedy=f"Write 1 to {LONGEST_MESSAGE:,}.",
        )
    if not get_recruiter(campaign).has_messages or not _person(stored):
        raise BadInput(
            "this participant cannot be written to from here: nothing was sent.",
            remedy="Write on the platform’s own site.",
        )
    digest = hashlib.sha256(f"{stored.pk}:{key[:40]}:{text}".encode()).hexdigest()[:40]
    call = ledger.plan(
        campaign,
        PlatformCall.Kind.MESSAGE,
        key=f"message-{digest}",
        by=by,
        submission=stored,
        request={"text": text},
    )
    if call.state == PlatformCall.State.PLANNED:
        ledger.carry_out(call)
    return call


# Sending


@login_required
def send(request: AuthenticatedRequest, slug: str, campaign_id: int) -> HttpResponse:
    """Show the calls that would be sent now, with their cost; POST plans the calls and queues the sending."""
    editing = request.method == "POST"
    study = get_study(request.user, slug, editing=editing)
    campaign = get_campaign(study, campaign_id)
    if editing:
        try:
            sending = decisions.plan_sending(campaign, by=request.user)
            decisions.send_later(campaign, by=request.user)
        except BadInput as error:
            messages.error(request, sentence(error))
        else:
            _report_sending(request, campaign, sending)
        return redirect("study-submissions-send", slug, campaign_id)
    sending, problem = decisions.PlannedSending(), ""
    try:
        if campaign.state != Campaign.State.CLOSED:  # then everybody is decided and paid
            sending = decisions.preview(campaign)
    except BadInput as error:
        problem = sentence(error)
    waiting = decisions.waiting_for_second_person(campaign).select_related("planned_by")
    planned = PlatformCall.objects.filter(campaign=campaign, state=PlatformCall.State.PLANNED)
    context = campaign_context(
        study,
        campaign,
        tab="send",
        sending=sending,
        problem=problem,
        lines=_lines(campaign, sending),
        total=format_money(sending.total_minor, campaign.currency),
        waiting=waiting,
        waiting_total=format_money(
            sum(call.amount_minor + call.fee_minor for call in waiting), campaign.currency
        ),
        may_release=any(call.planned_by_id not in {None, request.user.pk} for call in waiting),
        held_up=planned.exclude(problem="").order_by("pk"),
        n_planned=planned.count() - len(waiting),
        fairness=decisions.fairness(campaign),
        job=current_job(campaign),
        may_edit=may_edit(request.user, study) and campaign.state != Campaign.State.CLOSED,
    )
    return render(request, "judgments/recruitment/send.html", context)


def _lines(campaign: Campaign, sending: decisions.PlannedSending) -> list[tuple[str, int, str]]:
    """Return the calls that would be sent: label, number and sum."""

    def show_money(minor: int) -> str:
        return format_money(minor, campaign.currency)

    return [
        ("Approvals", len(sending.approvals), show_money(sending.reward_minor)),
        ("Bonuses", len(sending.bonuses), show_money(sending.bonus_minor)),
        ("Fees", 0, show_money(sending.fee_minor)),
        ("Rejections", len(sending.rejections), ""),
        ("Requests to return", len(sending.return_requests), ""),
    ]


def _report_sending(request: HttpRequest, campaign: Campaign, sending: decisions.PlannedSending) -> None:
    n_waiting = decisions.waiting_for_second_person(campaign).count()
    if n_waiting:
        messages.warning(
            request, f"{plural(n_waiting, 'payment waits', 'payments wait')} for a second person."
        )
    if not sending.is_empty or not n_waiting:
        messages.success(request, f"Decisions are being sent to {platform_label(campaign.recruiter)}.")


def _to_sending(study: Experiment, *, campaign_id: int) -> HttpResponse:
    return redirect("study-submissions-send", study.slug, campaign_id)


@action(_to_sending)
def release(request: AuthenticatedRequest, study: Experiment, *, campaign_id: int) -> None:
    """Confirm, as the second person, payments that another user planned, and send them."""
    campaign = get_campaign(study, campaign_id)
    n = decisions.release(campaign, by=request.user)
    if n:
        decisions.send_later(campaign, by=request.user)
        messages.success(request, f"{plural(n, 'payment')} confirmed and being sent.")
    else:
        messages.info(request, "No payment waits for a second person.")
