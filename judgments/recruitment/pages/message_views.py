"""Submissions without a valid code, and what participants wrote, with the facts of their sessions beside."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone

from analysis.power.money import format_money
from experiments.models import Campaign
from experiments.pages.access import AuthenticatedRequest, get_study, may_edit
from judgments.models import PlatformIdentity, Session, Submission
from judgments.recruitment.pages.campaign_access import campaign_context, get_campaign, sentence
from judgments.recruitment.pages.submission_views import LONGEST_MESSAGE, SubmissionRow, build_rows
from judgments.recruitment.recruiter import Message, PlatformError, Recruiter, get_recruiter

CODE_MISMATCHES = {"no_code", "other_code"}
SHOWN_ROWS = 50
MOST_MESSAGES = 100
PERIOD = timedelta(days=14)  # of the messages that are read; Prolific keeps 30 days in its list


@dataclass(frozen=True)
class CodeRow:
    """A submission without a valid code, with what its session suggests."""

    row: SubmissionRow
    advice: str
    is_complete: bool
    request: str


@dataclass(frozen=True)
class Letter:
    """A message of a participant, with the facts of the submission, if it is one of the campaign."""

    message: Message
    row: SubmissionRow | None


@login_required
def codes(request: AuthenticatedRequest, slug: str, campaign_id: int) -> HttpResponse:
    """Decide about submissions without a valid code, and read what participants wrote."""
    study = get_study(request.user, slug)
    campaign = get_campaign(study, campaign_id)
    recruiter = get_recruiter(campaign)
    waiting = Submission.objects.filter(
        campaign=campaign, status=Submission.Status.SUBMITTED, decision=""
    ).exclude(mismatches=[])
    numbers = [row.pk for row in waiting.order_by("decide_by", "pk") if CODE_MISMATCHES & set(row.mismatches)]
    shown = build_rows(campaign, Submission.objects.filter(pk__in=numbers[:SHOWN_ROWS]).order_by("pk"))
    are_read = "messages" in request.GET and recruiter.has_messages
    letters, problem = _letters(campaign, recruiter) if are_read else ([], "")
    context = campaign_context(
        study,
        campaign,
        tab="codes",
        rows=[_code_row(row) for row in shown],
        n_more=len(numbers) - len(shown),
        letters=letters,
        problem=problem,
        are_read=are_read,
        days=PERIOD.days,
        recruiter=recruiter,
        reward=format_money(campaign.reward_minor, campaign.currency),
        longest_message=LONGEST_MESSAGE,
        may_edit=may_edit(request.user, study) and campaign.state != Campaign.State.CLOSED,
    )
    return render(request, "judgments/recruitment/codes.html", context)


def _code_row(row: SubmissionRow) -> CodeRow:
    summary = row.session
    is_complete = summary is not None and summary.session.status == Session.Status.COMPLETE
    if summary is None:
        advice = "No session here belongs to this submission. Ask the participant before you decide."
    elif is_complete and row.remarks:
        advice = "The session is complete and has remarks: look at the answers, then decide."
    elif is_complete:
        advice = "The session is complete: approve. A missing or mistyped code is no ground for a rejection."
    elif summary.session.status == Session.Status.SCREENED_OUT:
        advice = "The person was screened out here: ask to return the place, or pay for the time by a bonus."
    else:
        advice = "The session is not complete: ask the participant what happened, or to return the place."
    n = f"{summary.n_answered} of {summary.n_planned} answers" if summary else "no answers"
    request = (
        f"Thank you for your time. You submitted without our completion code, and we have {n} of you. If you"
        " stopped before the end, please return your submission. If something went wrong, please write to us."
    )
    return CodeRow(row, advice, is_complete, request)


def _letters(campaign: Campaign, recruiter: Recruiter) -> tuple[Sequence[Letter], str]:
    """Return recent messages of participants, the newest first, and errors."""
    try:
        messages = recruiter.recent_messages(campaign, since=timezone.now() - PERIOD)
    except PlatformError as error:
        return [], sentence(error)
    # The vault's ids are encrypted, so participants are matched here and not by the database.
    identities = PlatformIdentity.objects.filter(participant__sessions__submission__campaign=campaign)
    persons = {row.external_id: row.participant_id for row in identities}
    written = [message for message in messages if message.person in persons][:MOST_MESSAGES]
    writers = {persons[message.person] for message in written}
    rows = build_rows(
        campaign, Submission.objects.filter(campaign=campaign, session__participant__in=writers)
    )
    by_participant = {row.session.session.participant_id: row for row in rows if row.session}
    return [Letter(message, by_participant.get(persons[message.person])) for message in written], ""
