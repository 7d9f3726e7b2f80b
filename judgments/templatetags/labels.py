"""Amounts, shares, accounts and other labels on the pages of judgments."""

import json
from collections.abc import Sequence

from django import template

from analysis.power.money import format_money
from experiments.models import PlatformAccount
from judgments.models import Session
from judgments.monitoring.session_summaries import SessionSummary

register = template.Library()


@register.filter
def money(amount_minor: int | None, currency: str) -> str:
    """Show an amount in minor units; nothing where there is none."""
    return "" if amount_minor is None else format_money(amount_minor, currency)


@register.filter
def of_platform(account: PlatformAccount, platform: str) -> str:
    """The platform with the label of the account, unless the label says the same."""
    return platform if account.label == platform else f"{platform}, account {account.label}"


@register.filter
def as_json(value: object) -> str:
    """Show the body of a call as indented JSON."""
    return json.dumps(value, ensure_ascii=False, indent=1, default=str)


@register.filter
def percent(share: float | None) -> str:
    """A share in percent with one decimal; a dash where it is not defined.

    >>> percent(0.5), percent(None)
    ('50.0 %', '–')
    """
    return "–" if share is None else f"{100 * share:.1f} %"


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
