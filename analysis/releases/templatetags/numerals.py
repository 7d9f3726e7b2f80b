"""Numbers as they stand in tables; undefined ones are a dash, never a zero."""

from typing import Any

from django import template

from analysis.releases.forms import STEP_WORDS

register = template.Library()
DASH = "–"
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@register.filter
def percent(share: float | None) -> str:
    """A share in percent with one decimal."""
    return DASH if share is None or share == "" else f"{100 * share:.1f} %"


@register.filter
def number(value: float | None, digits: int = 2) -> str:
    """A number with so many decimals and a real minus sign."""
    return DASH if value is None or value == "" else f"{value:,.{digits}f}".replace("-", "−")


@register.filter
def p_value(value: float | None) -> str:
    """A probability: three digits, and never a zero."""
    if value is None or value == "":
        return DASH
    return "<\u2009.001" if value < 0.001 else f"{value:.3f}".removeprefix("0") if value < 1 else "1"


@register.filter
def factor(value: float | None) -> str:
    r"""A Bayes factor: large and small ones by their power of ten.

    >>> factor(42.2), factor(3e8), factor(0.002)
    ('42.2', '3\u2009×\u200910⁸', '2\u2009×\u200910⁻³')
    """
    if value is None or value == "":
        return DASH
    if 0.01 <= value < 1000:
        return f"{value:.3g}"
    mantissa, exponent = f"{value:.0e}".split("e")
    return f"{mantissa}\u2009×\u200910{str(int(exponent)).translate(RAISED)}"


@register.filter
def counted(value: int | None) -> str:
    """A whole number with thousands apart."""
    return DASH if value is None or value == "" else f"{int(value):,}"


@register.filter
def minutes(value: float | None) -> str:
    """Minutes without false exactness."""
    if value is None or value == "":
        return DASH
    return "0" if value == 0 else "<\u20091" if value < 1 else f"{value:,.0f}"


@register.filter
def moment(text: str | None) -> str:
    """A moment as documents write it, to be read: day and minute.

    >>> moment("2026-11-19T08:03:49Z")
    '2026-11-19 08:03'
    """
    return (text or "")[:16].replace("T", " ") or DASH


@register.filter
def entry(mapping: Any, key: Any) -> Any:
    """What stands under a key that a template cannot write."""
    return mapping.get(key) if isinstance(mapping, dict) else None


@register.filter
def pairs(mapping: Any) -> list[tuple[str, Any]]:
    """Keys and values; a key may be called "items"."""
    return list(mapping.items()) if isinstance(mapping, dict) else []


@register.filter
def words(identifier: str | None) -> str:
    """An identifier as words."""
    return (identifier or "").replace("_", " ")


@register.filter
def step(name: str | None) -> str:
    """A step of a plan as the form that writes plans calls it; others as words."""
    return STEP_WORDS.get(name or "") or words(name)


@register.filter
def short_hash(sha256: str | None) -> str:
    """The first twelve digits of a checksum."""
    return (sha256 or "")[:12]
