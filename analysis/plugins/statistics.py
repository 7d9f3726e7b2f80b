"""Statistics of plugins: each is a function from judgments to a table."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pandas as pd

from ..errors import BadInput
from ..text import plural
from .registry import Plugin, Registry

MAX_ROWS = 10_000  # of a result: it is one page and one JSON document
MAX_COLUMNS = 100


@dataclass(frozen=True)
class Statistic:
    """A statistic as commands and pages show it."""

    name: str
    package: str
    version: str
    description: str
    compute: Callable[[pd.DataFrame], pd.DataFrame]

    def document(self, judgments: pd.DataFrame) -> dict[str, Any]:
        """Compute the statistic, ready for JSON; undefined and infinite numbers are null.

        The plugin gets a copy: frames of judgments are cached for all requests.
        """
        table = self.compute(judgments.copy())
        if len(table) > MAX_ROWS or table.shape[1] > MAX_COLUMNS:
            raise BadInput(
                f"{self.name} returned {plural(len(table), 'row')} and {plural(table.shape[1], 'column')}.",
                remedy=f"At most {MAX_ROWS:,} rows and {MAX_COLUMNS} columns are shown.",
            )
        return {
            "statistic": self.name,
            "package": self.package,
            "version": self.version,
            "description": self.description,
            "columns": [str(column) for column in table.columns],
            "rows": [[_cell(value) for value in row] for row in table.itertuples(index=False, name=None)],
        }


def _cell(value: Any) -> Any:
    """A value of JSON: numbers and booleans stay, everything else is text."""
    value = value.item() if hasattr(value, "item") else value  # numpy scalars
    if value is None or value is pd.NaT or value is pd.NA:
        return None
    if isinstance(value, float):
        return value if abs(value) < float("inf") else None  # False of nan too
    return value if isinstance(value, bool | int) else str(value)


def _adopt(plugin: Plugin) -> Statistic:
    if not callable(plugin.component):
        raise TypeError("a statistic is a function of a frame of judgments")
    description = (getattr(plugin.component, "__doc__", None) or "").strip().partition("\n")[0]
    compute = plugin.guard(plugin.component, returns=pd.DataFrame)
    return Statistic(plugin.name, plugin.package, plugin.version, description[:300], compute)


STATISTICS: Registry[Statistic] = Registry("statistics", {}, adopt=_adopt)
