"""Numbers formatted for tables; undefined values are a dash, never zero."""

from typing import Any

from django import template
from django.utils.dateparse import parse_datetime
from django.utils.timezone import localtime

from analysis.report import wording
from releases.reports.exclusion_steps import STEP_LABELS

register = template.Library()
# A variable that a template does not have reaches a filter as an empty string.
DASH = "–"
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@register.filter
def percent(share: float | str | None) -> str:
    """A share in percent with one decimal."""
    return wording.share(None if share == "" else share)


@register.filter
def unbroken(text: str) -> str:
    """A text whose percent signs and intervals stay on the line of their numbers."""
    joined = text.replace(" %", "\u00a0%").replace("% CI", "%\u00a0CI")
    return joined.replace(" r = ", " r\u00a0=\u00a0")


@register.filter
def number(value: float | str | None, digits: int = 2) -> str:
    """A number with this many decimals, a thousands separator and a true minus sign."""
    return DASH if value is None or isinstance(value, str) else f"{value:,.{digits}f}".replace("-", "−")


@register.filter
def p_value(value: float | str | None) -> str:
    """A p value with three digits; very small ones as an upper bound, never zero."""
    if value is None or isinstance(value, str):
        return DASH
    return "<\u2009.001" if value < 0.001 else f"{value:.3f}".removeprefix("0") if value < 1 else "1"


@register.filter
def factor(value: float | str | None) -> str:
    r"""A Bayes factor; large and small ones in scientific notation.

    >>> factor(42.2), factor(3e8), factor(0.002)
    ('42.2', '3\u2009×\u200910⁸', '2\u2009×\u200910⁻³')
    """
    if value is None or isinstance(value, str):
        return DASH
    if 0.01 <= value < 1000:
        return f"{value:.3g}"
    mantissa, exponent = f"{value:.0e}".split("e")
    return f"{mantissa}\u2009×\u200910{str(int(exponent)).translate(RAISED)}"


@register.filter
def thousands(value: int | str | None) -> str:
    """A whole number with thousands separators."""
    return DASH if value is None or isinstance(value, str) else f"{int(value):,}"


@register.filter
def minutes(value: float | str | None) -> str:
    """Whole minutes; less than one as an upper bound."""
    if value is None or isinstance(value, str):
        return DASH
    return "0" if value == 0 else "<\u20091" if value < 1 else f"{value:,.0f}"


@register.filter
def moment(text: str | None) -> str:
    """An ISO 8601 timestamp, shown to the minute in the reader's time zone.

    >>> moment("2026-11-19T08:03:49Z")
    '2026-11-19 08:03 UTC'
    """
    at = parse_datetime(text or "")
    return f"{localtime(at):%Y-%m-%d %H:%M %Z}" if at and at.tzinfo else text or DASH


@register.filter
def entry(mapping: Any, key: Any) -> Any:
    """The value of a key that template syntax cannot express."""
    return mapping.get(key) if isinstance(mapping, dict) else None


@register.filter
def pairs(mapping: Any) -> list[tuple[str, Any]]:
    """Keys and values; ``mapping.items`` in a template would look up a key named "items" first."""
    return list(mapping.items()) if isinstance(mapping, dict) else []


@register.filter
def words(identifier: str | None) -> str:
    """An identifier with spaces instead of underscores."""
    return (identifier or "").replace("_", " ")


@register.filter
def step(name: str | None) -> str:
    """The label of a plan's step, as in the form of plans; other names with spaces."""
    return STEP_LABELS.get(name or "") or words(name)


@register.filter
def short_hash(sha256: str | None) -> str:
    """The first twelve digits of a checksum."""
    return (sha256 or "")[:12]
