"""What the table of participants says of somebody."""

from typing import Any

from django import template

from judgments.models import Session

register = template.Library()


@register.filter
def left_out(sittings: list[Any]) -> str:
    """Why no result holds anything of a person, whatever a plan says; empty where one may."""
    sessions = [one.session for one in sittings]
    if not sessions:
        return ""
    if sessions[0].participant.erased_at:
        return "no answers left"
    if all(one.is_test for one in sessions):
        return "never counted"
    if all(one.is_test or one.status == Session.Status.WITHDRAWN for one in sessions):
        return "withdrew: left out"
    return ""
