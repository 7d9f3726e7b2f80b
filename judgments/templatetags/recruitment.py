"""Amounts of money and bodies of calls on the pages of recruitment."""

import json

from django import template

from experiments.studies.money import format_money

register = template.Library()


@register.filter
def money(amount_minor: int | None, currency: str) -> str:
    """Show an amount in minor units; nothing where there is none."""
    return "" if amount_minor is None else format_money(amount_minor, currency)


@register.filter
def as_json(value: object) -> str:
    """Show the body of a call as indented JSON."""
    return json.dumps(value, ensure_ascii=False, indent=1, default=str)
