"""Amounts of money, accounts and bodies of calls on the pages of recruitment."""

import json

from django import template

from analysis.power.money import format_money
from experiments.models import PlatformAccount

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
