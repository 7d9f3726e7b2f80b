"""Filters and tags of results: coefficients, shared sentences, links to the manual, scoring conventions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import template
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from analysis.report.sections.results import MEASURES
from analysis.report.wording import SENTENCES
from analysis.scoring.base import CHECKED
from analysis.scoring.conventions import NOT_HAD, NOT_RECORDED, scoring_conventions
from analysis.scoring.words.sentence_check import Finding, check_findings

register = template.Library()
# PostgreSQL's jsonb does not keep the order of keys.
ORDER = tuple(scoring_conventions({}))


@register.filter
def coefficient(measure: str) -> str:
    """The published name of a coefficient of agreement.

    >>> coefficient("gwet_ac1")
    "Gwet's AC1"
    """
    return MEASURES.get(measure, measure.replace("_", " "))


@register.simple_tag
def sentence(name: str) -> str:
    """One of the sentences that pages, commands and reports share."""
    return SENTENCES[name]


@register.filter
def at(mapping: dict[str, Any], key: str) -> Any:
    """The value under a key that is itself a variable."""
    return mapping[key]


@register.filter
def findings(spec: dict[str, Any]) -> list[Finding]:
    """The findings of the check of a run's sentences."""
    return check_findings(spec.get("check"))


@register.filter
def other_flags(spec: dict[str, Any]) -> list[tuple[str, int]]:
    """The flags of a run's sentences that its check does not report."""
    checked = CHECKED if spec.get("check") else ()
    return [(name, n) for name, n in (spec.get("flags") or {}).items() if name not in checked]


@register.simple_tag
def docs_link(name: str, text: str = "How this is computed") -> SafeString:
    """Link to a page of the manual, such as ``statistics/power``."""
    return format_html(' <a href="{}">{}</a>', reverse("manual-page", args=[f"{name}.md"]), text)


@dataclass(frozen=True)
class Conventions:
    """Recorded conventions with their values, and the names of those that were not recorded."""

    pairs: list[tuple[str, str]]
    not_recorded: list[str]


@dataclass(frozen=True)
class ConventionsByModel:
    """Conventions that all models share, and the others with the models that have them."""

    shared: Conventions
    by_conventions: list[tuple[list[str], Conventions]]


@register.filter
def by_model(records: Sequence[Mapping[str, Any]]) -> ConventionsByModel:
    """Separate the conventions that all models share from those of some models."""
    values = [record["conventions"] for record in records]
    shared = {
        name for name in ORDER if len(values) > 1 and len({row.get(name, NOT_HAD) for row in values}) == 1
    }
    by_conventions: list[tuple[list[str], Conventions]] = []
    for record, row in zip(records, values, strict=True):
        conventions = _select_conventions(row, set(ORDER) - shared)
        models = next((models for models, other in by_conventions if other == conventions), None)
        if models is None:
            by_conventions.append(([record["model"]], conventions))
        else:
            models.append(record["model"])
    return ConventionsByModel(
        _select_conventions(values[0], shared) if shared else Conventions([], []), by_conventions
    )


def _select_conventions(values: Mapping[str, str], names: set[str]) -> Conventions:
    """The named conventions in their usual order, without those that the model does not have."""
    pairs = [(name, values[name]) for name in ORDER if name in names and values.get(name, NOT_HAD) != NOT_HAD]
    return Conventions(
        [(name, text) for name, text in pairs if text != NOT_RECORDED],
        [name for name, text in pairs if text == NOT_RECORDED],
    )
