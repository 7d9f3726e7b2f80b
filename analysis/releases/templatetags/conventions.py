"""How models were scored, with what all of them share said once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import template

from analysis.scoring.conventions import NOT_HAD, NOT_RECORDED, scoring_conventions

register = template.Library()
ORDER = tuple(scoring_conventions({}))  # a stored mapping may come back in another one


@dataclass(frozen=True)
class Told:
    """Conventions by name; those that nobody recorded by name alone."""

    pairs: list[tuple[str, str]]
    lacking: list[str]


@dataclass(frozen=True)
class Apart:
    """What every model has, then what some have beside it, under their names."""

    shared: Told
    own: list[tuple[list[str], Told]]


@register.filter
def apart(records: Sequence[Mapping[str, Any]]) -> Apart:
    """Tell the conventions on which all models agree once; the others under the models that have them."""
    all_told = [record["conventions"] for record in records]
    shared = {
        name
        for name in ORDER
        if len(all_told) > 1 and len({told.get(name, NOT_HAD) for told in all_told}) == 1
    }
    own: list[tuple[list[str], Told]] = []
    for record, told in zip(records, all_told, strict=True):
        here = _told(told, set(ORDER) - shared)
        alike = next((models for models, other in own if other == here), None)
        if alike is None:
            own.append(([record["model"]], here))
        else:
            alike.append(record["model"])
    return Apart(_told(all_told[0], shared) if shared else Told([], []), own)


def _told(told: Mapping[str, str], names: set[str]) -> Told:
    here = [(name, told[name]) for name in ORDER if name in names and told.get(name, NOT_HAD) != NOT_HAD]
    return Told(
        [(name, text) for name, text in here if text != NOT_RECORDED],
        [name for name, text in here if text == NOT_RECORDED],
    )
