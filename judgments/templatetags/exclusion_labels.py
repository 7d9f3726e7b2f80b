"""Labels of participants who are excluded from every result."""

from collections.abc import Sequence

from django import template

from judgments.models import Session
from judgments.monitoring.session_summaries import SessionSummary

register = template.Library()


@register.filter
def left_out(summaries: Sequence[SessionSummary]) -> str:
    """Reason why every plan excludes a participant; empty if there is none."""
    sessions = [summary.session for summary in summaries]
    if not sessions:
        return ""
    if sessions[0].participant.erased_at:
        return "no answers left"
    if all(session.is_test for session in sessions):
        return "never counted"
    if all(session.is_test or session.status == Session.Status.WITHDRAWN for session in sessions):
        return "withdrew: left out"
    return ""
